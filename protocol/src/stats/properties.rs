//! Properties that hold for every table, whatever its counts.

use proptest::prelude::*;

use super::boundary::Boundary;
use super::exact::{exact_test, rejection_at_margin};
use super::newcombe::newcombe10;
use super::report::TableReport;
use super::score::{p_lower, score_interval, score_test, statistic, statistic_at_lower};
use super::{Alpha, ExactCache, Margin, PairedCounts, PairedTable};

fn alphas() -> impl Strategy<Value = Alpha> {
    prop_oneof![Just(0.05), Just(0.025), 0.001..0.3_f64].prop_map(|alpha| Alpha::new(alpha).unwrap())
}

fn margins() -> impl Strategy<Value = Margin> {
    prop_oneof![Just("0.01"), Just("0.02"), Just("0.03"), Just("0.05"), Just("0.29")]
        .prop_map(|text| text.parse().unwrap())
}

fn counts(largest: u64) -> impl Strategy<Value = PairedCounts> {
    (1..=largest)
        .prop_flat_map(|n| (Just(n), 0..=n))
        .prop_flat_map(|(n, m)| (Just(n), Just(m), 0..=m))
        .prop_map(|(n, m, gain)| PairedCounts::new(n, gain, m - gain).unwrap())
}

/// As [`counts`], with few discordant pairs, as real arms have.
fn sparse_counts(largest: u64) -> impl Strategy<Value = PairedCounts> {
    (1..=largest, 0_u64..40, 0_u64..40).prop_map(|(n, gain, loss)| {
        let gain = gain.min(n);
        PairedCounts::new(n, gain, loss.min(n - gain)).unwrap()
    })
}

fn any_counts() -> impl Strategy<Value = PairedCounts> {
    prop_oneof![counts(3_000), sparse_counts(3_000), sparse_counts(200_000)]
}

proptest! {
    #[test]
    fn exchanging_the_arms_exchanges_the_sides(c in any_counts(), margin in margins(), alpha in alphas()) {
        let (one, other) = (score_test(c, margin), score_test(c.swapped(), margin));
        prop_assert!((one.p_lower - other.p_upper).abs() < 1e-12 && (one.p_upper - other.p_lower).abs() < 1e-12);
        prop_assert!((one.p_tost - other.p_tost).abs() < 1e-12);
        let (ci, mirrored) = (score_interval(c, alpha), score_interval(c.swapped(), alpha));
        prop_assert!((ci.lower + mirrored.upper).abs() < 1e-12 && (ci.upper + mirrored.lower).abs() < 1e-12);
    }

    #[test]
    fn the_statistic_falls_with_the_hypothesised_difference(c in any_counts(), a in -0.999..0.999_f64, b in -0.999..0.999_f64) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(statistic(c, low) >= statistic(c, high) - 1e-9);
        if high - low > 1e-3 {
            prop_assert!(statistic(c, low) > statistic(c, high));
        }
    }

    #[test]
    fn turning_a_loss_into_a_gain_raises_the_statistic(c in any_counts(), margin in margins()) {
        prop_assume!(c.loss() > 0);
        let better = PairedCounts::new(c.n(), c.gain() + 1, c.loss() - 1).unwrap();
        prop_assert!(statistic_at_lower(better, margin) > statistic_at_lower(c, margin));
        prop_assert!(p_lower(better, margin) <= p_lower(c, margin));
    }

    #[test]
    fn a_wider_margin_never_makes_certifying_harder(c in any_counts()) {
        let p = ["0.01", "0.02", "0.03", "0.05", "0.29"].map(|text| p_lower(c, text.parse().unwrap()));
        prop_assert!(p.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{p:?}");
    }

    #[test]
    fn the_interval_holds_the_estimate_and_decides_as_the_test_does(c in any_counts(), margin in margins(), alpha in alphas()) {
        let (ci, p) = (score_interval(c, alpha), p_lower(c, margin));
        prop_assert!(ci.contains(c.delta_hat()) && ci.lower >= -1.0 && ci.upper <= 1.0);
        if (p - alpha.value()).abs() >= 1e-9 {
            prop_assert_eq!(p < alpha.value(), ci.lower > -margin.value());
        }
    }

    #[test]
    fn more_of_the_same_narrows_the_interval(c in sparse_counts(3_000), times in 2_u64..6, alpha in alphas()) {
        let more = PairedCounts::new(c.n() * times, c.gain() * times, c.loss() * times).unwrap();
        prop_assert!(score_interval(more, alpha).width() < score_interval(c, alpha).width());
    }

    #[test]
    fn a_newcombe_interval_holds_the_estimate(c in counts(3_000), both in 0.0..=1.0_f64, alpha in alphas()) {
        let equal = c.n() - c.discordant();
        let both = super::number::floor_count(both * equal as f64).min(equal);
        let table = PairedTable::new(both, c.loss(), c.gain(), equal - both).unwrap();
        let ci = newcombe10(table, alpha);
        prop_assert!(ci.lower <= c.delta_hat() + 1e-15 && ci.upper >= c.delta_hat() - 1e-15);
        let mirrored = newcombe10(table.swapped(), alpha);
        prop_assert!((ci.lower + mirrored.upper).abs() < 1e-12 && (ci.upper + mirrored.lower).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn where_concordant_pairs_fall_changes_no_paired_statistic(c in sparse_counts(400), margin in margins(), alpha in alphas()) {
        let equal = c.n() - c.discordant();
        let report = |both| {
            let table = PairedTable::new(both, c.loss(), c.gain(), equal - both).unwrap();
            let mut report = TableReport::new(table, margin, alpha, &ExactCache::new());
            // The two that do look at concordant pairs.
            report.newcombe10 = report.tango_ci;
            report.single.raw = report.single.compressed;
            report.single.compressed.wilson = report.tango_ci;
            report.single.compressed.clopper_pearson = report.tango_ci;
            report.single.raw = report.single.compressed;
            report
        };
        prop_assert_eq!(report(0), report(equal));
    }

    #[test]
    fn the_exact_p_is_at_least_the_probability_at_any_discordance(
        c in sparse_counts(400),
        margin in margins(),
        at in proptest::collection::vec(0.0..=1.0_f64, 8),
    ) {
        let p = exact_test(c, margin).p;
        let boundary = Boundary::of_score(c.n(), margin, statistic_at_lower(c, margin), 0, c.n());
        for share in at {
            let loss_rate = margin.value() + share * (1.0 - margin.value()) / 2.0;
            prop_assert!(rejection_at_margin(&boundary, margin, loss_rate) <= p + 1e-9);
        }
    }

    #[test]
    fn the_exact_p_falls_when_a_loss_becomes_a_gain(c in sparse_counts(300), margin in margins()) {
        prop_assume!(c.loss() > 0);
        let better = PairedCounts::new(c.n(), c.gain() + 1, c.loss() - 1).unwrap();
        prop_assert!(exact_test(better, margin).p <= exact_test(c, margin).p + 1e-9);
    }
}
