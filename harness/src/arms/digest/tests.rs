use bench_tasks::catalog::Catalogs;
use proptest::prelude::*;

use super::*;
use crate::arms::{
    fixtures::{call, catalogs_of, context, context_of},
    registry,
};

fn open(id: &str) -> Box<dyn ArmSession> {
    let scope = Scope::Tool { server: "git", tool: "git_log" };
    registry::build(id, &context()).unwrap().open(scope).unwrap()
}

fn digest_of(session: &mut dyn ArmSession, text: &str) -> String {
    session.digest("git", "git_log", &ToolResult::text(text)).joined_text()
}

fn handle_in(text: &str) -> &str {
    let at = text.find("handle=").unwrap() + "handle=".len();
    &text[at..at + 8]
}

fn expand(session: &mut dyn ArmSession, handle: &str) -> Result<String, String> {
    match session.call(&call("git__expand", json!({ "handle": handle }))) {
        CallOutcome::Meta { reply, is_error: false, surface_changed: false } => Ok(reply),
        CallOutcome::Meta { reply, .. } | CallOutcome::Rejected { reply } => Err(reply),
        other @ CallOutcome::Upstream { .. } => panic!("{other:?}"),
    }
}

fn log() -> String {
    let mut lines: Vec<String> = (0..60).map(|n| format!("step {n} of the pipeline ran as it was planned")).collect();
    for n in [10, 20, 30, 40] {
        lines[n] = format!("error {n}: disk full");
    }
    lines[50] = "DECISION: roll back".to_owned();
    lines[59] = "58 passed, 2 failed".to_owned();
    lines.join("\n") + "\n"
}

#[test]
fn a_long_text_keeps_its_start_end_and_load_bearing_lines() {
    let digest = digest_of(open("R").as_mut(), &log());
    insta::assert_snapshot!(digest);
}

#[test]
fn records_become_a_table() {
    let records: Vec<Value> = (0..12)
        .map(|n| json!({"number": n, "title": format!("Issue {n}"), "labels": [{"name": "bug"}], "body": null}))
        .collect();
    let digest = digest_of(open("R").as_mut(), &serde_json::to_string_pretty(&records).unwrap());
    insta::assert_snapshot!(digest);
}

#[test]
fn the_surface_is_the_source_tool_and_expand() {
    let names = |id| open(id).surface().tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names("R"), ["git__git_log", "git__expand"]);
    assert_eq!(names("R-again"), names("R"));
    assert_eq!(names("R-no-expand"), ["git__git_log"]);
    assert_eq!(names("results-raw"), ["git__git_log"]);
    assert_eq!(open("R").surface().tools()[0].json(), open("results-raw").surface().tools()[0].json());
}

#[test]
fn over_all_catalogs_expand_ends_each_servers_list() {
    let session = registry::build("R", &context()).unwrap().open(Scope::Catalogs).unwrap();
    let names: Vec<&str> = session.surface().tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names.len(), 78 + 8);
    let at = names.iter().position(|&name| name == "git__expand").unwrap();
    assert!(names[at - 1].starts_with("git__git_") && names[at + 1].starts_with("github__"));
}

#[test]
fn expand_gives_the_exact_original_of_this_server_and_session() {
    let mut session = registry::build("R", &context()).unwrap().open(Scope::Catalogs).unwrap();
    let digest = digest_of(session.as_mut(), &log());
    let handle = handle_in(&digest).to_owned();
    assert_eq!(expand(session.as_mut(), &handle).unwrap(), log());
    assert!(session.informs("git__expand"));
    assert!(expand(session.as_mut(), "00000000").is_err());
    let other = session.call(&call("github__expand", json!({ "handle": handle })));
    assert!(matches!(other, CallOutcome::Meta { is_error: true, .. }));
    assert!(expand(open("R").as_mut(), &handle).is_err());
}

#[test]
fn without_expand_the_digest_is_the_same_and_nothing_leads_back() {
    let mut session = open("R-no-expand");
    let digest = digest_of(session.as_mut(), &log());
    assert_eq!(digest, digest_of(open("R").as_mut(), &log()));
    assert_eq!(expand(session.as_mut(), handle_in(&digest)), Err("error: unknown tool: git__expand".to_owned()));
    assert!(!session.informs("git__expand"));
}

