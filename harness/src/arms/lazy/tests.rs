use bench_results::record::Route;
use bench_tasks::catalog::Catalogs;

use super::*;
use crate::arms::{
    Arm, ArmSession, CallOutcome, Scope,
    fixtures::{call, catalogs_of, context, context_of, lines},
    names::Place,
    registry,
    schema_tool::schema_text,
};

fn arm(id: &str) -> Arc<dyn Arm> {
    registry::build(id, &context()).unwrap()
}

fn open(id: &str) -> Box<dyn ArmSession> {
    arm(id).open(Scope::Catalogs).unwrap()
}

fn names(session: &dyn ArmSession, server: &str) -> Vec<String> {
    let prefix = format!("{server}__");
    let tools = session.surface().tools().iter().map(|tool| tool.name().to_owned());
    tools.filter(|name| name.starts_with(&prefix)).collect()
}

fn route(outcome: &CallOutcome) -> (Route, bool) {
    match outcome {
        CallOutcome::Upstream { route, surface_changed, .. } => (*route, *surface_changed),
        other => panic!("{other:?}"),
    }
}

fn fetch(session: &mut dyn ArmSession, tool: &str) -> CallOutcome {
    session.call(&call("git__get_tool_schema", json!({ "tool_name": tool })))
}

/// The catalogs of a few servers only.
fn some(servers: &[&str]) -> Catalogs {
    let mut catalogs = Catalogs::vendored().unwrap();
    catalogs.catalogs.retain(|catalog| servers.contains(&&*catalog.server));
    catalogs
}

#[test]
fn surfaces_of_small_servers() {
    let surface = |id: &str, servers: &[&str]| {
        let arm = registry::build(id, &context_of(some(servers))).unwrap();
        lines(arm.open(Scope::Catalogs).unwrap().surface())
    };
    for id in ["raw", "L0", "names-only", "R"] {
        insta::assert_snapshot!(format!("surface_{id}"), surface(id, &["fetch", "time"]));
    }
    insta::assert_snapshot!("surface_L1", surface("L1", &["sequential-thinking", "time"]));
    for id in ["L2", "L3"] {
        insta::assert_snapshot!(format!("surface_{id}"), surface(id, &["fetch", "git", "time"]));
    }
    for id in ["raw-again", "planted-loss", "results-raw", "R-no-expand"] {
        assert_eq!(surface(id, &["fetch", "time"]), surface("raw", &["fetch", "time"]));
    }
    assert_eq!(surface("R-again", &["fetch", "time"]), surface("R", &["fetch", "time"]));
}

#[test]
fn replies_of_the_schema_tool() {
    let definitions = Definitions::new(&context().catalogs).unwrap();
    for (server, tool) in [("git", "git_log"), ("fetch", "fetch")] {
        let place = definitions.place(server, tool).unwrap();
        insta::assert_snapshot!(format!("schema_of_{tool}"), schema_text(&definitions, place, true));
    }
}

#[test]
fn an_index_line_names_arguments_and_purpose() {
    let schema = json!({"properties": {"b": {}, "a": {}, "{{x}}": {}}, "required": ["a", "z"]});
    assert_eq!(signature("t", &schema), "t(b?, a, {{x}}?, z)");
    assert_eq!(signature("t", &json!(true)), "t()");
    assert_eq!(signature("t", &json!({"anyOf": [{}]})), "t()");
    assert_eq!(purpose("  Gets\n  it, e.g. now. More.").as_deref(), Some("Gets it, e.g. now."));
    assert_eq!(purpose(" \n"), None);
}

#[test]
fn meta_tools_stand_first_and_hidden_tools_are_not_shown() {
    assert_eq!(names(open("L2").as_ref(), "git"), ["git__get_tool_schema", "git__invoke_tool"]);
}

