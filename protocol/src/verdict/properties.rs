//! Properties of the whole rule.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::{
    ArmInput, Cluster, Endpoint, EndpointInput, FamilyInput, Mark, PairCells, Status, evaluate,
    fixture::{cells, endpoint, healthy, rule},
};
use crate::stats::ExactCache;

/// Takes away outcomes: of each listed pair, the reference's, the arm's or both. The tools keep the same totals.
fn erase(clusters: &mut [Cluster], picks: &[(u16, u8)]) {
    for &(at, side) in picks {
        let place = usize::from(at) % clusters.len();
        let pair = [
            (Mark::Right, Mark::Right),
            (Mark::Right, Mark::Wrong),
            (Mark::Wrong, Mark::Right),
            (Mark::Wrong, Mark::Wrong),
        ]
        .into_iter()
        .cycle()
        .skip(usize::from(side) % 4)
        .take(4)
        .find(|&(a, b)| clusters[place].cells.of(a, b) > 0);
        let Some((reference, arm)) = pair else { continue };
        let erased = match side % 3 {
            0 => (reference, Mark::Missing),
            1 => (Mark::Missing, arm),
            _ => (Mark::Missing, Mark::Missing),
        };
        clusters[place].cells = replace(&clusters[place].cells, (reference, arm), erased);
    }
}

fn replace(table: &PairCells, from: (Mark, Mark), to: (Mark, Mark)) -> PairCells {
    let marks = [Mark::Right, Mark::Wrong, Mark::Missing];
    let mut out = PairCells::default();
    for a in marks {
        for b in marks {
            out.count_many(a, b, table.of(a, b) - u64::from((a, b) == from));
        }
    }
    out.count(to.0, to.1);
    out
}

/// Cases share tables; an exact p is worth keeping.
static EXACT: LazyLock<ExactCache> = LazyLock::new(ExactCache::new);

fn level_of(input: &FamilyInput) -> Status {
    verdict_of(input).0
}

/// Status and label of the first level.
fn verdict_of(input: &FamilyInput) -> (Status, bool) {
    let level = &evaluate(&rule(), input, &EXACT).unwrap().levels[0];
    (level.status, level.tool_robust)
}

fn on_both(arm: &mut ArmInput, table: &EndpointInput) {
    for endpoint in [Endpoint::Selection, Endpoint::Arguments] {
        arm.endpoints.insert(endpoint, table.clone());
    }
}

