//! What a model does without any compressor: where its own flips are, and whether it changed during the run.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    stats::distribution::normal_sf,
    verdict::{Cluster, Imputation, Mark},
};

/// Flips of one group of tasks between two passes of one arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlipRate {
    /// The tool, `server/tool`, or the stratum.
    pub name: Arc<str>,
    /// Pairs with both outcomes.
    pub n: u64,
    /// Pairs whose passes differ.
    pub flips: u64,
}

/// Flips by group, from the pairs of a second pass against the first. Pairs that lack an outcome are in neither number:
/// this describes a model, it decides nothing.
pub fn flip_rates(groups: &[Cluster]) -> Vec<FlipRate> {
    groups
        .iter()
        .filter_map(|group| {
            let counts = group.cells.counts(Imputation::CompletePairs)?;
            Some(FlipRate { name: Arc::clone(&group.name), n: counts.n(), flips: counts.gain() + counts.loss() })
        })
        .collect()
}

/// A trend of an arm's accuracy over the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Frames that can show one: at least two tasks, not all with one outcome.
    pub frames: u64,
    /// Standardised trend, positive where the arm got better. Standard normal without drift.
    pub z: f64,
    /// Two-sided p of "no drift".
    pub p: f64,
}

/// One task of an arm in the order of the run: its frame, its place, whether it was right.
pub(super) type Placed = (usize, u64, Mark);

/// The trend test of Mantel (1963, J Am Stat Assoc 58:690), stratified by frame: within a frame, given how many of its
/// tasks were right, every order of them is equally likely without drift. Frames differ in difficulty and stand at
/// different times of the run, so only comparisons within a frame are fair. The sums are whole numbers.
///
/// None where no frame can show a trend. Missing outcomes are left out.
pub(super) fn drift(tasks: impl IntoIterator<Item = Placed>) -> Option<Drift> {
    let mut frames: BTreeMap<usize, Sums> = BTreeMap::new();
    for (frame, place, mark) in tasks {
        if mark != Mark::Missing {
            frames.entry(frame).or_default().add(place, mark == Mark::Right);
        }
    }
    let (mut informative, mut trend, mut variance) = (0, 0.0, 0.0);
    for sums in frames.values().filter(|sums| sums.informative()) {
        informative += 1;
        trend += sums.covariation();
        variance += sums.variance();
    }
    if informative == 0 || variance <= 0.0 {
        return None;
    }
    let z = trend / variance.sqrt();
    Some(Drift { frames: informative, z, p: (2.0 * normal_sf(z.abs())).min(1.0) })
}

/// Sums over the tasks of a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: i128,
    right: i128,
    places: i128,
    squares: i128,
    places_right: i128,
}

impl Sums {
    fn add(&mut self, place: u64, right: bool) {
        let place = i128::from(place);
        self.n += 1;
        self.places += place;
        self.squares += place * place;
        if right {
            self.right += 1;
            self.places_right += place;
        }
    }

    fn informative(&self) -> bool {
        self.right > 0 && self.right < self.n
    }

    /// Σ (place − mean)(right − mean).
    fn covariation(&self) -> f64 {
        (self.n * self.places_right - self.places * self.right) as f64 / self.n as f64
    }

    /// Its permutation variance `S_tt·S_xx/(n − 1)`.
    fn variance(&self) -> f64 {
        let spread = |squares: i128, sum: i128| (self.n * squares - sum * sum) as f64 / self.n as f64;
        spread(self.squares, self.places) * spread(self.right, self.right) / (self.n - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use bench_protocol::{
        rng::{index, shuffle, stream},
        verdict::PairCells,
    };
    use proptest::prelude::*;

    use super::*;

    fn marks(right: impl Fn(usize, u64) -> bool) -> Vec<Placed> {
        let place = |frame: usize, item: u64| item * 100 + frame as u64;
        (0..100)
            .flat_map(|frame| (0..3).map(move |item| (frame, item)))
            .map(|(frame, item)| {
                (frame, place(frame, item), if right(frame, item) { Mark::Right } else { Mark::Wrong })
            })
            .collect()
    }

    #[test]
    fn a_model_that_gets_worse_has_a_falling_trend() {
        let worse = drift(marks(|frame, item| item < 2 || frame % 5 != 0)).unwrap();
        assert!(worse.z < -4.0 && worse.p < 1e-4 && worse.frames == 20, "{worse:?}");
        let better = drift(marks(|frame, item| item > 0 || frame % 5 != 0)).unwrap();
        assert!((worse.z + better.z).abs() < 1e-12, "{worse:?} {better:?}");
    }

    #[test]
    fn hard_frames_late_in_the_run_are_no_drift() {
        // Frames of the second half are always wrong: nothing changes within any frame.
        assert_eq!(drift(marks(|frame, _| frame < 50)), None);
    }

    #[test]
    fn one_task_per_frame_cannot_show_a_trend() {
        let single = marks(|frame, _| frame % 3 == 0).into_iter().filter(|&(_, place, _)| place < 100);
        assert_eq!(drift(single), None);
    }

    #[test]
    fn variance_is_that_over_all_orders() {
        // One frame of four tasks at uneven places, two of them right: all six orders, by enumeration.
        let places = [3_u64, 10, 40, 41];
        let mut all = Vec::new();
        for pattern in 0_u32..16 {
            if pattern.count_ones() == 2 {
                let mut sums = Sums::default();
                places.iter().enumerate().for_each(|(bit, &place)| sums.add(place, pattern >> bit & 1 == 1));
                all.push((sums.covariation(), sums.variance()));
            }
        }
        let mean = all.iter().map(|(covariation, _)| covariation).sum::<f64>() / 6.0;
        let variance = all.iter().map(|(covariation, _)| (covariation - mean).powi(2)).sum::<f64>() / 6.0;
        assert!(mean.abs() < 1e-12 && (variance - all[0].1).abs() < 1e-9, "{mean} {variance} {:?}", all[0]);
    }

    #[test]
    fn without_drift_the_p_is_uniform_enough() {
        let small = (0..400).filter(|&trial| {
            let mut rng = stream([3; 32], trial);
            let wrong: Vec<bool> = (0..300).map(|_| index(&mut rng, 10) == 0).collect();
            drift(marks(|frame, item| !wrong[frame * 3 + usize::try_from(item).unwrap()])).unwrap().p <= 0.05
        });
        // 400 runs at 5 %: four standard errors are 17.4.
        let small = small.count();
        assert!((3..=37).contains(&small), "{small} of 400");
    }

    #[test]
    fn flips_count_both_directions_and_no_missing_pair() {
        let mut cells = PairCells::default();
        cells.count_many(Mark::Right, Mark::Right, 7);
        cells.count_many(Mark::Right, Mark::Wrong, 2);
        cells.count_many(Mark::Wrong, Mark::Right, 1);
        cells.count(Mark::Right, Mark::Missing);
        let seen = flip_rates(&[Cluster { name: "git/git_log".into(), cells }]);
        assert_eq!((seen[0].n, seen[0].flips), (10, 3));
    }

    proptest! {
        #[test]
        fn the_order_in_which_tasks_are_told_changes_nothing(seed in any::<u64>()) {
            let tasks = marks(|frame, item| (frame + usize::try_from(item).unwrap()) % 4 != 0);
            let mut shuffled = tasks.clone();
            shuffle(&mut stream([0; 32], seed), &mut shuffled);
            prop_assert_eq!(drift(tasks), drift(shuffled));
        }
    }
}
