use serde_json::json;

use super::*;

const HEAD: &str = "server = \"git\"\nwriter = \"w\"\n[pools.repo]\nvalues = [\"/srv/a\", \"/srv/b\", \"/srv/c\", \"/srv/d\"]\n[pools.city]\ncolumns = [\"say\", \"zone\"]\nrows = [[\"Osaka\", \"Asia/Tokyo\"]]\n";

fn read(texts: &[&str]) -> Intents {
    let files = texts
        .iter()
        .enumerate()
        .map(|(at, text)| IntentFile { name: format!("f{at}.toml").into(), text: (*text).into() });
    Intents::from_files(files.collect())
}

fn frame(id: &str, body: &str) -> String {
    format!(
        "[[intent]]\ntool = \"git_log\"\n[[intent.frame]]\nid = \"{id}\"\nstratum = \"plain\"\nvoice = \"terse\"\n{body}\n"
    )
}

fn problems(text: &str) -> String {
    read(&[text]).problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn mistakes_are_told_with_file_line_frame_and_what_to_write() {
    let in_frame = |body: &str| problems(&format!("{HEAD}{}", frame("x", body)));
    let cases = [
        in_frame(
            "text = \"log of {rep}\"\nslots = { rep = \"repo\", extra = \"repo\" }\ngold = { repo_path = \"{rep}\" }",
        ),
        in_frame("text = \"log of {repp}\"\nslots = { repo = \"repo\" }"),
        in_frame("text = \"log\"\nslots = { repo = \"rep\" }"),
        in_frame("text = \"log\"\ngold = { repo_path = \"{repo}\" }"),
        in_frame("text = \"log\"\nslots = { r = \"repo\" }\ngold = { repo_path = \"{r}\" }"),
        in_frame("text = \"{c}\"\nslots = { c = \"city\" }"),
        in_frame("text = \"{c.zon}\"\nslots = { c = \"city\" }"),
        in_frame("text = \"log {\""),
        in_frame("text = \"log\"\nmatch = { repo_path = \"pth\" }"),
        in_frame("text = \"log\"\nallow = { page = 1 }"),
        in_frame("text = \"log\"\nslot = { repo = \"repo\" }"),
        in_frame("text = \"log\"\nstratum = \"plane\""),
        problems(&format!(
            "{HEAD}[[intent]]\ntool = \"t\"\n[[intent.frame]]\nid = \"x\"\nstratum = \"plane\"\nvoice = \"terse\"\ntext = \"t\"\n"
        )),
        problems("writer = \"w\"\n"),
        problems(
            "server = \"git\"\nwriter = \"w\"\n[pools.a]\ntemplate = \"{b}\"\nparts.b = \"c\"\n[pools.c]\ntemplate = \"{a}\"\nparts.a = \"a\"\n[pools.e]\nvalues = []\n[pools.f]\ntemplate = \"{x}\"\nparts.x = [1]\nparts.y = [1, 2]\n[pools.g]\nvalues = [2026-01-01]\n[pools.h]\ncolumns = [\"a\"]\nrows = [[1, 2]]\n[pools.i]\nfrom = 1\n",
        ),
    ];
    insta::assert_snapshot!(cases.join("\n---\n"));
}

#[test]
fn two_frames_of_one_id_are_refused_over_files() {
    let text = format!("{HEAD}{}", frame("x", "text = \"log\""));
    let intents = read(&[&text, &text]);
    assert_eq!(intents.frames().len(), 1);
    assert_eq!(
        intents.problems()[0].to_string(),
        "f1.toml:11: frame git/git_log/x: the id is already used in f0.toml, line 11; ids are unique within tool and server over all files"
    );
}

#[test]
fn files_are_merged_in_name_order_whatever_order_they_come_in() {
    let text = |id: &str| format!("{HEAD}{}", frame(id, "text = \"log\""));
    let (a, b) = (text("a"), text("b"));
    let mut files: Vec<IntentFile> = [("2.toml", &b), ("1.toml", &a)]
        .map(|(name, text)| IntentFile { name: name.into(), text: text.as_str().into() })
        .into();
    let forward = Intents::from_files(files.clone());
    files.reverse();
    let backward = Intents::from_files(files);
    assert_eq!(forward.frames(), backward.frames());
    assert_eq!(forward.digest(), backward.digest());
    assert_eq!(
        forward.of_tool("git", "git_log").map(|frame| &*frame.id).collect::<Vec<_>>(),
        ["git/git_log/a", "git/git_log/b"]
    );
}

#[test]
fn slots_of_one_pool_within_a_tool_get_disjoint_shares() {
    let body = "text = \"{a} and {b}\"\nslots = { a = \"repo\", b = \"repo\" }\ngold = { repo_path = \"{a}\" }";
    let intents = read(&[&format!("{HEAD}{}{}", frame("x", body), frame("y", body))]);
    let offsets: Vec<_> = intents
        .frames()
        .iter()
        .flat_map(|frame| &frame.slots)
        .map(|slot| (slot.share.offset, slot.share.stride, slot.share.len))
        .collect();
    assert_eq!(offsets, [(0, 4, 1), (1, 4, 1), (2, 4, 1), (3, 4, 1)]);
}

#[test]
fn alternatives_inherit_matchers_and_values_of_matchers_take_slots() {
    let body = "text = \"{r}\"\nslots = { r = \"repo\" }\ngold = { repo_path = \"{r}\", x = [\"{r}\", { y = \"at {r}\" }] }\nmatch = { repo_path = { any-of = [\"{r}/.git\"] } }\nallow = { n = [1] }\nalso = [{ tool = \"git_show\", server = \"git2\", arguments = { repo_path = \"{r}\" } }]";
    let intents = read(&[&format!("{HEAD}{}", frame("x", body))]);
    assert_eq!(intents.problems(), []);
    let frame = &intents.frames()[0];
    let rows = vec![frame.slots[0].pool.get(1)];
    assert_eq!(
        Value::from(frame.gold[0].fill(&rows)),
        json!({"repo_path": "/srv/b", "x": ["/srv/b", {"y": "at /srv/b"}]})
    );
    assert_eq!(
        serde_json::to_value(frame.gold[0].fill_matchers(&rows)).unwrap(),
        json!({"n": {"allow": [1]}, "repo_path": {"any-of": ["/srv/b/.git"]}})
    );
    assert_eq!((&*frame.gold[1].server, &*frame.gold[1].tool), ("git2", "git_show"));
    assert_eq!(
        serde_json::to_value(frame.gold[1].fill_matchers(&rows)).unwrap(),
        json!({"repo_path": {"any-of": ["/srv/b/.git"]}})
    );
}

#[test]
fn an_intents_allowances_hold_where_gold_and_frame_say_nothing() {
    let body = |gold: &str, more: &str| {
        let frame = frame("x", &format!("text = \"t\"\ngold = {{ {gold} }}\n{more}"));
        format!(
            "{HEAD}{}",
            frame.replace("tool = \"git_log\"\n", "tool = \"git_log\"\nallow = { n = [10], m = [1] }\n")
        )
    };
    let matchers = |text: &str| {
        let intents = read(&[text]);
        assert_eq!(intents.problems(), []);
        serde_json::to_value(intents.frames()[0].gold[0].fill_matchers(&[])).unwrap()
    };
    assert_eq!(matchers(&body("", "")), json!({"m": {"allow": [1]}, "n": {"allow": [10]}}));
    assert_eq!(matchers(&body("n = 3", "")), json!({"m": {"allow": [1]}}));
    assert_eq!(matchers(&body("n = 3", "allow = { m = [2] }")), json!({"m": {"allow": [2]}}));
}

#[test]
fn the_readme_s_example_is_read_as_it_says() {
    let readme = include_str!("../../intents/README.md");
    let example = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let intents = read(&[example]);
    assert_eq!(intents.problems(), []);
    let frame = &intents.frames()[0];
    assert_eq!((&*frame.id, frame.stratum, frame.voice), ("git/git_log/last-n", Stratum::Optional, Voice::Terse));
    let rows: Vec<_> = frame.slots.iter().map(|slot| slot.pool.get(0)).collect();
    assert_eq!(frame.text.fill(&rows), "last 3 commits in /srv/checkouts/billing-api");
    assert_eq!(
        Value::from(frame.gold[0].fill(&rows)),
        json!({"repo_path": "/srv/checkouts/billing-api", "max_count": 3})
    );
}
