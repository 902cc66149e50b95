//! Two one-sided paired t tests (Schuirmann 1987, J Pharmacokinet Biopharm 15:657), where an equivalence statement about
//! a continuous endpoint is pre-registered.

use serde::{Deserialize, Serialize};

use super::distribution::{student_critical, student_sf};
use super::error::Undefined;
use super::interval::Interval;
use super::level::Alpha;

/// The outcome of both tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTost {
    /// Mean difference d̄.
    pub mean: f64,
    /// Its standard error s/√n.
    pub se: f64,
    /// Degrees of freedom n − 1.
    pub df: u64,
    /// `(d̄ − low)/se`.
    pub t_lower: f64,
    /// Its upper tail: p of "the mean is at most low".
    pub p_lower: f64,
    /// `(d̄ − upp)/se`.
    pub t_upper: f64,
    /// Its lower tail: p of "the mean is at least upp".
    pub p_upper: f64,
    /// The larger of the two.
    pub p_tost: f64,
    /// Student interval of level `1 − 2·alpha`.
    pub interval: Interval,
}

/// Tests `differences` against the equivalence range `low..upp`.
///
/// # Errors
/// Fewer than two differences, one that is not finite, or zero variance: equal differences are an exact fact and get no
/// p-value.
pub fn paired_tost(differences: &[f64], low: f64, upp: f64, alpha: Alpha) -> Result<PairedTost, Undefined> {
    let [first, _, ..] = differences else { return Err(Undefined::TooFew) };
    if !differences.iter().all(|d| d.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    // Compared as they are: the sum of squares of equal differences need not round to zero.
    if differences.iter().all(|d| d.total_cmp(first).is_eq()) {
        return Err(Undefined::ZeroVariance);
    }
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    let se = (squares / (n - 1.0) / n).sqrt();
    if se.is_nan() || se <= 0.0 {
        return Err(Undefined::ZeroVariance);
    }
    let df = differences.len() as u64 - 1;
    let (t_lower, t_upper) = ((mean - low) / se, (mean - upp) / se);
    let (p_lower, p_upper) = (student_sf(t_lower, df), student_sf(-t_upper, df));
    let half = student_critical(alpha.value(), df) * se;
    let interval = Interval { lower: mean - half, upper: mean + half };
    Ok(PairedTost { mean, se, df, t_lower, p_lower, t_upper, p_upper, p_tost: p_lower.max(p_upper), interval })
}

#[cfg(test)]
mod tests {
    use super::paired_tost;
    use crate::stats::{Alpha, Undefined};

    #[test]
    fn equal_differences_get_a_reason_instead_of_p_zero() {
        let alpha = Alpha::new(0.05).unwrap();
        assert_eq!(paired_tost(&[0.1; 7], -1.0, 1.0, alpha), Err(Undefined::ZeroVariance));
        assert_eq!(paired_tost(&[0.1], -1.0, 1.0, alpha), Err(Undefined::TooFew));
        assert_eq!(paired_tost(&[0.1, f64::INFINITY], -1.0, 1.0, alpha), Err(Undefined::NotFinite));
        assert_eq!(Undefined::ZeroVariance.to_string(), "zero variance");
    }

    #[test]
    fn test_and_interval_say_the_same() {
        let differences = [0.3, -0.2, 0.4, 0.1, 0.0, -0.1];
        let alpha = Alpha::new(0.05).unwrap();
        let found = paired_tost(&differences, -1.0, 1.0, alpha).unwrap();
        // At a margin equal to its own limit the test is exactly at alpha.
        let at_limit = paired_tost(&differences, found.interval.lower, found.interval.upper, alpha).unwrap();
        assert!((at_limit.p_lower - 0.05).abs() < 1e-12 && (at_limit.p_upper - 0.05).abs() < 1e-12);
    }
}
