use bench_results::record::Route;
use serde_json::Value;

use super::*;
use crate::arms::{
    CallOutcome,
    fixtures::{call, context, some},
    registry,
};

fn open(id: &str) -> Box<dyn ArmSession> {
    registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
}

fn names(session: &dyn ArmSession) -> Vec<String> {
    session.surface().tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn find(session: &mut dyn ArmSession, query: &str) -> Vec<Value> {
    session.begin_turn();
    match session.call(&call(FIND, json!({ "query": query }))) {
        CallOutcome::Meta { reply, is_error: false, .. } => serde_json::from_str(&reply).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn surfaces_over_two_servers() {
    for id in ["uimcp", "uimcp-opt", "uimcp-distil"] {
        insta::assert_snapshot!(format!("surface_{id}"), some(&format!("{id}-reimpl"), &["memory", "time"]));
    }
    assert_eq!(some("uimcp-reimpl", &["time"]), some("uimcp-pre-reimpl", &["time"]));
}

#[test]
fn candidates_are_there_for_one_request_and_a_called_one_stays() {
    let mut session = open("uimcp-reimpl");
    let start = names(session.as_ref());
    assert_eq!(start.len(), ALWAYS + 1);
    assert_eq!(find(session.as_mut(), "show the commit logs").len(), K);
    let shown = names(session.as_ref());
    assert_eq!(shown[start.len()], "git__git_log");
    assert_eq!(shown.len(), start.len() + K);
    // The answer to the request that shows them may call them.
    session.begin_turn();
    let outcome = session.call(&call("git__git_log", json!({ "repo_path": "/r" })));
    assert!(matches!(outcome, CallOutcome::Upstream { route: Route::Fetched, surface_changed: true, .. }));
    let shown = names(session.as_ref());
    assert_eq!(shown[..start.len()], start);
    assert_eq!(shown[start.len()..], ["git__git_log"]);
    session.begin_turn();
    assert!(matches!(session.call(&call("git__git_log", json!({}))), CallOutcome::Upstream { .. }));
    assert!(matches!(session.call(&call("git__git_diff", json!({}))), CallOutcome::Rejected { .. }));
}

#[test]
fn a_candidate_cannot_be_called_before_it_was_shown() {
    let mut session = open("uimcp-reimpl");
    find(session.as_mut(), "show the commit logs");
    assert!(matches!(session.call(&call("git__git_log", json!({}))), CallOutcome::Rejected { .. }));
}

#[test]
fn what_the_user_says_injects_tools_beforehand() {
    let mut session = open("uimcp-pre-reimpl");
    let start = names(session.as_ref()).len();
    session.hear("Shows the commit logs of git log");
    assert!(names(session.as_ref()).contains(&"git__git_log".to_owned()));
    assert!(names(session.as_ref()).len() <= start + K);
    session.begin_turn();
    assert!(matches!(session.call(&call("git__git_log", json!({}))), CallOutcome::Upstream { .. }));
    let mut deaf = open("uimcp-reimpl");
    deaf.hear("Shows the commit logs of git log");
    assert_eq!(names(deaf.as_ref()).len(), start);
}

#[test]
fn most_reference_tools_are_archived_by_the_optimizer() {
    let context = context();
    let arm = registry::build("uimcp-opt-reimpl", &context).unwrap();
    let everything = arm.ranker().unwrap().rank("x", usize::MAX).unwrap();
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    let servers: Vec<&str> = context.catalogs.tools().map(|(catalog, _)| &*catalog.server).collect();
    for at in &everything {
        *kept.entry(servers[*at]).or_default() += 1;
    }
    insta::assert_debug_snapshot!(kept);
    // As measured on a variant of these catalogs: about a sixth is kept, and these lose every tool.
    assert!(everything.len() * 100 < servers.len() * 25, "{}", everything.len());
    for gone in ["git", "github", "memory", "time"] {
        assert!(!kept.contains_key(gone), "{gone}");
    }
}

#[test]
fn a_renamed_argument_reaches_the_server_under_its_own_name() {
    let catalogs = crate::arms::fixtures::catalogs_of(&[(
        "s",
        json!([{"name": "t", "description": "This tool logs.", "inputSchema": {"type": "object", "properties": {"repoPath": {"type": "string"}}}}]),
    )]);
    let context = crate::arms::fixtures::context_of(catalogs);
    let mut session = registry::build("uimcp-distil-reimpl", &context).unwrap().open(Scope::Catalogs).unwrap();
    assert!(
        session.surface().tools()[0]
            .json()
            .contains(r#""description":"Logs.","input_schema":{"type":"object","properties":{"repo_path""#)
    );
    let CallOutcome::Upstream { arguments, .. } = session.call(&call("s__t", json!({ "repo_path": 1 }))) else {
        panic!()
    };
    assert_eq!(Value::Object(arguments), json!({ "repoPath": 1 }));
}
