use super::*;
use crate::intent::IntentFile;

const NO_COUNTS: CheckOptions =
    CheckOptions { scored_frames: 0, dev_frames: 0, abstain_frames: 0, fillings: 16, seed: [0; 32] };

fn findings(body: &str) -> Vec<Finding> {
    let text = format!(
        "server = \"git\"\nwriter = \"w\"\n[pools.repo]\ntemplate = \"/srv/{{n}}\"\nparts.n = {{ from = 1, to = 900 }}\n[pools.n]\nfrom = 1\nto = 40\n{body}"
    );
    let intents = Intents::from_files(vec![IntentFile { name: "git.toml".into(), text: text.into() }]);
    check(&intents, &Catalogs::vendored().unwrap(), &NO_COUNTS)
}

fn frame(tool: &str, id: &str, rest: &str) -> String {
    format!("[[intent]]\ntool = \"{tool}\"\n[[intent.frame]]\nid = \"{id}\"\nvoice = \"terse\"\n{rest}\n")
}

fn lines(body: &str) -> String {
    findings(body)
        .iter()
        .fold(String::new(), |lines, finding| lines + &format!("{:?} {:?} {finding}\n", finding.severity, finding.kind))
}

#[test]
fn a_sound_frame_has_no_findings() {
    let rest = "stratum = \"paraphrase\"\ntext = \"Newest {n} changes recorded in {repo}\"\nslots = { n = \"n\", repo = \"repo\" }\ngold = { repo_path = \"{repo}\", max_count = \"{n}\" }\nmatch = { repo_path = \"path\" }";
    assert_eq!(lines(&frame("git_log", "x", rest)), "");
}

#[test]
fn each_kind_of_mistake_is_found() {
    let plain = |text: &str, gold: &str, more: &str| {
        format!("stratum = \"plain\"\ntext = \"{text} {{r}}\"\nslots = {{ r = \"repo\" }}\ngold = {{ {gold} }}\n{more}")
    };
    let repo = "repo_path = \"{r}\"";
    let body = [
        frame("git_lgo", "tool", &plain("one", repo, "")),
        frame("git_log", "argument", &plain("two", "repo_path = \"{r}\", maxcount = 3", "")),
        frame("git_log", "schema", &plain("three", "repo_path = \"{r}\", max_count = \"3\"", "")),
        frame("git_log", "required", &plain("four", "max_count = 3", "")),
        frame("git_log", "unfit", &plain("five", repo, "match = { repo_path = \"set\" }")),
        frame("git_log", "nowhere", &plain("six", repo, "match = { repopath = \"path\" }")),
        frame("git_log", "allowed", &plain("seven", repo, "allow = { max_count = [\"x\"] }")),
        frame("git_log", "allowed-gold", &plain("eight", repo, "allow = { repo_path = [\"x\"] }")),
        frame(
            "git_log",
            "also",
            &plain(
                "nine",
                repo,
                "also = [{ tool = \"git_show\", arguments = { repo_path = \"{r}\" } }, { tool = \"get_issue\", server = \"githup\" }]",
            ),
        ),
        frame(
            "git_log",
            "leak",
            "stratum = \"paraphrase\"\ntext = \"What was logged at {r}?\"\nslots = { r = \"repo\" }\ngold = { repo_path = \"{r}\" }",
        ),
        frame("git_log", "names", &plain("the git history", repo, "")),
    ];
    insta::assert_snapshot!(lines(&body.concat()));
}

#[test]
fn frames_of_a_tool_that_say_nearly_the_same_are_found() {
    let text = |text: &str| {
        format!(
            "stratum = \"plain\"\ntext = \"{text}\"\nslots = {{ r = \"repo\" }}\ngold = {{ repo_path = \"{{r}}\" }}"
        )
    };
    let body = [
        frame("git_log", "a", &text("please show me what happened lately in the clone at {r} today")),
        frame("git_log", "b", &text("I would like to know what happened lately in the clone at {r} now")),
        frame("git_log", "c", &text("show the history of {r}")),
        frame("git_log", "d", &text("show the history of {r} quickly")),
        frame("git_status", "a", &text("show the history of {r} quickly")),
    ];
    let found = findings(&body.concat());
    let similar: Vec<&str> = found
        .iter()
        .filter(|finding| finding.kind == FindingKind::Similar)
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(
        similar,
        [
            "shares the words \"what happened lately in the clone at {}\" with git/git_log/a; word one of them differently",
            "is too similar to git/git_log/c (0.75 of their three-word runs; below 0.5 is asked); word one of them differently",
        ]
    );
    // The same words for two tools cannot be told apart at all.
    assert!(found.iter().all(|finding| finding.kind != FindingKind::Ambiguous));
}

#[test]
fn pool_values_that_collide_or_repeat_are_found() {
    let body = "[pools.topic]\nvalues = [\"open\", \"crash\", \"title\", \"crash\"]\n[pools.state]\nvalues = [\"open\", \"closed\"]\n[[intent]]\ntool = \"list_issues\"\n[[intent.frame]]\nid = \"x\"\nvoice = \"terse\"\nstratum = \"plain\"\ntext = \"{t} {s}\"\nslots = { t = \"topic\", s = \"state\" }\ngold = { owner = \"a\", repo = \"{t}\", labels = [\"{t}\"], state = \"{s}\" }\n";
    let text = format!("server = \"github\"\nwriter = \"w\"\n{body}");
    let intents = Intents::from_files(vec![IntentFile { name: "github.toml".into(), text: text.into() }]);
    let found = check(&intents, &Catalogs::vendored().unwrap(), &NO_COUNTS);
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "pool topic holds [\"crash\"] twice; drop one",
            "pool topic holds \"open\", which is an enum word of list_issues; replace the value"
        ]
    );
}

#[test]
fn tools_without_frames_are_counted_up() {
    let intents = Intents::from_files(Vec::new());
    let found = check(&intents, &Catalogs::vendored().unwrap(), &CheckOptions::default());
    assert_eq!(found.len(), 78 * 2 + 1);
    assert_eq!(found[0].to_string(), "tool everything/echo has 0 scored frames of 6; write 6 more");
}