/// Takes outcomes away from one of the three controls.
fn erase_in_control(input: &mut FamilyInput, which: usize, picks: &[(u16, u8)]) {
    let control = match which {
        0 => input.again.as_mut(),
        1 => input.must_not_certify.first_mut(),
        _ => input.must_show_damage.first_mut(),
    };
    for own in control.into_iter().flat_map(|control| control.endpoints.values_mut()) {
        erase(&mut own.frames, picks);
        own.affected_frames.clone_from(&own.frames);
        own.tools.clone_from(&own.frames);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The worst case is the primary: taking outcomes away never helps a level that failed with all of them.
    #[test]
    fn no_pattern_of_missingness_turns_a_failed_level_into_a_certified_one(
        loss in 30_u64..120,
        gain in 0_u64..30,
        picks in prop::collection::vec((any::<u16>(), any::<u8>()), 0..12),
    ) {
        let mut input = healthy();
        input.levels.truncate(1);
        let table = endpoint(1_000, 20, cells(1_000 - loss - gain, loss, gain, 0));
        for endpoint in [Endpoint::Selection, Endpoint::Arguments] {
            input.levels[0].endpoints.insert(endpoint, table.clone());
        }
        let complete = level_of(&input);
        for endpoint in [Endpoint::Selection, Endpoint::Arguments] {
            let mut erased = table.clone();
            erase(&mut erased.frames, &picks);
            erased.affected_frames.clone_from(&erased.frames);
            // One pair per tool cluster keeps the partition equal without tracking which tool a pair belongs to.
            erased.tools.clone_from(&erased.frames);
            input.levels[0].endpoints.insert(endpoint, erased);
        }
        let incomplete = level_of(&input);
        prop_assert!(
            !(complete == Status::Failed && incomplete == Status::Certified),
            "{loss} losses, {gain} gains, erased {picks:?}"
        );
        if complete != Status::Certified {
            prop_assert_ne!(incomplete, Status::Certified);
        }
    }

    /// Controls without outcomes can take verdicts away, never give one: no level is certified that would not have been
    /// with all of them.
    #[test]
    fn no_pattern_of_missingness_in_the_controls_certifies_a_level(
        loss in 0_u64..60,
        which in 0_usize..3,
        picks in prop::collection::vec((any::<u16>(), any::<u8>()), 0..12),
    ) {
        let mut input = healthy();
        input.levels.truncate(1);
        let table = endpoint(1_000, 20, cells(1_000 - loss, loss, 0, 0));
        for endpoint in [Endpoint::Selection, Endpoint::Arguments] {
            input.levels[0].endpoints.insert(endpoint, table.clone());
        }
        let complete = level_of(&input);
        erase_in_control(&mut input, which, &picks);
        let incomplete = level_of(&input);
        prop_assert!(complete == Status::Certified || incomplete != Status::Certified, "{loss} losses, control {which}");
    }

    /// A missing outcome of the second pass is no noise that excuses a failure. Flips are chosen so many that the second
    /// pass is certified by little.
    #[test]
    fn no_pattern_of_missingness_in_the_controls_excuses_a_failure(
        loss in 60_u64..120,
        flips in 20_u64..60,
        which in 0_usize..3,
        picks in prop::collection::vec((any::<u16>(), any::<u8>()), 5..11),
    ) {
        let mut input = healthy();
        input.levels.truncate(1);
        on_both(&mut input.levels[0], &endpoint(1_000, 20, cells(1_000 - loss, loss, 0, 0)));
        input.again.iter_mut().for_each(|again| on_both(again, &endpoint(1_000, 20, cells(1_000 - 2 * flips, flips, flips, 0))));
        prop_assert_eq!(verdict_of(&input).0, Status::Failed);
        erase_in_control(&mut input, which, &picks);
        let incomplete = verdict_of(&input).0;
        prop_assert!(matches!(incomplete, Status::Failed | Status::NoVerdict), "{incomplete:?}: {flips} flips, {picks:?}");
    }

    /// Neither does it net out a loss. The level loses a few more than the second pass' losses and the margin allow.
    #[test]
    fn no_pattern_of_missingness_in_the_controls_makes_a_level_tool_robust(
        noise in 5_u64..30,
        beyond in 1_u64..6,
        which in 0_usize..3,
        picks in prop::collection::vec((any::<u16>(), any::<u8>()), 5..11),
    ) {
        let mut input = healthy();
        input.levels.truncate(1);
        let loss = noise + 20 + beyond;
        on_both(&mut input.levels[0], &endpoint(1_000, 20, cells(1_000 - 2 * loss, loss, loss, 0)));
        input.again.iter_mut().for_each(|again| on_both(again, &endpoint(1_000, 20, cells(1_000 - 2 * noise, noise, noise, 0))));
        prop_assert_eq!(verdict_of(&input), (Status::Certified, false));
        erase_in_control(&mut input, which, &picks);
        prop_assert!(!verdict_of(&input).1, "{noise} by noise, {beyond} beyond, {picks:?}");
    }

    /// One more loss never helps.
    #[test]
    fn an_additional_loss_never_turns_a_level_certified(loss in 0_u64..40, gain in 0_u64..40) {
        let status = |loss: u64| {
            let mut input = healthy();
            input.levels.truncate(1);
            let table = endpoint(1_000, 200, cells(1_000 - loss - gain, loss, gain, 0));
            for endpoint in [Endpoint::Selection, Endpoint::Arguments] {
                input.levels[0].endpoints.insert(endpoint, table.clone());
            }
            level_of(&input)
        };
        prop_assert!(!(status(loss) != Status::Certified && status(loss + 1) == Status::Certified));
    }
}
