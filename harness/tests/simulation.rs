//! The error rate of the rule through the whole program. `just simulate-program` runs the large version.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::num::NonZeroUsize;

use bench_harness::{
    inputs::{Inputs, Overrides},
    run::planted::{Planted, PlantedRates, planted},
};

const SEED: &str = "test";

fn rates(kind: Planted, runs: u64) -> PlantedRates {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    planted(&inputs, kind, 1, runs, SEED, NonZeroUsize::new(2).unwrap()).unwrap()
}

/// Losses at exactly the margin, up to four standard errors of clustered losses.
fn is_at_the_margin(rates: &PlantedRates, deff: f64) {
    let standard_error = (0.05 * 0.95 * deff / (rates.runs * rates.tasks) as f64).sqrt();
    assert!((rates.mean_loss - 0.05).abs() < 4.0 * standard_error, "{rates:?}");
}

#[test]
fn a_level_that_loses_the_margin_in_frames_is_certified_no_oftener_than_alpha() {
    let rates = rates(Planted::Frames, 30);
    is_at_the_margin(&rates, 2.0);
    assert!(rates.within(0.05), "{rates:?}");
    assert_eq!(rates.no_verdict, 0);
}

#[test]
fn a_level_that_loses_the_margin_in_tools_is_tool_robust_no_oftener_than_alpha() {
    let rates = rates(Planted::Tools, 20);
    is_at_the_margin(&rates, 1.5);
    assert!(rates.within(0.05), "{rates:?}");
}

#[test]
fn a_level_that_loses_nothing_is_certified() {
    // Without this, a rule that never certifies would pass the tests above.
    let rates = rates(Planted::None, 3);
    assert_eq!((rates.certified, rates.tool_robust, rates.no_verdict), (3, 3, 0), "{rates:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let run =
        |threads| planted(&inputs, Planted::NoisyFrames, 1, 3, SEED, NonZeroUsize::new(threads).unwrap()).unwrap();
    assert_eq!(run(1), run(3));
}
