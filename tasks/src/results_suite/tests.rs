//! What must hold for every item of every seed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{
    Kind, ResultGenerator, ResultTask, answer,
    generate::{SOURCES, stands_in},
    losable::{losable, plain_digest},
    recipes::RECIPES,
};
use crate::catalog::Catalogs;

/// The planned size of the suite.
const N: u64 = 630;

fn suite(seed: u8, n: u64) -> ResultGenerator {
    ResultGenerator::new(&Catalogs::vendored().unwrap(), [seed; 32], n).unwrap()
}

fn text(task: &ResultTask) -> String {
    task.result.joined_text()
}

fn answer_line(text: &str) -> String {
    format!("Answer: {text}")
}

#[test]
fn every_item_has_its_own_frame_and_identity() {
    let suite = suite(1, N);
    assert!(suite.frames() >= N);
    let all: Vec<ResultTask> = (0..suite.frames()).map(|i| suite.task(i)).collect();
    let frames: BTreeSet<_> = all.iter().map(|task| &task.frame).collect();
    assert_eq!(frames.len(), all.len(), "the step between voices must be coprime to their number");
    let utterances: BTreeSet<_> = all.iter().map(|task| &task.utterance).collect();
    assert_eq!(utterances.len(), all.len());
    let ids: BTreeSet<_> = suite.iter().map(|task| task.id).collect();
    assert_eq!(ids.len() as u64, N);
}

#[test]
fn recipes_are_unique_and_cover_every_kind_three_times() {
    let ids: BTreeSet<_> = RECIPES.iter().map(|recipe| (recipe.kind, recipe.format)).collect();
    assert_eq!(ids.len(), RECIPES.len());
    for kind in Kind::ALL {
        assert!(RECIPES.iter().filter(|recipe| recipe.kind == kind).count() >= 3, "{}", kind.name());
    }
}

#[test]
fn the_gold_follows_from_the_text_by_a_second_route() {
    for seed in [1, 2, 3] {
        let suite = suite(seed, N);
        for (i, task) in (0..).zip(suite.iter()) {
            let found = suite.reread(i, &text(&task));
            assert_eq!(
                found.as_deref(),
                Some(&*task.gold.answer),
                "{} {}\n{}\n{}",
                task.frame,
                task.id,
                task.utterance,
                text(&task)
            );
            assert!(answer::is_right(&answer_line(&task.gold.answer), &task.gold.answer));
        }
    }
}

#[test]
fn no_answer_stands_in_its_question_and_no_slot_is_left_open() {
    for task in suite(1, N).iter().chain(suite(2, N).iter()) {
        let gold = &task.gold.answer;
        assert!(!gold.is_empty() && !gold.contains('\n'), "{}", task.frame);
        assert_eq!(stands_in(gold, &task.utterance), gold == "none", "{}: {gold}\n{}", task.frame, task.utterance);
        assert!(!task.utterance.contains(['{', '}']), "{}", task.utterance);
        let unclear = ["..", "??", "?.", " ,"].iter().any(|mark| task.utterance.contains(mark));
        assert!(!unclear, "{}", task.utterance);
    }
}

/// Utterance length aside, what a digest acts on: levels.md says 200 tokens; at 4.5 bytes or less per token of such text
/// 1,000 bytes are above that.
#[test]
fn every_text_is_long_enough_to_be_digested_and_the_mean_stays_payable() {
    let suite = suite(1, N);
    let lengths: Vec<usize> = suite.iter().map(|task| text(&task).len()).collect();
    let shortest = suite.iter().min_by_key(|task| text(task).len()).unwrap();
    assert!(text(&shortest).len() >= 1000, "{}", text(&shortest));
    let mean = lengths.iter().sum::<usize>() / lengths.len();
    assert!((2500..4500).contains(&mean), "{mean}");
    assert!(lengths.iter().all(|&length| length < 12_000));
}