#[test]
fn what_must_not_be_touched_is_not() {
    let tools = json!([
        {"name": "list"},
        {"name": "open_page"},
        {"name": "typed", "outputSchema": {"type": "object"}},
        {"name": "fetcher", "description": "Returns the source code.", "annotations": {"readOnlyHint": true}},
        {"name": "writer", "description": "Returns the source code.", "annotations": {"readOnlyHint": false}},
    ]);
    let arm = registry::build("R", &context_of(catalogs_of(&[("s", tools)]))).unwrap();
    let mut session = arm.open(Scope::Catalogs).unwrap();
    let mut changes = |tool: &str, result: &ToolResult| session.digest("s", tool, result) != *result;
    let long = ToolResult::text(log());
    assert!(changes("list", &long) && changes("writer", &long));
    assert!(
        !changes("open_page", &long)
            && !changes("typed", &long)
            && !changes("fetcher", &long)
            && !changes("nobody", &long)
    );
    assert!(!changes("list", &ToolResult { is_error: true, ..long.clone() }));
    assert!(!changes("list", &ToolResult { structured: Some(json!({})), ..long.clone() }));
    assert!(!changes("list", &ToolResult::text("line\n".repeat(90))));
    assert!(!changes("list", &ToolResult::text("one line ".repeat(500))));
}

#[test]
fn other_blocks_stay_between_digested_ones() {
    let image = Content::Other(json!({"type": "image", "data": "line\n".repeat(900)}).as_object().cloned().unwrap());
    let short = Content::Text("short".to_owned());
    let result =
        ToolResult { content: vec![image.clone(), Content::Text(log()), short.clone()], ..ToolResult::default() };
    let shown = open("R").digest("git", "git_log", &result);
    assert_eq!((&shown.content[0], &shown.content[2]), (&image, &short));
    assert_ne!(shown.content[1], result.content[1]);
}

#[test]
fn an_already_small_gap_is_shown() {
    let mut text: Vec<String> =
        (0..80).map(|n| format!("a line of the log that goes on for a while, number {n}")).collect();
    text[5] = "error: x".to_owned();
    text[4] = "tiny".to_owned();
    text[3] = "gap".to_owned();
    let digest = lines(&text.join("\n"), "00000000").unwrap();
    assert!(digest.contains("\ngap\ntiny\nerror: x\n[73 lines left out, handle=00000000]\n"), "{digest}");
    assert_eq!(lines("a\nb\nc\nd\ne\nf", "00000000"), None);
}

#[test]
fn two_originals_never_share_a_handle() {
    let definitions = Arc::new(Definitions::new(&Catalogs::vendored().unwrap()).unwrap());
    let arm = DigestArm::new(info("R", ""), definitions, true).unwrap();
    let mut session =
        DigestSession { base: arm.base.session(Scope::Catalogs).unwrap(), expands: true, originals: HashMap::new() };
    session.originals.insert((0, handle(&log())), "another text".to_owned());
    assert_eq!(session.digest_text(0, &log()), None);
    assert!(session.digest_text(1, &log()).is_some());
}

fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => "[a-z ]{0,60}",
        1 => "(error|ok|FAIL|warn) [0-9]{1,3}[a-z]{0,2}",
        1 => "[0-9]{1,2} passed",
        1 => "\\PC{0,30}",
    ];
    let lines = prop::collection::vec(line, 0..120).prop_map(|lines| lines.join("\n"));
    let record = ("[a-z]{0,12}", any::<i32>(), any::<bool>(), "\\PC{0,12}");
    let records = prop::collection::vec(record, 0..40).prop_map(|records| {
        let records: Vec<Value> = records
            .into_iter()
            .map(|(a, b, c, d)| if c { json!({"a": a, "b": b, "c": [c, d]}) } else { json!({"a": a, "b": b, "c": d}) })
            .collect();
        serde_json::to_string_pretty(&records).unwrap()
    });
    prop_oneof![lines, records]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_digest_is_smaller_or_the_text_itself_and_always_leads_back(texts in prop::collection::vec(any_text(), 1..4)) {
        let mut session = open("R");
        let mut handles = std::collections::BTreeMap::new();
        for text in &texts {
            let digest = digest_of(session.as_mut(), text);
            if digest == *text {
                continue;
            }
            prop_assert!(tokens::tokens(&digest) < tokens::tokens(text) && tokens::tokens(text) >= MIN_TOKENS);
            let handle = handle_in(&digest).to_owned();
            prop_assert_eq!(&expand(session.as_mut(), &handle).unwrap(), text);
            prop_assert!(handles.insert(handle, text).is_none_or(|earlier| earlier == text));
        }
    }

    #[test]
    fn a_digest_of_lines_holds_lines_of_the_text_in_order_and_counts_the_rest(text in any_text()) {
        let Some(digest) = lines(&text, "00000000") else { return Ok(()) };
        let mut rest = text.lines();
        let mut count = 0;
        for line in digest.lines() {
            if let Some(number) = line.strip_prefix('[').and_then(|line| line.split_once(" left out, handle=00000000]")) {
                let gap: usize = number.0.split(' ').next().unwrap().parse().unwrap();
                for _ in 0..gap {
                    rest.next().unwrap();
                }
                count += gap;
            } else {
                prop_assert_eq!(rest.next(), Some(line));
            }
        }
        prop_assert!(rest.next().is_none() && count > 0);
    }
}
