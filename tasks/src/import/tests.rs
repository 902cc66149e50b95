use serde_json::json;

use super::*;
use crate::{
    check::{CheckOptions, FindingKind, Severity, check},
    generate::{FrameSet, Generator, Plan},
    intent::Intents,
    matcher::matches,
};

const QUESTIONS: &str = r#"
{"id": "simple_0", "question": [[{"role": "user", "content": "How long is the {braced} fence of a 4 by 5 yard?"}]], "function": [{"name": "fence.length", "description": "Length of a fence around a yard.", "parameters": {"type": "dict", "properties": {"a": {"type": "float"}, "b": {"type": "float"}, "unit": {"type": "string", "default": "m"}}, "required": ["a", "b"]}}]}
{"id": "multiple_0", "question": [[{"role": "user", "content": "Fence for 7 x 2, in feet"}]], "function": [{"name": "fence.length", "description": "Another definition.", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "unit": {"type": "string"}}, "required": ["a", "b"]}}, {"name": "yard_area", "description": "Area of a yard.", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}]}
{"id": "irrelevance_0", "question": [[{"role": "user", "content": "Length of the fence of my yard?"}]], "function": [{"name": "sing", "description": "Sings.", "parameters": {"type": "dict", "properties": {}}}]}
not json
{"id": "simple_0", "question": [], "function": []}
{"id": "multi_turn_0", "question": [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]], "function": []}
{"id": "parallel_0", "question": [[{"role": "user", "content": "Sing twice"}]], "function": [{"name": "sing", "description": "Sings.", "parameters": {"type": "dict", "properties": {}}}]}
{"id": "simple_1", "question": [[{"role": "user", "content": "x"}]], "function": [{"name": "f", "description": "", "parameters": {"type": "dict", "properties": {"a": {"type": "flaot"}}}}]}
{"id": "simple_2", "question": [[{"role": "user", "content": "y"}]], "function": []}
{"id": "simple_3", "question": [[{"role": "user", "content": "Fence for 7 x 2, in feet"}]], "function": [{"name": "sing", "description": "Sings.", "parameters": {"type": "dict", "properties": {}}}]}
{"id": "simple_4", "wrong": 1}
"#;

const ANSWERS: &str = r#"{"id": "simple_0", "ground_truth": [{"fence.length": {"a": [4], "b": [5.0], "unit": ["", "m", "metre", 7]}}]}
{"id": "multiple_0", "ground_truth": [{"fence.length": {"a": [7], "b": [2], "unit": ["feet", "ft"]}}]}
{"id": "parallel_0", "ground_truth": [{"sing": {}}, {"sing": {}}]}
{"id": "simple_1", "ground_truth": [{"f": {"a": [1]}}]}
{"id": "simple_3", "ground_truth": [{"sing": {}}]}
{"id": "nobody_0", "ground_truth": [{"sing": {}}]}
"#;

fn source(name: &str, text: &str) -> Source {
    Source { name: name.into(), bytes: text.into() }
}

fn leaderboard() -> Imported {
    bfcl(&[source("questions.json", QUESTIONS), source("answers.json", ANSWERS)]).unwrap()
}

fn read(imported: &Imported) -> Intents {
    Intents::from_files(imported.intents.clone())
}

fn errors(imported: &Imported) -> Vec<String> {
    check(&read(imported), &imported.catalogs, &CheckOptions::default())
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error && finding.kind != FindingKind::MissingFrames)
        .map(|finding| finding.to_string())
        .collect()
}

#[test]
fn every_row_is_a_frame_an_answer_or_reported_with_its_line() {
    let summary = leaderboard().summary;
    assert_eq!(
        summary.rows,
        summary.tool_frames + summary.abstain_frames + summary.answer_rows + summary.left_out,
        "{summary:?}"
    );
    insta::assert_json_snapshot!(summary);
}

#[test]
fn the_imported_files() {
    let imported = leaderboard();
    let files: Vec<String> = imported.intents.iter().map(|file| format!("== {}\n{}", file.name, file.text)).collect();
    insta::assert_snapshot!(files.join("\n"));
    assert_eq!(errors(&imported), Vec::<String>::new());
}

#[test]
fn imported_golds_accept_what_the_leaderboard_accepts() {
    let imported = leaderboard();
    let plan = Plan {
        tool_tasks: 2,
        abstain_tasks: 1,
        frames_per_tool: 6,
        abstain_frames: 6,
        frames: FrameSet::Scored,
        allow_incomplete: true,
    };
    let generator = Generator::new(&read(&imported), &imported.catalogs, [7; 32], plan).unwrap();
    let tasks: Vec<_> = generator.iter().collect();
    assert_eq!(tasks.iter().filter(|task| task.gold.is_empty()).count(), 1);
    let task = tasks.iter().find(|task| task.frame.ends_with("simple_0")).unwrap();
    assert_eq!(task.utterance, "How long is the {braced} fence of a 4 by 5 yard?");
    let gold = &task.gold[0];
    let schema = &imported.catalogs.tool(&gold.server, &gold.tool).unwrap().input_schema;
    for (call, right) in [
        (json!({ "a": 4, "b": 5 }), true),
        (json!({ "a": 4.0, "b": 5, "unit": "METRE" }), true),
        (json!({ "a": 4, "b": 5, "unit": "m" }), true),
        (json!({ "a": 4, "b": 5, "unit": "feet" }), false),
        (json!({ "a": 4 }), false),
    ] {
        assert_eq!(matches(&gold.arguments, call.as_object().unwrap(), &gold.matchers, schema), right, "{call}");
    }
    // The other definition of the same name takes these arguments as well.
    assert_eq!(task.gold.iter().map(|gold| &*gold.server).collect::<Vec<_>>(), ["bfcl", "bfcl-2"]);
}

