use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    matcher::Matchers,
    task::{GoldCall, Stratum, Suite, TaskId},
};

fn gold(server: &str, tool: &str, arguments: Value) -> GoldCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    GoldCall { server: server.into(), tool: tool.into(), arguments, matchers: Arc::new(Matchers::default()) }
}

fn task(gold: Vec<GoldCall>) -> Task {
    let own = gold.first();
    Task {
        id: TaskId("t0".into()),
        suite: Suite::Tools,
        server: own.map(|gold| Arc::clone(&gold.server)),
        tool: own.map(|gold| Arc::clone(&gold.tool)),
        frame: "f".into(),
        stratum: Stratum::Plain,
        utterance: String::new(),
        gold,
    }
}

fn call(server: &str, tool: &str, arguments: Value) -> UpstreamCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    UpstreamCall { server: server.into(), tool: tool.into(), arguments }
}

#[test]
fn the_two_endpoints_follow_the_calls() {
    let catalogs = Catalogs::vendored().unwrap();
    let task = task(vec![
        gold("git", "git_log", json!({"repo_path": "/srv/a"})),
        gold("git", "git_show", json!({"repo_path": "/srv/a", "revision": "HEAD"})),
    ]);
    let log = |n: Value| call("git", "git_log", json!({"repo_path": "/srv/a", "max_count": n}));
    let show = call("git", "git_show", json!({"repo_path": "/srv/a", "revision": "HEAD"}));
    for (calls, selection, matched) in [
        (vec![log(json!(10))], true, Some(0)),
        (vec![log(json!(11))], true, None),
        (vec![show.clone()], true, Some(1)),
        (vec![log(json!(10)), log(json!(10.0))], true, Some(0)),
        (vec![log(json!(10)), show], false, None),
        (vec![call("github", "git_log", json!({"repo_path": "/srv/a"}))], false, None),
        (vec![call("git", "git_status", json!({"repo_path": "/srv/a"}))], false, None),
        (vec![], false, None),
    ] {
        assert_eq!(
            score(&task, &catalogs, &calls),
            Score { selection, arguments: matched.is_some(), matched },
            "{calls:?}"
        );
    }
}

#[test]
fn an_abstain_task_is_right_without_a_call_and_wrong_with_any() {
    let catalogs = Catalogs::vendored().unwrap();
    let task = task(vec![]);
    assert_eq!(score(&task, &catalogs, &[]), Score { selection: true, arguments: true, matched: None });
    assert_eq!(score(&task, &catalogs, &[call("memory", "read_graph", json!({}))]), Score::default());
}
