//! Rates, correlations and planted losses over many draws.

use std::{collections::BTreeMap, sync::Arc};

use bench_mock_model::{
    AnswerKey,
    Behaviour::{self, Clustered, Degraded, Noisy, Oracle},
    ClusterLoss, Draw, LossPlan, LossTarget, Noise, ScriptedModel,
};

use crate::support::{abstain, ask, ask_bytes, draw, git_log, git_status, noise, request, said, task, user};

const RIGHT: &str = r#"git__git_log {"repo_path":"/srv/app","max_count":3}"#;

/// Outcomes of tasks in frames of three: `true` is right.
fn outcomes(model: &ScriptedModel, bodies: &[Vec<u8>], arm: &str) -> Vec<bool> {
    let right = |(n, body): (usize, &Vec<u8>)| said(&ask_bytes(model, body, &draw(&format!("t{n}"), arm))) == RIGHT;
    bodies.iter().enumerate().map(right).collect()
}

struct World {
    bodies: Vec<Vec<u8>>,
    key: Arc<AnswerKey>,
}

impl World {
    fn new(tasks: usize) -> Self {
        let tasks: Vec<_> =
            (0..tasks).map(|n| task(&format!("task {n}"), &format!("git/git_log/f{}", n / 3))).collect();
        let bodies = tasks
            .iter()
            .map(|task| request(&[git_log(), git_status()], &user(&task.utterance)).to_string().into_bytes())
            .collect();
        Self { bodies, key: Arc::new(AnswerKey::of_tasks(&tasks)) }
    }

    fn run(&self, behaviour: Behaviour, noise: Noise, arm: &str) -> Vec<bool> {
        outcomes(&ScriptedModel::new(behaviour, Arc::clone(&self.key), noise), &self.bodies, arm)
    }
}

fn wrong(outcomes: &[bool]) -> usize {
    outcomes.iter().filter(|right| !**right).count()
}