#[test]
fn every_call_is_valid_and_its_tool_is_not_exempt_from_digests() {
    let catalogs = Catalogs::vendored().unwrap();
    let mut used = BTreeSet::new();
    for task in suite(1, N).iter() {
        let tool = catalogs.tool(&task.server, &task.tool).unwrap();
        tool.validate(&task.arguments).unwrap();
        used.insert((task.server.to_string(), task.tool.to_string()));
    }
    let sources: BTreeSet<_> =
        SOURCES.iter().map(|(server, tool)| ((*server).to_owned(), (*tool).to_owned())).collect();
    assert_eq!(used, sources);
    let readers = ["read", "view", "open", "cat", "show", "contents", "head", "tail", "source", "blob"];
    for (server, name) in SOURCES {
        let tool = catalogs.tool(server, name).unwrap();
        assert!(tool.output_schema.is_none(), "{name}");
        assert!(!name.split(['_', '-']).any(|word| readers.contains(&word)), "{name}");
        let about = tool.description.as_deref().unwrap_or_default().to_lowercase();
        assert!(!about.contains("content") && !about.contains("source"), "{name}: {about}");
    }
}

#[test]
fn an_item_depends_on_seed_and_place_alone() {
    let (long, short) = (suite(1, 5000), suite(1, 10));
    assert_eq!(long.task(7), short.task(7));
    assert_eq!(long.task(7), long.task(7));
    assert_ne!(long.task(7).utterance, suite(2, 10).task(7).utterance);
    assert_eq!(long.task(7).frame, suite(2, 10).task(7).frame);
    // The same frame comes again, with other records.
    let again = long.task(7 + long.frames());
    assert_eq!(again.frame, long.task(7).frame);
    assert_ne!(again.id, long.task(7).id);
}

#[test]
fn absence_is_the_answer_to_most_but_not_all_questions_after_it() {
    let suite = suite(1, 0);
    let (mut none, mut all) = (0_u64, 0_u64);
    let places = (0..).zip(RECIPES).filter(|(_, recipe)| recipe.kind == Kind::Absence).map(|(at, _)| at);
    let asked = places.flat_map(|at: u64| (0..100).map(move |block| (at, block)));
    for task in asked.map(|(at, block)| suite.task(block * suite.recipes() + at)) {
        none += u64::from(task.gold.answer == "none");
        all += 1;
    }
    assert!(none * 10 > all * 7 && none * 10 < all * 8, "{none} of {all}");
}

#[test]
fn a_reader_that_never_expands_loses_most_of_what_is_losable() {
    let suite = suite(1, N);
    let mut tables: BTreeMap<Kind, (u64, u64)> = BTreeMap::new();
    let (mut whole, mut digested) = (0, 0);
    for (i, task) in (0..).zip(suite.iter()) {
        let (text, gold) = (text(&task), &task.gold.answer);
        let digest = plain_digest(&text);
        let right = |text: &str| suite.reread(i, text).is_some_and(|found| found == *gold);
        whole += u64::from(right(&text));
        digested += u64::from(right(&digest));
        let kind = Kind::ALL.into_iter().find(|kind| *kind.name() == *task.kind).unwrap();
        let entry = tables.entry(kind).or_default();
        // An answer that still stands somewhere in the digest is not counted as lost.
        let aggregate = matches!(kind, Kind::Count | Kind::Sum | Kind::Absence);
        entry.0 += u64::from(!right(&digest) && (aggregate || !stands_in(gold, &digest)));
        entry.1 += 1;
    }
    let mut report = String::new();
    for (kind, (lost, of)) in &tables {
        let name = kind.name();
        let word = if losable(*kind) { "losable" } else { "not losable" };
        writeln!(report, "{name:<16}{lost:>4} of {of:>3}  {word}").unwrap();
        assert_eq!(losable(*kind), 2 * lost > *of, "{report}");
    }
    writeln!(report, "reader without a model: {whole} right on results, {digested} on digests, of {N}").unwrap();
    insta::assert_snapshot!(report);
    assert!(Kind::ALL.into_iter().filter(|kind| losable(*kind)).count() * 2 >= Kind::ALL.len());
    assert_eq!(whole, N);
    assert!(digested * 2 < N, "{digested}");
}

#[test]
fn items_are_frozen() {
    let suite = suite(1, N);
    for i in [0, 1, 31, 49] {
        let task = suite.task(i);
        insta::assert_snapshot!(
            format!("item_{i}"),
            format!("{}\n{}\n{}\n\n{}\n\n{}", task.id, task.frame, task.utterance, task.gold.answer, text(&task))
        );
    }
}
