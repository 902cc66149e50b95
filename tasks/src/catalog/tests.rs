use serde_json::{Map, json};

use super::*;

fn parse(text: &str) -> Result<Catalog, TasksError> {
    Catalog::parse("demo", "demo.json", text.as_bytes().into())
}

fn page(tools: &str) -> String {
    format!("{{\"tools_list_pages\":[{{\"tools\":[{tools}]}}]}}")
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn malformed_files_are_refused_with_place_and_cause() {
    let cases = [
        "{\"tools_list_pages\":[{\"tools\":[{\"name\":\"a\"",
        "[]",
        "{\"initialize\":{}}",
        "{\"tools_list_pages\":[{}]}",
        &page("7"),
        &page("{\"description\":\"x\"}"),
        &page("{\"name\":\"\"}"),
        &page("{\"name\":3}"),
        &page("{\"name\":\"a\"},\n {\"name\":\"b\"},\n  {\"name\":\"a\"}"),
        &page("{\"name\":\"a\",\n\"description\":\"x\\ud800y\"}"),
        &page("{\"name\":\"a\",\"description\":[]}"),
        &page("{\"name\":\"a\",\"inputSchema\":\"{}\"}"),
        "{\"initialize\":{\"x\":\"\\udc00\"},\"tools_list_pages\":[]}",
        "{\"tools_list_pages\":[]} x",
    ];
    insta::assert_snapshot!(cases.map(refused).join("\n"));
    let not_utf8 = Catalog::parse("demo", "demo.json", b"{\n\"\xff\"}".as_slice().into()).unwrap_err();
    assert_eq!(
        not_utf8.to_string(),
        "catalog demo.json, line 2 column 2: is not UTF-8 from here on; save the server's bytes as they are"
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_what_the_server_sent() {
    let text = format!("\u{feff}{}", page("{\"name\":\"a\"}"));
    let catalog = parse(&text).unwrap();
    assert_eq!((catalog.tools.len(), &*catalog.bytes), (1, text.as_bytes()), "and the file is kept as it is");
    let place = refused(&format!("\u{feff}{}", page("\n{\"name\":3}")));
    assert!(place.contains("line 2"), "{place}");
}

#[test]
fn pages_are_one_list_and_bytes_are_kept() {
    let text = "{\"initialize\":{\"instructions\":\"Be kind.\"},\"tools_list_pages\":[{\"tools\":[{\"name\" : \"b\",\"n\":1.0}],\"nextCursor\":\"2\"},{\"tools\":[{\"name\":\"a\"}]}]}";
    let catalog = parse(text).unwrap();
    assert_eq!(catalog.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(
        (catalog.pages, catalog.instructions.as_deref(), &*catalog.bytes),
        (2, Some("Be kind."), text.as_bytes())
    );
    assert_eq!(catalog.tools[0].raw.get(), "{\"name\" : \"b\",\"n\":1.0}");
}

#[test]
fn odd_tools_are_taken_and_odd_schemas_constrain_what_they_can() {
    let odd = [
        "{\"name\":\"bare\"}",
        "{\"name\":\"null\",\"description\":null,\"inputSchema\":null}",
        "{\"name\":\"true\",\"inputSchema\":true}",
        "{\"name\":\"false\",\"inputSchema\":false}",
        "{\"name\":\"a/b.c with spaces and more than sixty-four characters in its whole name\",\"inputSchema\":{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}}",
        "{\"name\":\"dangling\",\"inputSchema\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/none\"},\"b\":{\"type\":\"string\"}}}}",
        "{\"name\":\"remote\",\"inputSchema\":{\"properties\":{\"a\":{\"$ref\":\"https://example.com/s.json\"},\"b\":{\"type\":\"string\"}}}}",
        "{\"name\":\"pattern\",\"inputSchema\":{\"properties\":{\"a\":{\"pattern\":\"(\"},\"b\":{\"type\":\"string\"},\"c\":{\"pattern\":\"^(?!x)(.)\\\\1$\"}}}}",
        "{\"name\":\"invalid\",\"inputSchema\":{\"type\":\"objekt\",\"properties\":{\"b\":{\"type\":\"string\",\"minLength\":\"x\"},\"__proto__\":{\"type\":\"number\"}}}}",
        "{\"name\":\"twice\",\"description\":\"x\",\"description\":\"y\"}",
    ];
    let catalog = parse(&page(&odd.join(","))).unwrap();
    let valid = |tool: &str, value: &Value| catalog.tool(tool).unwrap().validate(&arguments(value));
    for tool in ["bare", "null", "true"] {
        assert_eq!(valid(tool, &json!({"x": 1})), Ok(()));
    }
    assert!(valid("false", &json!({})).is_err());
    for tool in ["dangling", "remote", "pattern", "invalid"] {
        assert_eq!(valid(tool, &json!({"a": 1, "b": "x"})), Ok(()), "{tool}");
        assert_eq!(valid(tool, &json!({"b": 1})), Err("b: 1 is not of type \"string\"".into()), "{tool}");
    }
    assert_eq!(valid("pattern", &json!({"c": "aa"})), Ok(()));
    assert!(valid("pattern", &json!({"c": "ab"})).is_err());
    assert!(valid("invalid", &json!({"__proto__": "x"})).is_err());
    let catalogs = Catalogs { catalogs: vec![catalog] };
    insta::assert_snapshot!(audit(&catalogs).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_broken_call_is_answered_like_a_server_would() {
    let catalogs = Catalogs::vendored().unwrap();
    let tool = catalogs.tool("git", "git_log").unwrap();
    assert_eq!(tool.validate(&arguments(&json!({"repo_path": "/srv", "max_count": 5}))), Ok(()));
    let why = tool.validate(&arguments(&json!({"max_count": "five"}))).unwrap_err();
    insta::assert_snapshot!(why);
    let format = catalogs.tool("fetch", "fetch").unwrap();
    assert_eq!(format.validate(&arguments(&json!({"url": "not a url"}))), Ok(()));
}

#[test]
fn the_vendored_schemas_are_used_whole() {
    let warnings = audit(&Catalogs::vendored().unwrap());
    assert_eq!(warnings, []);
}

#[test]
fn a_folder_is_loaded_in_name_order_and_checked_against_its_index() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b", "a-1", "a"] {
        fs::write(folder.path().join(format!("{name}.json")), page("{\"name\":\"t\"}")).unwrap();
    }
    let catalogs = Catalogs::load(folder.path()).unwrap();
    assert_eq!(catalogs.catalogs.iter().map(|catalog| &*catalog.server).collect::<Vec<_>>(), ["a", "a-1", "b"]);
    assert!(
        catalogs.tool("a-1", "t").is_some() && catalogs.tool("a-1", "u").is_none() && catalogs.tool("c", "t").is_none()
    );

    fs::write(folder.path().join("index.json"), "{\"servers\":[{\"server\":\"a\",\"sha256\":\"00\"}]}").unwrap();
    let error = Catalogs::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a.json, whole file: is sha256 ") && error.contains("but the index says 00"), "{error}");

    let empty = tempfile::tempdir().unwrap();
    assert!(Catalogs::load(empty.path()).unwrap_err().to_string().starts_with("no catalog in "));
}

#[test]
fn a_name_that_would_look_like_another_line_is_refused() {
    for (escape, code) in [("\\n", "U+000A"), ("\\u001b", "U+001B"), ("\\u2028", "U+2028"), ("\\u0085", "U+0085")] {
        let error = parse(&page(&format!("{{\"name\":\"a{escape}b\"}}"))).unwrap_err().to_string();
        assert!(error.contains("tool 0, ") && error.contains(code) && !error.contains('\n'), "{error}");
    }
    let error =
        Catalog::parse("a\nb", "a\nb.json", page("{\"name\":\"t\"}").into_bytes().into()).unwrap_err().to_string();
    assert!(error.contains("file name") && error.contains("U+000A") && !error.contains('\n'), "{error}");
}

#[test]
fn fifty_thousand_tools_are_no_trouble() {
    let tools: Vec<String> =
        (0..50_000).map(|n| format!("{{\"name\":\"tool_{n}\",\"inputSchema\":{{\"type\":\"object\"}}}}")).collect();
    let catalog = parse(&page(&tools.join(","))).unwrap();
    assert_eq!(catalog.tool("tool_49999").unwrap().validate(&Map::new()), Ok(()));
    assert_eq!(catalog.tools.len(), 50_000);
}