fn discordant(a: &[bool], b: &[bool]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// Frames of which some but not all tasks are wrong.
fn split_frames(outcomes: &[bool]) -> usize {
    outcomes.chunks(3).filter(|frame| (1..frame.len()).contains(&wrong(frame))).count()
}

#[test]
fn noisy_errs_on_two_percent_and_half_of_that_is_the_tasks_own() {
    let world = World::new(9_000);
    let raw = world.run(Noisy, noise(), "raw");
    let again = world.run(Noisy, noise(), "raw-again");
    // 0.8 % + 1.2 % of 9,000, four standard deviations on either side.
    assert!(
        (127..=233).contains(&wrong(&raw)) && (127..=233).contains(&wrong(&again)),
        "{} {}",
        wrong(&raw),
        wrong(&again)
    );
    // 2 · 0.02 · 0.98 · 0.5 of 9,000.
    let discordant = discordant(&raw, &again);
    assert!((123..=230).contains(&discordant), "{discordant}");
}

#[test]
fn clustered_errs_by_whole_frames_and_under_each_arm_anew() {
    let world = World::new(9_000);
    let raw = world.run(Clustered, noise(), "raw");
    assert!((87..=270).contains(&wrong(&raw)), "{}", wrong(&raw));
    assert_eq!(split_frames(&raw), 0);
    assert!(discordant(&raw, &world.run(Clustered, noise(), "L1")) > 150);
}

#[test]
fn degraded_loses_five_points_but_under_the_references() {
    let world = World::new(6_000);
    for (arm, low, high) in [("raw", 76, 163), ("raw-again", 76, 163), ("L0", 335, 493)] {
        let wrong = wrong(&world.run(Degraded, noise(), arm));
        assert!((low..=high).contains(&wrong), "{arm}: {wrong}");
    }
}

#[test]
fn a_planted_loss_hits_its_arm_at_its_rate_and_correlation() {
    let world = World::new(6_000);
    let planted = |plan: LossPlan| Noise { losses: BTreeMap::from([("L1".to_owned(), plan)]), ..noise() };
    let iid = planted(LossPlan { iid_ppm: 20_000, ..LossPlan::default() });
    assert_eq!(wrong(&world.run(Oracle, iid.clone(), "raw")), 0);
    let lost = world.run(Oracle, iid, "L1");
    assert!((77..=163).contains(&wrong(&lost)), "{}", wrong(&lost));
    let per_frame = ClusterLoss { ppm: 20_000, correlation_ppm: 1_000_000 };
    let lost = world.run(Oracle, planted(LossPlan { per_frame, ..LossPlan::default() }), "L1");
    assert!((45..=195).contains(&wrong(&lost)), "{}", wrong(&lost));
    assert_eq!(split_frames(&lost), 0);
    let per_tool = ClusterLoss { ppm: 500_000, correlation_ppm: 1_000_000 };
    let lost = wrong(&world.run(Oracle, planted(LossPlan { per_tool, ..LossPlan::default() }), "L1"));
    assert!(lost == 0 || lost == 6_000, "{lost}");
    let frames = BTreeMap::from([("git/git_log/f7".to_owned(), 1_000_000)]);
    let lost = world.run(Oracle, planted(LossPlan { frames, ..LossPlan::default() }), "L1");
    assert_eq!((wrong(&lost), &lost[21..24]), (3, &[false; 3][..]));
    let tools = BTreeMap::from([("git/git_log".to_owned(), 1_000_000)]);
    assert_eq!(wrong(&world.run(Oracle, planted(LossPlan { tools, ..LossPlan::default() }), "L1")), 6_000);
}

#[test]
fn a_correlation_between_none_and_all_lies_between() {
    let world = World::new(9_000);
    let pairs = |correlation_ppm| {
        let per_frame = ClusterLoss { ppm: 300_000, correlation_ppm };
        let plan = LossPlan { per_frame, ..LossPlan::default() };
        let lost = world.run(Oracle, Noise { losses: BTreeMap::from([("L1".to_owned(), plan)]), ..noise() }, "L1");
        // Both of the first two tasks of a frame: p² + ρ p (1 − p) of 3,000 frames.
        lost.chunks(3).filter(|frame| !frame[0] && !frame[1]).count()
    };
    // 0.09, 0.153 and 0.3 of 3,000, four standard deviations on either side.
    let counts = [pairs(0), pairs(300_000), pairs(1_000_000)];
    assert!((208..=332).contains(&counts[0]), "{counts:?}");
    assert!((381..=537).contains(&counts[1]), "{counts:?}");
    assert!((800..=1_000).contains(&counts[2]), "{counts:?}");
}

#[test]
fn a_planted_selection_loss_calls_another_tool() {
    let world = World::new(30);
    let plan = LossPlan { target: LossTarget::Selection, iid_ppm: 1_000_000, ..LossPlan::default() };
    let noise = Noise { losses: BTreeMap::from([("L1".to_owned(), plan)]), ..noise() };
    let model = ScriptedModel::new(Oracle, Arc::clone(&world.key), noise);
    for (n, body) in world.bodies.iter().enumerate() {
        let said = said(&ask_bytes(&model, body, &draw(&format!("t{n}"), "L1")));
        assert_eq!(said, r#"git__git_status {"repo_path":"/srv/app"}"#);
    }
}

#[test]
fn a_mistake_is_the_same_in_every_turn_of_an_episode() {
    let world = World::new(2_000);
    let model = ScriptedModel::new(Noisy, Arc::clone(&world.key), noise());
    for (n, body) in world.bodies.iter().enumerate() {
        let task = format!("t{n}");
        let turn = |turn| said(&ask_bytes(&model, body, &Draw { task: &task, arm: "raw", turn }));
        assert_eq!(turn(1), turn(2));
    }
}

#[test]
fn noisy_calls_where_nothing_fits_at_its_rate() {
    let model = ScriptedModel::new(Noisy, Arc::new(AnswerKey::of_tasks(&[abstain("no")])), noise());
    let body = request(&[git_log()], &user("no"));
    let called =
        (0..6_000).filter(|n| said(&ask(&model, &body, &draw(&format!("t{n}"), "raw"))).starts_with("git__")).count();
    assert!((77..=163).contains(&called), "{called}");
}
