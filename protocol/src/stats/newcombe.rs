//! Newcombe's square-and-add interval for a paired difference, method 10 (Newcombe 1998, Stat Med 17:2635). A printed
//! cross-check of the score interval, never a gate. The variant whose φ has a continuity-reduced numerator.

use super::interval::Interval;
use super::level::Alpha;
use super::single::wilson;
use super::table::PairedTable;

/// The interval of level `1 − 2·alpha`. Unlike the score interval it depends on how the concordant pairs split.
pub fn newcombe10(table: PairedTable, alpha: Alpha) -> Interval {
    let n = table.n();
    let share = |right: u64| right as f64 / n as f64;
    let (raw, compressed) = (share(table.raw_right()), share(table.compressed_right()));
    let raw_limits = wilson(table.raw_right(), n, alpha);
    let compressed_limits = wilson(table.compressed_right(), n, alpha);
    let phi = reduced_phi(table);

    let joined = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
    let difference = table.delta_hat();
    Interval {
        lower: difference - joined(compressed - compressed_limits.lower, raw_limits.upper - raw),
        upper: difference + joined(compressed_limits.upper - compressed, raw - raw_limits.lower),
    }
}

/// The correlation of the pairs: a positive numerator is reduced by n/2, but not below 0; 0 where a margin is empty.
fn reduced_phi(table: PairedTable) -> f64 {
    // As floats: products of four margins overflow 64-bit integers from about 131,000 tasks on.
    let [both, loss, gain, neither] =
        [table.both(), table.loss(), table.gain(), table.neither()].map(|cell| cell as f64);
    let margins = (both + loss) * (gain + neither) * (both + gain) * (loss + neither);
    if margins <= 0.0 {
        return 0.0;
    }
    let determinant = both * neither - loss * gain;
    let half = table.n() as f64 / 2.0;
    let numerator = if determinant > 0.0 { (determinant - half).max(0.0) } else { determinant };
    numerator / margins.sqrt()
}

#[cfg(test)]
mod tests {
    use super::newcombe10;
    use crate::stats::{Alpha, PairedTable};

    #[test]
    fn newcombes_own_example_is_met_up_to_orientation() {
        let interval = newcombe10(PairedTable::new(36, 12, 2, 0).unwrap(), Alpha::new(0.025).unwrap());
        assert!((interval.lower + 0.3404).abs() < 5e-5 && (interval.upper + 0.0569).abs() < 5e-5, "{interval:?}");
    }

    #[test]
    fn margins_whose_product_overflows_integers_do_no_harm() {
        let table = PairedTable::new(500_000, 2_000, 1_000, 400_000).unwrap();
        let interval = newcombe10(table, Alpha::new(0.05).unwrap());
        assert!(interval.contains(table.delta_hat()) && interval.width() < 1e-3);
    }
}
