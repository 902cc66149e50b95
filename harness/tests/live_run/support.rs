//! What the tests of live runs share.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use assert_cmd::Command;
use bench_harness::{
    run::{
        mock::Mock,
        offline::{Setting, run_episode},
    },
    wire::Settings,
};
use bench_mock_model::Behaviour;
use bench_results::record::{EpisodeRecord, Record, Tail, Usage};

use crate::{
    common::bench,
    server::{MockServer, prepared},
};

pub(crate) const ARMS: [&str; 3] = ["raw", "L0", "L2"];

/// The command of a run against the server, in `folder`.
pub(crate) fn live(folder: &Path, server: &MockServer, tasks: u64) -> Command {
    let mut command = bench(folder);
    command.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0,L2", "--budget-usd", "20"]);
    command.args(["--tasks", &tasks.to_string()]);
    command
}

/// The only run below a folder's `results/runs`.
pub(crate) fn only_run(folder: &Path) -> PathBuf {
    let runs: Vec<_> = fs::read_dir(folder.join("results/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

pub(crate) fn episodes(run: &Path) -> BTreeMap<(String, String), EpisodeRecord> {
    let record = Record::open(run).unwrap();
    let lines = record.episodes(Tail::Report).unwrap().map(|line| line.unwrap());
    lines.map(|line| ((line.task.0.clone(), line.arm.to_string()), line)).collect()
}

/// What a run in process comes to, unbilled.
pub(crate) fn in_process(arms: &[&str], tasks: u64) -> BTreeMap<(String, String), EpisodeRecord> {
    let (inputs, prepared) = prepared(arms, tasks);
    let model = Mock::new(Behaviour::Noisy, &inputs.protocol.mock, &prepared);
    let settings = Settings { service_tier: Some("standard_only".to_owned()), ..Settings::of(&inputs.protocol) };
    let setting = Setting::scripted(&inputs, &settings);
    let family = &prepared.families[0];
    let mut all = BTreeMap::new();
    for index in 0..family.tasks.len() {
        let task = family.tasks.task(index).unwrap();
        for arm in &family.arms {
            let system = family.system(&inputs.protocol);
            let trace = run_episode(&task, arm.as_ref(), system, setting, &model, &mut Vec::new()).unwrap();
            all.insert((trace.record.task.0.clone(), trace.record.arm.to_string()), trace.record);
        }
    }
    all
}

/// Usage and money depend on which request warmed a cache; everything else must be the same.
pub(crate) fn outcome(mut episode: EpisodeRecord) -> EpisodeRecord {
    episode.usage = Usage::default();
    episode.billed = 0;
    episode
}

#[track_caller]
pub(crate) fn assert_same_outcomes(run: &Path, tasks: u64) {
    let expected = in_process(&ARMS, tasks);
    let found = episodes(run);
    assert_eq!(found.len(), expected.len());
    for (key, episode) in found {
        assert_eq!(outcome(episode), outcome(expected[&key].clone()), "{key:?}");
    }
}
