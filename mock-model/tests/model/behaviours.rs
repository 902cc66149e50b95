//! What each behaviour does on small surfaces.

use bench_mock_model::Behaviour::{
    self, AlwaysInvokes, Lexical, Malformed, NeverFetches, Oracle, Parallel, Refuses, Talks,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    TEXT, and_call, ask, draw, fetcher, first, git_log, git_status, invoker, model, request, said, tool, user,
};

const RIGHT: &str = r#"git__git_log {"repo_path":"/srv/app","max_count":3}"#;

#[test]
fn a_whole_response_is_a_messages_body() {
    let body = request(&[git_log()], &user(TEXT));
    let response = model(Oracle).respond(body.to_string().as_bytes(), &draw("t1", "raw")).unwrap();
    insta::assert_snapshot!(String::from_utf8(response).unwrap());
}

#[test]
fn a_shown_tool_is_called_under_its_shown_name() {
    assert_eq!(first(Oracle, &[git_status(), git_log()]), RIGHT);
    assert_eq!(first(AlwaysInvokes, &[git_status(), git_log()]), RIGHT);
}

#[test]
fn a_tool_that_is_not_shown_is_never_called() {
    for behaviour in Behaviour::ALL.into_iter().filter(|&behaviour| behaviour != Lexical) {
        let said = first(behaviour, &[git_status()]);
        assert!(!said.contains("git_log"), "{behaviour}: {said}");
    }
    assert_eq!(first(Oracle, &[git_status()]), "I do not see a tool for this.");
    assert_eq!(first(Oracle, &[]), "I do not see a tool for this.");
    // A meta tool that does not list the tool is no way to it.
    let blind = tool("git__get_tool_schema", "Gives a schema", &json!({"tool_name": {"type": "string"}}), &json!([]));
    assert_eq!(first(Oracle, &[blind.clone(), invoker()]), "I do not see a tool for this.");
    assert_eq!(first(NeverFetches, &[blind, invoker()]), "I do not see a tool for this.");
}

#[test]
fn a_hidden_tool_is_fetched_then_called_where_it_appeared() {
    let fetch = r#"git__get_tool_schema {"tool_name":"git_log"}"#;
    assert_eq!(first(Oracle, &[fetcher(), invoker()]), fetch);
    let input = json!({"tool_name": "git_log"});
    let messages = and_call(&user(TEXT), "a", "git__get_tool_schema", &input, "git_log(repo_path, max_count?)", false);
    let then = |tools: &[Value]| said(&ask(&model(Oracle), &request(tools, &messages), &draw("t1", "L2")));
    assert_eq!(then(&[fetcher(), invoker(), git_log()]), RIGHT);
    let invoked = r#"git__invoke_tool {"tool_name":"git_log","arguments":{"repo_path":"/srv/app","max_count":3}}"#;
    assert_eq!(then(&[fetcher(), invoker()]), invoked);
    assert_eq!(then(&[fetcher()]), RIGHT);
    assert_eq!(first(AlwaysInvokes, &[fetcher(), invoker()]), invoked);
    assert_eq!(first(AlwaysInvokes, &[fetcher(), invoker(), git_log()]), invoked);
    assert_eq!(first(NeverFetches, &[fetcher(), invoker()]), RIGHT);
}

