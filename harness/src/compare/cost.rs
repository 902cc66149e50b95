//! Dollars per thousand tasks and per solved task, beside the reference's, with intervals over tools.

use bench_protocol::{
    rng::{self, Seed, stream, stream_id},
    stats::{
        Alpha, Interval,
        continuous::{PairedTotals, continuous_bootstrap, percentile_interval},
    },
};
use serde::Serialize;

use super::observe::Sums;

/// Pico-dollars of a dollar.
const PICO: f64 = 1e12;

/// A point with its interval; without one where there is nothing to resample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimated {
    /// From the data themselves.
    pub point: f64,
    /// Percentile interval over tools, of the level that the comparison states.
    pub interval: Option<Interval>,
}

/// Estimated dollars of one arm under one reading of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dollars {
    /// Per thousand tasks.
    pub per_thousand_tasks: f64,
    /// Total over the reference's; 1 for the reference itself.
    pub ratio: Estimated,
    /// Per task, minus the reference's.
    pub difference_per_task: Estimated,
    /// Per solved task.
    pub per_solved_task: Solved,
}

/// Dollars per task that was right; none where none was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Solved {
    /// The value.
    pub value: Option<f64>,
    /// Minus the reference's.
    pub difference: Option<Estimated>,
}

/// How intervals are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resampling {
    pub(super) alpha: Alpha,
    pub(super) resamples: u32,
    pub(super) seed: Seed,
}

/// The dollars of an arm; `part` reads them off the sums, in pico-dollars.
pub(super) fn dollars(
    purpose: &str,
    reference: &[Sums],
    arm: &[Sums],
    part: fn(&Sums) -> u128,
    how: Resampling,
) -> Dollars {
    let value = |sums: &Sums| part(sums) as f64 / PICO;
    let clusters: Vec<PairedTotals> = reference
        .iter()
        .zip(arm)
        .filter(|(_, arm)| arm.tasks > 0)
        .map(|(reference, arm)| PairedTotals { n: arm.tasks, raw: value(reference), compressed: value(arm) })
        .collect();
    let tasks: u64 = clusters.iter().map(|cluster| cluster.n).sum();
    let total = |of: fn(&PairedTotals) -> f64| clusters.iter().map(of).sum::<f64>();
    let (own, raw) = (total(|cluster| cluster.compressed), total(|cluster| cluster.raw));
    let mut rng = stream(how.seed, stream_id(&format!("{purpose}/dollars")));
    let seen = continuous_bootstrap(&clusters, how.alpha, how.resamples, &mut rng);
    let per = |x: f64, n: u64| if n == 0 { 0.0 } else { x / n as f64 };
    Dollars {
        per_thousand_tasks: 1000.0 * per(own, tasks),
        ratio: Estimated {
            point: if raw > 0.0 { own / raw } else { 1.0 },
            interval: seen.ratio.ok().map(|estimate| estimate.interval),
        },
        difference_per_task: Estimated {
            point: per(own - raw, tasks),
            interval: seen.mean_difference.ok().map(|estimate| estimate.interval),
        },
        per_solved_task: per_solved(purpose, reference, arm, value, how),
    }
}

/// Clusters are resampled whole, both arms together, so that the difference is paired. A resample in which one side solved
/// nothing has no difference; the interval is then not given, since leaving it out would flatter.
fn per_solved(
    purpose: &str,
    reference: &[Sums],
    arm: &[Sums],
    value: impl Fn(&Sums) -> f64,
    how: Resampling,
) -> Solved {
    let pairs: Vec<[(f64, u64); 2]> = reference
        .iter()
        .zip(arm)
        .filter(|(_, arm)| arm.tasks > 0)
        .map(|(reference, arm)| [reference, arm].map(|sums| (value(sums), sums.solved)))
        .collect();
    let each = |drawn: &mut dyn Iterator<Item = usize>| {
        let mut sums = [(0.0, 0_u64); 2];
        for place in drawn {
            for (sum, (dollars, solved)) in sums.iter_mut().zip(pairs[place]) {
                sum.0 += dollars;
                sum.1 += solved;
            }
        }
        sums.map(|(dollars, solved)| (solved > 0).then(|| dollars / solved as f64))
    };
    let [raw, own] = each(&mut (0..pairs.len()));
    let difference = raw.zip(own).map(|(raw, own)| {
        let mut rng = stream(how.seed, stream_id(&format!("{purpose}/dollars-per-solved")));
        let k = pairs.len() as u64;
        let drawn: Option<Vec<f64>> = (0..how.resamples)
            .map(|_| {
                let mut places = (0..k).map(|_| usize::try_from(rng::index(&mut rng, k)).unwrap_or(0));
                let [raw, own] = each(&mut places);
                Some(own? - raw?)
            })
            .collect();
        let interval = drawn.filter(|_| k > 1).and_then(|values| percentile_interval(values, how.alpha));
        Estimated { point: own - raw, interval }
    });
    Solved { value: own, difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how() -> Resampling {
        Resampling { alpha: Alpha::new(0.05).unwrap(), resamples: 500, seed: [1; 32] }
    }

    fn sums(dollars: u128, solved: u64) -> Sums {
        Sums { tasks: 10, solved, uncached: dollars * 1_000_000_000_000, ..Sums::default() }
    }

    #[test]
    fn dollars_are_totals_over_totals() {
        let raw: Vec<Sums> = (1..=20).map(|n| sums(n, 10)).collect();
        let arm: Vec<Sums> = (1..=20).map(|n| sums(n, 5)).collect();
        let seen = dollars("x", &raw, &arm, |sums| sums.uncached, how());
        assert!((seen.per_thousand_tasks - 1050.0).abs() < 1e-9);
        assert!((seen.ratio.point - 1.0).abs() < 1e-12 && seen.difference_per_task.point.abs() < 1e-12);
        // Half as many solved for the same money: twice as dear.
        assert!((seen.per_solved_task.value.unwrap() - 2.1).abs() < 1e-12);
        let difference = seen.per_solved_task.difference.unwrap();
        assert!((difference.point - 1.05).abs() < 1e-12);
        assert!(difference.interval.unwrap().lower > 0.0);
    }

    #[test]
    fn an_arm_that_solves_nothing_has_no_price_per_solved_task() {
        let raw: Vec<Sums> = (1..=3).map(|n| sums(n, 1)).collect();
        let arm: Vec<Sums> = (1..=3).map(|n| sums(n, 0)).collect();
        assert_eq!(
            dollars("x", &raw, &arm, |sums| sums.uncached, how()).per_solved_task,
            Solved { value: None, difference: None }
        );
    }
}
