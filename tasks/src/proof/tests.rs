use super::*;

fn tables(text: &str) -> MatcherTables {
    MatcherTables::from_files(vec![IntentFile { name: "git.toml".into(), text: text.into() }])
}

/// One frame of `git_log`, its repository compared by `matcher`.
fn intents(matcher: &str) -> Intents {
    let text = format!(
        "server = \"git\"\nwriter = \"w\"\n[pools.repo]\nvalues = [\"/srv/a\", \"/srv/b\"]\n[pools.n]\nfrom = 20\nto = 40\n[[intent]]\ntool = \"git_log\"\nmatch = {{ repo_path = \"{matcher}\" }}\n[[intent.frame]]\nid = \"x\"\nstratum = \"optional\"\nvoice = \"terse\"\ntext = \"newest {{n}} of {{r}}\"\nslots = {{ n = \"n\", r = \"repo\" }}\ngold = {{ repo_path = \"{{r}}\", max_count = \"{{n}}\" }}\n"
    );
    Intents::from_files(vec![IntentFile { name: "git.toml".into(), text: text.into() }])
}

const SOUND: &str = r#"server = "git"
[[tool]]
name = "git_log"
accept = [
  { why = "as it is" },
  { why = "a slash at the end", set = { repo_path = "{repo_path}/" } },
  { why = "no order", reorder = true },
]
reject = [
  { why = "one more", fault = "value", bump = ["max_count"] },
  { why = "the number is given", fault = "missing", drop = ["max_count"] },
  { why = "text", fault = "invalid", text = ["max_count"] },
  { why = "status", fault = "tool", tool = "git_status" },
]
"#;

fn messages(tables: &MatcherTables, intents: &Intents) -> Vec<String> {
    let proof = prove(tables, intents, &Catalogs::vendored().unwrap(), [1; 32]).unwrap();
    proof.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn every_tool_of_the_vendored_catalogs_is_proven_on_every_frame() {
    let catalogs = Catalogs::vendored().unwrap();
    let intents = Intents::embedded();
    for seed in [[0; 32], [7; 32]] {
        let proof = prove(&MatcherTables::embedded(), &intents, &catalogs, seed).unwrap();
        let findings: Vec<String> = proof.findings.iter().map(ToString::to_string).collect();
        assert_eq!(findings, [""; 0]);
        assert_eq!(proof.tools.len(), catalogs.tool_count());
        assert_eq!(
            proof.tools.values().map(|tool| tool.frames).sum::<usize>() + intents.abstain().count(),
            intents.frames().len()
        );
    }
}

#[test]
fn a_forgotten_matcher_is_found_by_the_variant_that_it_refuses() {
    assert_eq!(messages(&tables(SOUND), &intents("path")), [""; 0]);
    let found = messages(&tables(SOUND), &intents("exact"));
    assert_eq!(found.len(), 1, "{found:?}");
    let said = "matchers/git.toml:6: git/git_log: \"a slash at the end\" must be accepted, but in x: repo_path has another value";
    assert!(found[0].starts_with(said), "{}", found[0]);
}

#[test]
fn a_matcher_that_takes_too_much_is_found() {
    let loose = intents("path").files()[0].text.replace(
        "match = { repo_path",
        "match = { max_count = { any-of = [21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41] }, repo_path",
    );
    let loose = Intents::from_files(vec![IntentFile { name: "git.toml".into(), text: loose.into() }]);
    let found = messages(&tables(SOUND), &loose);
    assert!(found.len() == 1 && found[0].contains("\"one more\" must be rejected, but in x: git_log"), "{found:?}");
}

#[test]
fn a_row_must_be_wrong_for_the_reason_that_it_names() {
    let found = messages(&tables(&SOUND.replace("fault = \"missing\"", "fault = \"extra\"")), &intents("path"));
    assert!(found.len() == 1 && found[0].contains("is wrong for another reason: missing"), "{found:?}");
}

#[test]
fn rows_that_prove_nothing_and_tools_with_too_few_are_found() {
    let text = SOUND
        .replace("  { why = \"no order\", reorder = true },\n", "")
        .replace("bump = [\"max_count\"]", "bump = [\"maxcount\"]")
        .replace("why = \"text\",", "why = \"text\", except = [\"y\"],");
    let found = messages(&tables(&text), &intents("path"));
    assert_eq!(
        found,
        [
            "matchers/git.toml:9: \"one more\" fits no frame of git/git_log; drop it or change what it changes",
            "matchers/git.toml:11: git/git_log has no frame y; the row names it",
            "tool git/git_log has 2 of 3 rows of accepted calls in the matcher tables",
        ]
    );
}

#[test]
fn malformed_tables_are_told_with_file_and_line() {
    let broken = [
        SOUND.replace("reorder = true", "reordr = true"),
        SOUND.replace("fault = \"tool\", ", ""),
        SOUND.replace("{ why = \"as it is\" }", "{ why = \"as it is\", fault = \"value\" }"),
        format!("{SOUND}[[tool]]\nname = \"git_log\"\n"),
        format!("{SOUND}[[tool]]\nname = \"git_lag\"\n"),
    ];
    let found: String = broken
        .iter()
        .flat_map(|text| messages(&tables(text), &intents("path")).into_iter().take(1))
        .map(|message| message + "\n")
        .collect();
    insta::assert_snapshot!(found);
}