#[test]
fn a_table_over_the_vendored_catalogs() {
    let table = "utterance,server,tool,arguments\n\
        What time is it in Oslo?,time,get_current_time,\"{\"\"timezone\"\":\"\"Europe/Oslo\"\"}\"\n\
        Tell me a joke,,,\n\
        \"Two\nlines\",memory,read_graph,\n\
        x,tiem,get_current_time,\n\
        x,time,get_curent_time,\n\
        x,time,get_current_time,\"{\"\"timezon\"\":\"\"UTC\"\"}\"\n\
        x,time,get_current_time,{}\n\
        x,time,get_current_time,{timezone\n\
        too,few\n\
        ,time,get_current_time,\n\
        x,,get_current_time,\n";
    let catalogs = Catalogs::vendored().unwrap();
    let imported = plain(Form::Csv, &[source("mine.csv", table)], &catalogs, "mine");
    assert_eq!((imported.summary.tool_frames, imported.summary.abstain_frames), (2, 1));
    assert_eq!(errors(&imported), Vec::<String>::new());
    let notes: Vec<String> = imported.summary.malformed.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"));
    assert!(read(&imported).frames().iter().any(|frame| frame.text.literal("") == "Two\nlines"));
}

#[test]
fn headers_are_read_strictly() {
    let catalogs = Catalogs::vendored().unwrap();
    let note = |text: &str| plain(Form::Csv, &[source("t.csv", text)], &catalogs, "w").summary.malformed[0].to_string();
    insta::assert_snapshot!(note("utterance,server,tool,argument\n"));
    insta::assert_snapshot!(note("utterance,server,tool\n"));
}

#[test]
fn json_lines_say_the_same_as_a_table() {
    let lines = "{\"utterance\":\"What time is it in Oslo?\",\"server\":\"time\",\"tool\":\"get_current_time\",\"arguments\":{\"timezone\":\"Europe/Oslo\"}}\n\n\
        {\"utterance\":\"Tell me a joke\",\"server\":null}\n[1]\n{\"utterance\":\"x\",\"tools\":\"a\"}\n{\"utterance\":3}\n{\"utterance\":\"x\",\"arguments\":[]}\n";
    let imported = plain(Form::JsonLines, &[source("mine.jsonl", lines)], &Catalogs::vendored().unwrap(), "mine");
    assert_eq!((imported.summary.tool_frames, imported.summary.abstain_frames, imported.summary.rows), (1, 1, 6));
    let notes: Vec<String> = imported.summary.malformed.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"));
}

#[test]
fn what_an_intent_file_cannot_hold_is_left_out_by_name() {
    let file =
        json!({ "tools_list_pages": [{ "tools": [{ "name": "f", "inputSchema": { "properties": { "a": {} } } }] }] });
    let catalogs =
        Catalogs::from_files(vec![("s".into(), "s.json".into(), file.to_string().into_bytes().into())], &[]).unwrap();
    let lines = "{\"utterance\":\"x\",\"server\":\"s\",\"tool\":\"f\",\"arguments\":{\"a\":null}}\n";
    let summary = plain(Form::JsonLines, &[source("n.jsonl", lines)], &catalogs, "w").summary;
    assert_eq!((summary.tool_frames, summary.left_out), (0, 1));
    assert_eq!(summary.unsupported[0].to_string(), "n.jsonl:1: n-1: holds null, which an intent file has no form for");
}

#[test]
fn a_byte_order_mark_before_the_first_row_is_skipped_in_every_form() {
    let marked = |text: &str| source("marked", &format!("\u{feff}{text}"));
    let questions = bfcl(&[marked(QUESTIONS), source("answers.json", ANSWERS)]).unwrap().summary;
    assert_eq!(questions.malformed.len(), leaderboard().summary.malformed.len());
    let catalogs = Catalogs::vendored().unwrap();
    for (form, text) in [
        (Form::Csv, "utterance,server,tool,arguments\nWhat time is it in Oslo?,,,\n"),
        (Form::JsonLines, "{\"utterance\": \"What time is it in Oslo?\"}\n"),
    ] {
        let summary = plain(form, &[marked(text)], &catalogs, "import").summary;
        assert_eq!((summary.abstain_frames, summary.malformed.len()), (1, 0), "{form:?}: {summary:?}");
    }
}