#[test]
fn an_enumeration_lists_tools_too() {
    let properties = json!({"tool_name": {"type": "string", "enum": ["git__git_log", "time__convert_time"]}});
    let global = tool("describe", "Describes a tool", &properties, &json!(["tool_name"]));
    assert_eq!(first(Oracle, &[global]), r#"describe {"tool_name":"git__git_log"}"#);
}

#[test]
fn a_search_comes_before_a_call_to_what_it_found() {
    let search = tool("search_tools", "Finds tools", &json!({"query": {"type": "string"}}), &json!(["query"]));
    let upstream =
        tool("memory__search_nodes", "Finds nodes", &json!({"query": {"type": "string"}}), &json!(["query"]));
    let input = json!({"query": TEXT});
    assert_eq!(first(Oracle, &[upstream, search.clone()]), format!("search_tools {input}"));
    let global =
        tool("call", "Calls", &json!({"tool_name": {"type": "string"}, "args": {"type": "object"}}), &json!([]));
    let found = "1. git__git_log(repo_path, max_count)";
    let messages = and_call(&user(TEXT), "a", "search_tools", &input, found, false);
    let said = said(&ask(&model(Oracle), &request(&[search, global], &messages), &draw("t1", "x")));
    assert_eq!(said, r#"call {"tool_name":"git__git_log","args":{"repo_path":"/srv/app","max_count":3}}"#);
}

#[test]
fn a_failing_call_is_tried_once_more_and_then_given_up() {
    let input = json!({"repo_path": "/srv/app", "max_count": 3});
    let once = and_call(&user(TEXT), "a", "git__git_log", &input, "rejected", true);
    let twice = and_call(&once, "b", "git__git_log", &input, "rejected", true);
    let say = |messages| said(&ask(&model(Oracle), &request(&[git_log()], messages), &draw("t1", "raw")));
    assert_eq!(say(&once), RIGHT);
    assert_eq!(say(&twice), "The call keeps failing, so I stop here.");
}

#[test]
fn argument_names_that_were_not_seen_are_mostly_guessed_wrong() {
    let bare = tool("git__git_log", "", &json!({}), &json!([]));
    let body = request(&[bare], &user(TEXT));
    let model = model(Oracle);
    let wrong = (0..500).filter(|n| said(&ask(&model, &body, &draw(&format!("t{n}"), "names-only"))) != RIGHT).count();
    // Two names, each guessed right one time in ten: 99 % of 500, four standard deviations.
    assert!((486..=500).contains(&wrong), "{wrong}");
}

#[test]
fn nothing_fits_an_abstain_task() {
    let body = request(&[git_log()], &user("Book me a flight"));
    assert_eq!(
        said(&ask(&model(Oracle), &body, &draw("t2", "raw"))),
        "None of the available tools serves this request."
    );
}

#[test]
fn lexical_goes_by_the_words_it_sees() {
    let worded = tool("git__git_status", "Show the last commits", &json!({"repo_path": {}}), &json!([]));
    assert_eq!(first(Lexical, &[worded, git_log()]), r#"git__git_status {"repo_path":"/srv/app"}"#);
    let log = tool("git__git_log", "Show the last commits", &json!({"repo_path": {}, "max_count": {}}), &json!([]));
    assert_eq!(first(Lexical, &[git_status(), log]), RIGHT);
    let fetch = r#"git__get_tool_schema {"tool_name":"git_log"}"#;
    let index = tool(
        "git__get_tool_schema",
        "git_log(repo_path): the last commits\ngit_status(repo_path): state",
        &json!({"tool_name": {"type": "string"}}),
        &json!([]),
    );
    assert_eq!(first(Lexical, &[index]), fetch);
}

/// Responses to many draws of the usual request.
fn many(behaviour: Behaviour, count: usize) -> Vec<Value> {
    let model = model(behaviour);
    let body = request(&[git_status(), git_log()], &user(TEXT));
    (0..count).map(|n| ask(&model, &body, &draw(&format!("t{n}"), "raw"))).collect()
}

#[test]
fn parallel_sends_two_calls_of_which_some_differ() {
    let responses = many(Parallel, 1_000);
    assert!(responses.iter().all(|response| response["content"].as_array().unwrap().len() == 2));
    assert!(responses.iter().all(|response| response["content"][0]["id"] != response["content"][1]["id"]));
    let distinct = responses.iter().filter(|r| r["content"][0]["input"] != r["content"][1]["input"]).count();
    assert!((62..=138).contains(&distinct), "{distinct}");
    let mut body = request(&[git_log()], &user(TEXT));
    body["tool_choice"]["disable_parallel_tool_use"] = json!(true);
    assert_eq!(ask(&model(Parallel), &body, &draw("t1", "raw"))["content"].as_array().unwrap().len(), 1);
}

#[test]
fn malformed_sends_cut_text_an_array_or_runs_into_the_limit() {
    let responses = many(Malformed, 1_000);
    let count = |test: &dyn Fn(&Value) -> bool| responses.iter().filter(|response| test(response)).count();
    let strings = count(&|r| r["content"][0]["input"].is_string());
    let arrays = count(&|r| r["content"][0]["input"].is_array());
    let cut = count(&|r| r["stop_reason"] == "max_tokens");
    assert!([strings, arrays, cut].iter().all(|count| (36..=98).contains(count)), "{strings} {arrays} {cut}");
}

#[test]
fn refuses_and_talks_do_so_in_their_share() {
    let refused = many(Refuses, 1_000).iter().filter(|response| response["stop_reason"] == "refusal").count();
    let talked = many(Talks, 1_000).iter().filter(|response| response["stop_reason"] == "end_turn").count();
    assert!((150..=250).contains(&refused) && (150..=250).contains(&talked), "{refused} {talked}");
}

#[test]
fn an_unknown_text_is_answered_in_prose() {
    let body = request(&[git_log()], &user("Hello"));
    assert_eq!(said(&ask(&model(Oracle), &body, &draw("t", "raw"))), "I know nothing about this request.");
}

#[test]
fn the_output_limit_cuts_and_zero_tokens_only_warm_the_cache() {
    let mut body = request(&[git_log()], &user(TEXT));
    body["max_tokens"] = json!(5);
    let response = ask(&model(Oracle), &body, &draw("t1", "raw"));
    assert_eq!((&response["stop_reason"], &response["content"][0]["input"]), (&json!("max_tokens"), &json!({})));
    body["max_tokens"] = json!(0);
    let response = ask(&model(Oracle), &body, &draw("t1", "raw"));
    assert_eq!((&response["stop_reason"], &response["content"]), (&json!("max_tokens"), &json!([])));
}

proptest! {
    #[test]
    fn the_same_draw_gives_the_same_bytes_whatever_was_asked_before(
        behaviour in proptest::sample::select(Behaviour::ALL.to_vec()),
        asked in proptest::collection::vec((0_u8..20, 0_usize..3), 1..12),
    ) {
        let surfaces = [vec![git_log(), git_status()], vec![fetcher(), invoker()], vec![git_status()]];
        let body = |surface: usize| request(&surfaces[surface], &user(TEXT)).to_string();
        let used = model(behaviour);
        for (task, surface) in asked {
            let task = format!("t{task}");
            let fresh = model(behaviour).respond(body(surface).as_bytes(), &draw(&task, "L1"));
            prop_assert_eq!(used.respond(body(surface).as_bytes(), &draw(&task, "L1")), fresh);
        }
    }
}
