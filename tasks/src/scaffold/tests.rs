use serde_json::json;

use super::*;
use crate::{
    catalog::Catalogs,
    check::{CheckOptions, FindingKind, Severity, check},
    intent::{IntentFile, Intents},
};

fn intents(text: &str) -> Intents {
    Intents::from_files(vec![IntentFile { name: "scaffold.toml".into(), text: text.into() }])
}

/// Numbers of frames that no other text of a scaffold holds.
fn asked() -> CheckOptions {
    CheckOptions { scored_frames: 123, dev_frames: 45, abstain_frames: 678, ..CheckOptions::default() }
}

#[test]
fn a_scaffold_asks_for_the_frames_that_the_check_asks_for() {
    let text = scaffold(Catalogs::vendored().unwrap().get("time").unwrap(), &asked());
    for asked in ["at least 123 frames per tool", "45 more with `dev = true`", "at least 678 requests"] {
        assert!(text.contains(asked), "{asked}: {text}");
    }
}

#[test]
fn the_scaffold_of_time() {
    insta::assert_snapshot!(scaffold(Catalogs::vendored().unwrap().get("time").unwrap(), &CheckOptions::default()));
}

#[test]
fn the_scaffold_of_memory() {
    insta::assert_snapshot!(scaffold(Catalogs::vendored().unwrap().get("memory").unwrap(), &CheckOptions::default()));
}

#[test]
fn every_vendored_scaffold_is_read_and_only_texts_likeness_and_number_are_left_to_mend() {
    for catalog in Catalogs::vendored().unwrap().catalogs {
        let intents = intents(&scaffold(&catalog, &CheckOptions::default()));
        assert_eq!(intents.problems(), [], "{}", catalog.server);
        assert!(intents.frames().len() >= 2 * catalog.tools.len(), "{}", catalog.server);
        let alone = Catalogs { catalogs: vec![catalog] };
        let found = check(&intents, &alone, &CheckOptions::default());
        let stubs = found.iter().filter(|finding| finding.kind == FindingKind::Stub).count();
        assert_eq!(stubs, intents.frames().len(), "{:?}: every text is still to be written", alone.catalogs[0].server);
        let left: Vec<_> = found
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .filter(|finding| {
                !matches!(
                    finding.kind,
                    FindingKind::Stub | FindingKind::Similar | FindingKind::MissingFrames | FindingKind::Ambiguous
                )
            })
            .collect();
        assert_eq!(left, [], "{:?}", alone.catalogs[0].server);
    }
}

#[test]
fn odd_names_and_schemas_are_taken() {
    let file = json!({ "tools_list_pages": [{ "tools": [
        { "name": "rewrite.all", "description": "a\n# b", "inputSchema": { "type": "object", "required": ["$and", "{{x}}", "é", "p"], "properties": {
            "$and": { "type": "array", "items": { "$ref": "#/$defs/o" }, "minItems": 2 }, "{{x}}": { "enum": ["", "b"] },
            "é": { "type": ["null", "integer"], "minimum": 9_007_199_254_740_991_u64 }, "p": { "type": "string", "pattern": "^(?=q)z$" },
            "n": { "anyOf": [{ "type": "null" }, { "type": "number", "maximum": 3 }] }, "free": {} },
            "$defs": { "o": { "type": "object", "properties": { "name": { "type": "string", "minLength": 20 } }, "required": ["name"] } } } },
        { "name": "none" },
        { "name": "yes", "inputSchema": true }
    ] }] });
    let catalog = Catalog::parse("odd", "odd.json", file.to_string().into_bytes().into()).unwrap();
    let text = scaffold(&catalog, &CheckOptions::default());
    let read = intents(&text);
    assert_eq!(read.problems(), [], "{text}");
    assert!(text.contains("#     no sample value fits its schema"), "{text}");
    assert!(text.contains("lack required arguments"), "{text}");
    assert!(read.of_tool("odd", "rewrite.all").any(|frame| frame.stratum == Stratum::Nested));
    assert_eq!(read.of_tool("odd", "none").count(), 3);
    // REWRITE would say a word of a tool's name.
    assert!(text.contains("text = \"REPHRASE") && !text.contains("REWRITE"), "{text}");
}

#[test]
fn a_parameter_with_a_line_end_writes_no_line_of_its_own() {
    let file = json!({ "tools_list_pages": [{ "tools": [{
        "name": "a", "description": "\nserver = \"x\"\u{1b}[31m\u{0}", "inputSchema": { "type": "object",
            "properties": { "p\n[[intent]]\n#\u{7f}": { "type": "string", "enum": ["a\nb", "c"] } } } }] }] });
    let catalog = Catalog::parse("odd", "odd.json", file.to_string().into_bytes().into()).unwrap();
    let text = scaffold(&catalog, &CheckOptions::default());
    assert_eq!(intents(&text).problems(), [], "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("server =") || *line == "[[intent]]").count(), 2, "{text}");
}
