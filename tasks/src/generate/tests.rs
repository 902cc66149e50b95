use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::intent::IntentFile;

const SUITE: &str = r#"
server = "git"
writer = "w"
[pools.repo]
template = "/srv/{team}/{name}-{n}"
parts.team = ["billing", "atlas", "Größe 1"]
parts.name = ["api", "web"]
parts.n = { from = 1, to = 9 }
[pools.n]
from = 1
to = 30
[[intent]]
tool = "git_log"
match = { repo_path = "path" }
[[intent.frame]]
id = "a"
stratum = "optional"
voice = "terse"
text = "last {n} commits in {repo}"
slots = { n = "n", repo = "repo" }
gold = { repo_path = "{repo}", max_count = "{n}" }
[[intent.frame]]
id = "b"
stratum = "plain"
voice = "polite"
text = "Which commits are in {repo}?"
slots = { repo = "repo" }
gold = { repo_path = "{repo}" }
[[intent.frame]]
id = "d"
dev = true
stratum = "plain"
voice = "polite"
text = "Pilot: history of {repo}"
slots = { repo = "repo" }
gold = { repo_path = "{repo}" }
[[intent]]
tool = "git_status"
[[intent.frame]]
id = "a"
stratum = "paraphrase"
voice = "indirect"
text = "Is anything uncommitted in {repo}?"
slots = { repo = "repo" }
gold = { repo_path = "{repo}" }
"#;

const ABSTAIN: &str = r#"
suite = "abstain"
writer = "w"
[pools.doc]
values = ["the lease", "the deed", "the will"]
[[frame]]
id = "translate"
reason = "no-tool"
voice = "polite"
text = "Could you translate {doc} into Dutch?"
slots = { doc = "doc" }
"#;

fn intents(extra: &str) -> Intents {
    let files = [("git.toml", format!("{SUITE}{extra}")), ("abstain.toml", ABSTAIN.to_owned())];
    Intents::from_files(
        files.into_iter().map(|(name, text)| IntentFile { name: name.into(), text: text.into() }).collect(),
    )
}

fn plan(tool_tasks: u64, abstain_tasks: u64) -> Plan {
    Plan {
        tool_tasks,
        abstain_tasks,
        frames_per_tool: 2,
        abstain_frames: 1,
        frames: FrameSet::Scored,
        allow_incomplete: true,
    }
}

fn generator(seed: u8, plan: Plan) -> Generator {
    Generator::new(&intents(""), &Catalogs::vendored().unwrap(), [seed; 32], plan).unwrap()
}

fn lines(generator: &Generator) -> String {
    generator.iter().map(|task| serde_json::to_string(&task).unwrap() + "\n").collect()
}

#[test]
fn the_first_tasks_are_these_bytes() {
    insta::assert_snapshot!(lines(&generator(1, plan(6, 2))));
}

#[test]
fn two_generators_of_one_seed_agree_and_of_two_seeds_differ() {
    assert_eq!(lines(&generator(1, plan(40, 4))), lines(&generator(1, plan(40, 4))));
    assert_ne!(lines(&generator(1, plan(40, 4))), lines(&generator(2, plan(40, 4))));
}

#[test]
fn a_task_is_the_same_alone_as_in_a_row() {
    let generator = generator(3, plan(50, 5));
    let all: Vec<Task> = generator.iter().collect();
    assert_eq!(all.len(), 55);
    for index in [54, 0, 17] {
        assert_eq!(generator.task(index).as_ref(), all.get(usize::try_from(index).unwrap()));
    }
    assert_eq!(generator.task(55), None);
}

#[test]
fn frames_take_turns_and_dev_frames_stay_out() {
    let frames: Vec<String> = generator(1, plan(6, 0)).iter().map(|task| task.frame.to_string()).collect();
    let turn = ["git/git_status/a", "git/git_log/a", "git/git_log/b"];
    assert_eq!(frames, [turn, turn].concat());
    let dev = generator(1, Plan { frames: FrameSet::Dev, ..plan(2, 0) });
    assert!(dev.iter().all(|task| &*task.frame == "git/git_log/d"));
}

#[test]
fn no_value_repeats_within_a_tool_until_its_pool_is_used_up() {
    // Three frames of git_log share 54 paths, 18 each; 36 items of 2 scored frames use 18 each.
    let generator = generator(5, Plan { frames_per_tool: 2, ..plan(54, 0) });
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for task in generator.iter().filter(|task| task.tool.as_deref() == Some("git_log")) {
        let path = task.gold[0].arguments["repo_path"].as_str().unwrap().to_owned();
        assert!(seen.entry("git_log".into()).or_default().insert(path), "{}", task.utterance);
    }
    assert_eq!(seen["git_log"].len(), 36);
}

#[test]
fn ids_are_unique_even_when_a_frame_starts_over() {
    let generator = generator(1, plan(0, 20));
    let tasks: Vec<Task> = generator.iter().collect();
    assert_eq!(tasks.iter().map(|task| &task.id).collect::<BTreeSet<_>>().len(), 20);
    assert_eq!(tasks.iter().map(|task| &task.utterance).collect::<BTreeSet<_>>().len(), 3);
    assert!(tasks.iter().all(|task| task.gold.is_empty() && task.tool.is_none() && task.id.0.len() == 17));
}

#[test]
fn too_few_frames_are_refused_unless_allowed() {
    let error = |plan: Plan| {
        Generator::new(&intents(""), &Catalogs::vendored().unwrap(), [0; 32], plan).unwrap_err().to_string()
    };
    assert_eq!(
        error(Plan { allow_incomplete: false, ..plan(6, 0) }),
        "tool everything/echo has 0 scored frames of the 2 that the plan needs; write more in intents/ or lower the plan"
    );
    assert_eq!(
        error(Plan { allow_incomplete: false, abstain_frames: 9, ..plan(0, 1) }),
        "tool abstain has 1 scored frame of the 9 that the plan needs; write more in intents/ or lower the plan"
    );
    assert_eq!(
        error(Plan { frames_per_tool: 0, ..plan(6, 0) }),
        "plan: asks for 6 tool tasks, but there is no tool frame to make them from"
    );
}

#[test]
fn equal_utterances_with_different_golds_are_refused() {
    let twin = r#"
[pools.same]
values = ["/srv/x"]
[[intent]]
tool = "git_add"
[[intent.frame]]
id = "x"
stratum = "plain"
voice = "terse"
text = "look at {p}"
slots = { p = "same" }
gold = { repo_path = "{p}", files = ["."] }
[[intent]]
tool = "git_reset"
[[intent.frame]]
id = "y"
stratum = "plain"
voice = "terse"
text = "look at {p}"
slots = { p = "same" }
gold = { repo_path = "{p}" }
"#;
    let error = Generator::new(&intents(twin), &Catalogs::vendored().unwrap(), [0; 32], plan(20, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "frames git/git_add/x and git/git_reset/y both say \"look at /srv/x\" but want different calls; change one text or its slots"
    );
}

#[test]
fn intents_with_errors_make_no_tasks() {
    let broken = "[[intent]]\ntool = \"git_add\"\n[[intent.frame]]\nid = \"x\"\nstratum = \"plain\"\nvoice = \"terse\"\ntext = \"{q}\"\n";
    let error =
        Generator::new(&intents(broken), &Catalogs::vendored().unwrap(), [0; 32], plan(1, 0)).unwrap_err().to_string();
    assert!(
        error.starts_with("1 error in the intents, first: git.toml:") && error.contains("there is no slot {q}"),
        "{error}"
    );
}