#[test]
fn fetching_appends_to_the_end_of_the_servers_list_and_stays() {
    let mut session = open("L2");
    let before: Vec<String> = session.surface().tools().iter().map(|tool| tool.name().to_owned()).collect();
    for (tool, shown) in [("git_log", 1), ("git_add", 2), ("git_log", 2)] {
        let CallOutcome::Meta { reply, is_error, surface_changed } = fetch(session.as_mut(), tool) else { panic!() };
        assert!(!is_error && reply.contains(tool) && reply.contains(&format!("git__{tool}")), "{reply}");
        assert_eq!(
            surface_changed,
            names(session.as_ref(), "git").len() == 2 + shown && (tool != "git_log" || shown == 1)
        );
    }
    assert_eq!(
        names(session.as_ref(), "git"),
        ["git__get_tool_schema", "git__invoke_tool", "git__git_log", "git__git_add"]
    );
    let after: Vec<String> = session.surface().tools().iter().map(|tool| tool.name().to_owned()).collect();
    let at = before.iter().position(|name| name == "git__invoke_tool").unwrap() + 1;
    assert_eq!([&before[..at], &["git__git_log".to_owned(), "git__git_add".to_owned()], &before[at..]].concat(), after);
    // Another session starts afresh.
    assert_eq!(names(open("L2").as_ref(), "git").len(), 2);
}

#[test]
fn an_unlocked_tool_is_shown_in_its_l0_form() {
    let definitions = Definitions::new(&context().catalogs).unwrap();
    let mut session = open("L2");
    fetch(session.as_mut(), "git_log");
    let place = definitions.place("git", "git_log").unwrap();
    assert_eq!(session.surface().tool("git__git_log").unwrap().json(), definitions.tool(place).lossless.json());
}

#[test]
fn the_reply_holds_the_full_description_and_schema() {
    let definitions = Definitions::new(&context().catalogs).unwrap();
    for (server, own) in definitions.servers.iter().enumerate() {
        for (position, tool) in own.tools.iter().enumerate() {
            let text = schema_text(&definitions, Place { server, tool: position }, true);
            assert!(text.contains(tool.lossless.schema().get()));
            assert!(text.contains(tool.lossless.description().unwrap_or_default()));
        }
    }
}

#[test]
fn routes_tell_how_a_call_came_about() {
    let mut session = open("L2");
    assert_eq!(route(&session.call(&call("git__git_log", json!({})))), (Route::Guessed, true));
    assert_eq!(route(&session.call(&call("git__git_log", json!({})))), (Route::Fetched, false));
    fetch(session.as_mut(), "git_add");
    assert_eq!(route(&session.call(&call("git__git_add", json!({})))), (Route::Fetched, false));
    let invoked =
        session.call(&call("git__invoke_tool", json!({"tool_name": "git_status", "arguments": {"repo_path": "/a"}})));
    assert_eq!(route(&invoked), (Route::Invoked, true));
    assert!(matches!(invoked, CallOutcome::Upstream { server, tool, arguments, .. }
        if (&*server, &*tool) == ("git", "git_status") && arguments == json!({"repo_path": "/a"}).as_object().cloned().unwrap()));
    assert_eq!(route(&open("L0").call(&call("git__git_log", json!({})))), (Route::Direct, false));
}

#[test]
fn invoking_without_an_object_sends_no_arguments() {
    for arguments in [json!({"tool_name": "git_log"}), json!({"tool_name": "git_log", "arguments": "{\"a\":1}"})] {
        let outcome = open("L2").call(&call("git__invoke_tool", arguments));
        assert!(matches!(outcome, CallOutcome::Upstream { arguments, .. } if arguments.is_empty()));
    }
}

#[test]
fn an_unknown_tool_gets_close_matches_of_its_server() {
    let mut session = open("L2");
    let CallOutcome::Meta { reply, is_error: true, surface_changed: false } = fetch(session.as_mut(), "git_dif") else {
        panic!()
    };
    assert_eq!(
        reply,
        "error: no tool `git_dif` on the `git` server. Did you mean: git_diff, git_diff_staged, git_diff_unstaged?"
    );
    let CallOutcome::Meta { reply, .. } = fetch(session.as_mut(), "read_file") else { panic!() };
    assert_eq!(reply, "error: no tool `read_file` on the `git` server.");
    let outcome = session.call(&call("git__invoke_tool", json!({})));
    assert!(matches!(outcome, CallOutcome::Meta { is_error: true, .. }));
    let outcome = session.call(&call("git_log", json!({})));
    assert_eq!(outcome, CallOutcome::Rejected { reply: "error: unknown tool: git_log".to_owned() });
}

#[test]
fn a_tool_may_be_asked_for_under_the_name_it_is_shown() {
    assert!(matches!(fetch(open("L2").as_mut(), "git__git_log"), CallOutcome::Meta { is_error: false, .. }));
}

#[test]
fn only_the_schema_meta_tool_informs() {
    let session = open("L2");
    assert!(session.informs("git__get_tool_schema"));
    assert!(
        !session.informs("git__invoke_tool") && !session.informs("git__git_log") && !session.informs("git__expand")
    );
    assert!(!open("L0").informs("git__get_tool_schema"));
}

