//! The error rate of the rule through the whole program. `just simulate-program` runs the large version.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::num::NonZeroUsize;

use bench_harness::{
    inputs::{Inputs, Overrides},
    run::planted::{Defect, Planted, PlantedRates, Size, planted},
};

const SEED: &str = "test";
const ALPHA: f64 = 0.05;
const SMALL: Size = Size { frames_per_tool: 1, tasks_per_frame: 3 };

fn rates(kind: Planted, size: Size, runs: u64) -> PlantedRates {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    planted(&inputs, kind, size, runs, SEED, NonZeroUsize::new(2).unwrap()).unwrap()
}

#[test]
fn a_level_that_loses_the_margin_in_whole_frames_passes_for_independent_tasks_and_not_under_the_rule() {
    let rates = rates(Planted::WholeFrames, Size { frames_per_tool: 1, tasks_per_frame: 6 }, 40);
    // The planting is one in which G3 decides: without it the level would be certified too often.
    assert!(rates.as_independent as f64 > rates.bound(ALPHA), "{rates:?}");
    assert_eq!(rates.defects(ALPHA), [], "{rates:?}");
}

#[test]
fn a_level_that_loses_the_margin_in_tools_is_tool_robust_no_oftener_than_alpha() {
    let rates = rates(Planted::Tools, SMALL, 20);
    assert_eq!(rates.defects(ALPHA), [], "{rates:?}");
}

#[test]
fn a_level_that_loses_nothing_is_certified() {
    // Without this, a rule that never certifies would pass the tests above.
    let rates = rates(Planted::None, SMALL, 3);
    assert_eq!((rates.certified, rates.tool_robust, rates.no_verdict), (3, 3, 0), "{rates:?}");
    assert_eq!(rates.defects(ALPHA), [], "{rates:?}");
}

#[test]
fn each_thing_that_speaks_against_rule_or_runs_is_a_defect_of_its_own() {
    let sound = PlantedRates {
        planted: Planted::Frames,
        runs: 100,
        tasks: 468,
        certified: 5,
        tool_robust: 0,
        no_verdict: 0,
        as_independent: 12,
        mean_loss: 0.0503,
        mean_loss_se: 0.0014,
    };
    assert_eq!(sound.defects(ALPHA), []);
    // 5 + 3·√4.75 = 11.54
    let with = |change: fn(&mut PlantedRates)| {
        let mut rates = sound.clone();
        change(&mut rates);
        rates.defects(ALPHA)
    };
    assert_eq!(with(|rates| rates.certified = 11), []);
    assert_eq!(with(|rates| rates.certified = 12), [Defect::TooOften]);
    assert_eq!(with(|rates| rates.no_verdict = 1), [Defect::NoVerdict]);
    assert_eq!(with(|rates| rates.mean_loss = 0.044), [Defect::NotAsPlanted]);
    assert_eq!(with(|rates| (rates.planted, rates.certified) = (Planted::Tools, 100)), []);
    assert_eq!(with(|rates| (rates.planted, rates.tool_robust) = (Planted::Tools, 12)), [Defect::TooOften]);
    let harmless = |certified: u64| {
        PlantedRates { planted: Planted::None, certified, mean_loss: 0.0, ..sound.clone() }.defects(ALPHA)
    };
    assert_eq!(harmless(90), []);
    assert_eq!(harmless(89), [Defect::TooSeldom]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let run =
        |threads| planted(&inputs, Planted::NoisyFrames, SMALL, 3, SEED, NonZeroUsize::new(threads).unwrap()).unwrap();
    assert_eq!(run(1), run(3));
}
