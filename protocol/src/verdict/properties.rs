//! Properties of the whole rule.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::{
    Cluster, Endpoint, FamilyInput, Mark, PairCells, Status, evaluate,
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
    evaluate(&rule(), input, &EXACT).unwrap().levels[0].status
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
        let control = match which {
            0 => input.again.as_mut(),
            1 => input.must_not_certify.first_mut(),
            _ => input.must_show_damage.first_mut(),
        };
        for own in control.into_iter().flat_map(|control| control.endpoints.values_mut()) {
            erase(&mut own.frames, &picks);
            own.affected_frames.clone_from(&own.frames);
            own.tools.clone_from(&own.frames);
        }
        let incomplete = level_of(&input);
        prop_assert!(complete == Status::Certified || incomplete != Status::Certified, "{loss} losses, control {which}");
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
