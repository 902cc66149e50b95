use serde_json::json;

use crate::arms::{
    ArmSession, CallOutcome, Scope,
    fixtures::{call, context, some},
    registry,
};

fn open(id: &str) -> Box<dyn ArmSession> {
    registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
}

fn says(session: &mut dyn ArmSession, name: &str, arguments: serde_json::Value) -> String {
    match session.call(&call(name, arguments)) {
        CallOutcome::Meta { reply, surface_changed: false, .. } => reply,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_gives_definitions_and_the_call_arrives() {
    let mut session = open("search-invoke");
    assert_eq!(session.surface().tools().len(), 2);
    assert!(session.informs("search_tools") && !session.informs("call_tool"));
    let found = says(session.as_mut(), "search_tools", json!({ "query": "show the commit logs" }));
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 5);
    assert_eq!(found[0]["name"], "git__git_log");
    assert!(found[0]["inputSchema"]["properties"]["repo_path"].is_object());
    let called =
        session.call(&call("call_tool", json!({ "name": "git__git_log", "arguments": { "repo_path": "/r" } })));
    let CallOutcome::Upstream { server, tool, arguments, .. } = called else { panic!("{called:?}") };
    assert_eq!((&*server, &*tool, arguments["repo_path"].as_str()), ("git", "git_log", Some("/r")));
}

#[test]
fn words_that_no_tool_has_find_none_and_a_wrong_name_gets_close_ones() {
    let mut session = open("search-invoke");
    assert_eq!(says(session.as_mut(), "search_tools", json!({ "query": "xyzzy" })), "No tool fits; try other words.");
    let wrong = says(session.as_mut(), "call_tool", json!({ "name": "git__git_lgo", "arguments": {} }));
    assert!(wrong.starts_with("error: no tool `git__git_lgo`. Did you mean: git__git_log"), "{wrong}");
    assert_eq!(says(session.as_mut(), "search_tools", json!({})), "error: `query` must be a text");
}

#[test]
fn an_index_leads_to_a_schema_and_the_list_stays() {
    let mut session = open("index-schema-invoke");
    let before = session.surface().digest().clone();
    let schema = says(session.as_mut(), "git__get_tool_schema", json!({ "tool_name": "git_log" }));
    assert!(schema.starts_with("git_log(") && schema.contains("\"repo_path\""), "{schema}");
    let called = session.call(&call("git__invoke_tool", json!({ "tool_name": "git_log", "arguments": {} })));
    assert!(matches!(called, CallOutcome::Upstream { .. }), "{called:?}");
    assert_eq!(*session.surface().digest(), before);
    let direct = session.call(&call("git__git_log", json!({})));
    assert!(matches!(direct, CallOutcome::Rejected { .. }), "{direct:?}");
}

#[test]
fn the_way_down_from_servers_to_a_call() {
    let mut session = open("hierarchical");
    insta::assert_snapshot!(says(session.as_mut(), "list_servers", json!({})));
    insta::assert_snapshot!(says(session.as_mut(), "list_tools", json!({ "server": "memory" })));
    let of = json!({ "server": "memory", "tool_name": "read_graph" });
    insta::assert_snapshot!(says(session.as_mut(), "describe_tool", of));
    let of = json!({ "server": "memory", "tool_name": "read_graph", "arguments": { "x": 1 } });
    let called = session.call(&call("invoke_tool", of));
    assert!(matches!(called, CallOutcome::Upstream { .. }), "{called:?}");
    let wrong = says(session.as_mut(), "list_tools", json!({ "server": "memroy" }));
    assert!(wrong.starts_with("error: no server `memroy`; there are: everything"), "{wrong}");
}

#[test]
fn surfaces_over_two_servers() {
    for id in ["search-invoke", "index-schema-invoke", "hierarchical"] {
        insta::assert_snapshot!(format!("surface_{id}"), some(id, &["memory", "time"]));
    }
}