#[test]
fn pins_are_the_most_used_by_name_and_never_move() {
    let mut context = context();
    let uses = [("git_show", 3), ("git_log", 9), ("git_add", 2), ("git_diff", 3), ("git_commit", 3), ("gone", 99)];
    let uses = uses.map(|(tool, uses)| (tool.to_owned(), uses));
    context.warm_up.uses = BTreeMap::from([("git".to_owned(), uses.into())]);
    context.pins = (3, 3);
    let mut session = registry::build("L3", &context).unwrap().open(Scope::Catalogs).unwrap();
    let pinned = ["git__get_tool_schema", "git__invoke_tool", "git__git_commit", "git__git_diff", "git__git_log"];
    assert_eq!(names(session.as_ref(), "git"), pinned);
    assert_eq!(route(&session.call(&call("git__git_log", json!({})))), (Route::Direct, false));
    assert!(matches!(fetch(session.as_mut(), "git_log"), CallOutcome::Meta { surface_changed: false, .. }));
    fetch(session.as_mut(), "git_add");
    assert_eq!(names(session.as_ref(), "git"), [pinned.as_slice(), &["git__git_add"]].concat());
}

#[test]
fn without_a_warm_up_l3_is_l2() {
    let mut context = context();
    context.warm_up.uses.clear();
    let bytes = |id| registry::build(id, &context).unwrap().open(Scope::Catalogs).unwrap().surface().bytes();
    assert_eq!(bytes("L3"), bytes("L2"));
}

#[test]
fn a_server_that_would_not_be_smaller_is_shown_at_l0_and_the_arm_says_so() {
    let context = context_of(catalogs_of(&[("s", json!([{"name": "a", "description": "Does a."}]))]));
    for id in ["L1", "L2", "L3"] {
        let arm = registry::build(id, &context).unwrap();
        let lossless = registry::build("L0", &context).unwrap();
        let bytes = |arm: &dyn Arm| arm.open(Scope::Catalogs).unwrap().surface().bytes();
        assert_eq!(bytes(arm.as_ref()), bytes(lossless.as_ref()));
        assert!(arm.fallbacks()["s"].starts_with(&format!("shown at L0: {id} would take ")), "{:?}", arm.fallbacks());
        let mut session = arm.open(Scope::Catalogs).unwrap();
        assert!(matches!(
            session.call(&call("s__get_tool_schema", json!({"tool_name": "a"}))),
            CallOutcome::Rejected { .. }
        ));
    }
    assert!(arm("L1").fallbacks().contains_key("github") && !arm("L1").fallbacks().contains_key("git"));
}

#[test]
fn a_level_serves_catalogs_and_not_one_tool() {
    let scope = Scope::Tool { server: "git", tool: "git_log" };
    assert!(matches!(arm("L2").open(scope), Err(ArmError::Scope { .. })));
    let raw = arm("results-raw").open(scope).unwrap();
    assert_eq!(names(raw.as_ref(), "git"), ["git__git_log"]);
    assert!(arm("results-raw").open(Scope::Tool { server: "git", tool: "nothing" }).is_err());
}

#[test]
fn l1_gives_the_full_description_and_changes_nothing() {
    let mut session = open("L1");
    let before = Arc::clone(session.surface());
    let name = before
        .tools()
        .iter()
        .map(|tool| tool.name())
        .find(|name| name.ends_with("get_tool_schema"))
        .unwrap()
        .to_owned();
    let server = name.strip_suffix("__get_tool_schema").unwrap();
    let definitions = Definitions::new(&context().catalogs).unwrap();
    let own = definitions.servers.iter().find(|own| *own.name == *server).unwrap();
    let tool = &own.tools[0];
    let outcome = session.call(&call(&name, json!({"tool_name": &*tool.upstream.name})));
    let CallOutcome::Meta { reply, is_error: false, surface_changed: false } = outcome else { panic!("{outcome:?}") };
    assert!(reply.contains(tool.lossless.description().unwrap()) && !reply.contains("among your tools now"));
    assert!(Arc::ptr_eq(&before, session.surface()));
    let outcome = session.call(&call(&format!("{server}__invoke_tool"), json!({"tool_name": &*tool.upstream.name})));
    assert!(matches!(outcome, CallOutcome::Rejected { .. }));
}
