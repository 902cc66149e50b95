//! That it does not matter how much of the logs is held, nor in which order they are.

use std::{collections::BTreeMap, fs, path::Path};

use bench_protocol::{
    digest::Digest,
    rng::{shuffle, stream},
};
use bench_results::record::{ATTEMPTS, AttemptLine, EPISODES, Settled};

use super::*;
use crate::{
    bundle::{self, Limits},
    run::{
        live::{folder, money},
        prepare::{Prepared, RunSpec},
    },
};

/// The published record of a live run.
fn published() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/published/small-model/run.tar.gz");
    bundle::unpack(&path, folder.path(), &Limits::default()).unwrap();
    folder
}

struct Came {
    replayed: Replayed,
    certificate: Vec<u8>,
    /// In the order in which they came.
    episodes: Vec<EpisodeRecord>,
}

fn replayed(folder: &Path, held: usize) -> Came {
    let reader = Record::open(folder).unwrap();
    let manifest = reader.manifest();
    let inputs = Inputs::of_record(&reader.inputs()).unwrap();
    let terms = folder::terms(folder).unwrap().unwrap();
    let prepared = Prepared::new(&inputs, &RunSpec::of_manifest(manifest)).unwrap();
    let family = &prepared.families[0];
    let planned = terms.planned(&inputs, family);
    let money = money::of_record(folder, &terms).unwrap();
    let mut judge = Judge::of_planned(&inputs, &prepared, &planned).unwrap();
    let live = Live {
        reader: &reader,
        inputs: &inputs,
        family,
        planned: &planned,
        terms: &terms,
        money: &money,
        stage: Stage::Closed,
    };
    let mut episodes = Vec::new();
    let (replayed, sums) = replay_within(held, &live, &mut judge, &mut |one| episodes.push(one)).unwrap();
    // The log's own digest is that of its order.
    let facts = money::facts(manifest, &terms, sums.books, &Digest::of(b"log"));
    let certificate = judge.conclude(manifest, &facts).unwrap().certificate.bytes().unwrap();
    Came { replayed, certificate, episodes }
}

/// Both logs with their episodes in another order, numbered anew.
fn shuffled(folder: &Path) {
    let record = Record::open(folder).unwrap();
    let mut attempts: BTreeMap<u64, (Opened, Option<Settled>)> = BTreeMap::new();
    for line in record.attempts(Tail::Report).unwrap() {
        match line.unwrap() {
            AttemptLine::Opened(opened) => {
                attempts.insert(opened.n, (opened, None));
            }
            AttemptLine::Settled(settled) => {
                let n = settled.n;
                attempts.get_mut(&n).unwrap().1 = Some(settled);
            }
        }
    }
    let mut of_episodes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (opened, settled) in attempts.into_values() {
        let key = (opened.draw.task.clone(), opened.draw.arm.clone());
        of_episodes.entry(key).or_default().push((opened, settled.unwrap()));
    }
    let mut order: Vec<_> = of_episodes.into_values().collect();
    shuffle(&mut stream([5; 32], 0), &mut order);
    let mut log = String::new();
    for (n, (opened, settled)) in (0..).zip(order.into_iter().flatten()) {
        for line in [serde_json::to_string(&Opened { n, ..opened }), serde_json::to_string(&Settled { n, ..settled })] {
            log += &(line.unwrap() + "\n");
        }
    }
    let text = fs::read_to_string(folder.join(EPISODES)).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    shuffle(&mut stream([5; 32], 1), &mut lines);
    fs::write(folder.join(EPISODES), lines.concat()).unwrap();
    fs::write(folder.join(ATTEMPTS), log).unwrap();
}

#[track_caller]
fn same(came: &Came, expected: &Came) {
    let outcomes = |one: &Came| {
        let Replayed { schedule, surfaces, episodes, books, .. } = &one.replayed;
        [schedule, surfaces, episodes, books].map(|part| part.as_ref().unwrap().clone())
    };
    assert_eq!(outcomes(came), outcomes(expected));
    assert!(came.certificate == expected.certificate);
}

#[test]
fn a_record_verifies_alike_however_little_of_its_logs_is_held_and_in_whatever_order_they_are() {
    let folder = published();
    let expected = replayed(folder.path(), HELD_AT_MOST);
    let recorded = Record::open(folder.path()).unwrap().episodes(Tail::Report).unwrap();
    let recorded: Vec<_> = recorded.map(|line| line.unwrap()).collect();
    assert!(expected.episodes == recorded, "what is undisturbed comes in the order of the schedule");
    for held in [0, 20_000] {
        same(&replayed(folder.path(), held), &expected);
    }
    shuffled(folder.path());
    for held in [0, 20_000, HELD_AT_MOST] {
        same(&replayed(folder.path(), held), &expected);
    }
}

#[test]
fn an_episode_whose_line_misstates_its_length_is_named_for_that_and_for_nothing_else() {
    let folder = published();
    let path = folder.path().join(EPISODES);
    let text = fs::read_to_string(&path).unwrap();
    let longer = text.lines().find(|line| line.contains("\"turns\":2,")).unwrap();
    for turns in ["0", "1", "3"] {
        let wrong = longer.replacen("\"turns\":2,", &format!("\"turns\":{turns},"), 1);
        fs::write(&path, text.replacen(longer, &wrong, 1)).unwrap();
        let Replayed { schedule, episodes, .. } = replayed(folder.path(), HELD_AT_MOST).replayed;
        assert!(schedule.is_ok(), "{turns}: {schedule:?}");
        let why = episodes.unwrap_err();
        assert!(why.contains(&format!("at /turns: recorded {turns}, recomputed 2")), "{why}");
    }
}

#[test]
fn an_attempt_that_no_episode_needs_is_named() {
    let folder = published();
    let path = folder.path().join(ATTEMPTS);
    let text = fs::read_to_string(&path).unwrap();
    let lines = || text.lines().map(|line| AttemptLine::parse(line).unwrap());
    let n = lines().filter(|line| matches!(line, AttemptLine::Opened(_))).count() as u64;
    let opened = lines().find_map(|line| if let AttemptLine::Opened(opened) = line { Some(opened) } else { None });
    let of_it = opened.clone().unwrap().n;
    let settled = lines().find_map(|line| match line {
        AttemptLine::Settled(settled) if settled.n == of_it => Some(settled),
        _ => None,
    });
    for (task, arm) in [(None, None), (Some("t0000000000000000"), None), (None, Some("another"))] {
        let mut opened = opened.clone().unwrap();
        opened.n = n;
        opened.attempt += 1;
        if let Some(task) = task {
            opened.draw.task.0 = task.to_owned();
        }
        if let Some(arm) = arm {
            opened.draw.arm = arm.into();
        }
        let settled = Settled { n, ..settled.clone().unwrap() };
        let more = [serde_json::to_string(&opened), serde_json::to_string(&settled)].map(|line| line.unwrap() + "\n");
        fs::write(&path, text.clone() + &more.concat()).unwrap();
        for held in [0, HELD_AT_MOST] {
            let why = replayed(folder.path(), held).replayed.schedule.unwrap_err();
            assert!(why.contains(&format!("attempt {n}")), "{held}: {why}");
        }
    }
}
