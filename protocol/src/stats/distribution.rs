//! Normal and Student distributions, by statrs with its traps avoided: survival functions are called as such (never
//! `1 − cdf`, which is 0 beyond 8.3 σ), and Student quantiles are found on the survival function (the library's inverse
//! of the incomplete beta can panic far in the tail).

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// `P(Z > x)` for a standard normal Z.
pub fn normal_sf(x: f64) -> f64 {
    Normal::standard().sf(x)
}

/// `P(Z ≤ x)` for a standard normal Z.
pub fn normal_cdf(x: f64) -> f64 {
    // By symmetry, so that both tails are accurate.
    normal_sf(-x)
}

/// `Φ⁻¹(p)`; ∓∞ at 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if (0.0..=1.0).contains(&p) { Normal::standard().inverse_cdf(p) } else { f64::NAN }
}

/// `P(T > t)` for a Student T with `df` degrees of freedom; NaN for `df = 0`.
///
/// The incomplete beta behind the library's tail loses a digit with each digit of `df` (1.5e-10 at 10⁶), so from
/// [`MANY_DF`] on the body of the distribution comes from [`student_sf_by_expansion`].
pub fn student_sf(t: f64, df: u64) -> f64 {
    if t < 0.0 {
        return 1.0 - student_sf(-t, df);
    }
    if df >= MANY_DF && t < 6.0 {
        return student_sf_by_expansion(t, df as f64);
    }
    StudentsT::new(0.0, 1.0, df as f64).map_or(f64::NAN, |student| student.sf(t))
}

/// Degrees of freedom from which Fisher's expansion is exact to 1e-12 for t below 6.
const MANY_DF: u64 = 20_000;

/// Fisher's expansion of the Student tail in 1/df (Fisher 1925, Metron 5:109), to the third order.
fn student_sf_by_expansion(t: f64, df: f64) -> f64 {
    let density = (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let s = t * t;
    let first = t * (s + 1.0) / (4.0 * df);
    let second = t * (((3.0 * s - 7.0) * s - 5.0) * s - 3.0) / (96.0 * df * df);
    let third = t * (((((s - 11.0) * s + 14.0) * s + 6.0) * s - 3.0) * s - 15.0) / (384.0 * df.powi(3));
    normal_sf(t) + density * (first + second + third)
}

/// The upper `tail` quantile of Student's T: the `t ≥ 0` with `P(T > t) = tail`, for `0 < tail ≤ ½`; NaN outside or for
/// `df = 0`.
pub fn student_critical(tail: f64, df: u64) -> f64 {
    if !(tail > 0.0 && tail <= 0.5) || df == 0 {
        return f64::NAN;
    }
    let (mut below, mut above) = (0.0, 1.0);
    while student_sf(above, df) > tail {
        below = above;
        above *= 2.0;
    }
    loop {
        let middle = below + (above - below) / 2.0;
        if middle <= below || middle >= above {
            return middle;
        }
        if student_sf(middle, df) > tail {
            below = middle;
        } else {
            above = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{normal_cdf, normal_quantile, normal_sf, student_critical, student_sf};

    #[test]
    fn normal_tails_stay_accurate_where_one_minus_the_cdf_is_zero() {
        // 50-digit values of erfc: SF(6), SF(10), SF(20).
        for (x, expected) in
            [(6.0, 9.865_876_450_376_946e-10), (10.0, 7.619_853_024_160_527e-24), (20.0, 2.753_624_118_606_233_7e-89)]
        {
            assert!((normal_sf(x) / expected - 1.0).abs() < 1e-9, "{x}: {}", normal_sf(x));
            assert!((normal_cdf(-x) / expected - 1.0).abs() < 1e-9);
        }
        assert!(normal_sf(f64::INFINITY) == 0.0 && normal_sf(f64::NEG_INFINITY) >= 1.0);
        assert!((normal_quantile(normal_cdf(1.234_5)) - 1.234_5).abs() < 1e-9);
    }

    /// The tail by Simpson's rule on the density, its constant from Γ's Stirling series: no incomplete beta, no expansion.
    fn student_sf_by_quadrature(t: f64, df: f64) -> f64 {
        let ratio = 1.0 - 1.0 / (4.0 * df) + 1.0 / (32.0 * df * df) + 5.0 / (128.0 * df.powi(3));
        let density =
            |x: f64| ratio / (2.0 * std::f64::consts::PI).sqrt() * (-0.5 * (df + 1.0) * (x * x / df).ln_1p()).exp();
        let (steps, end) = (20_000_u32, 40.0);
        let h = (end - t) / f64::from(steps);
        let weight = |i: u32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        (0..=steps).map(|i| weight(i) * density(t + h * f64::from(i))).sum::<f64>() * h / 3.0
    }

    #[test]
    fn the_student_tail_holds_from_a_thousand_to_a_billion_degrees_of_freedom() {
        for df in [1_000_u32, 19_999, 20_000, 199_999, 1_000_000, 1_000_000_000] {
            for t in [0.0, 0.1, 0.5, 1.0, 1.644_853_6, 2.0, 3.0, 4.0, 5.0, 5.999] {
                let (found, expected) = (student_sf(t, df.into()), student_sf_by_quadrature(t, df.into()));
                assert!((found - expected).abs() < 4e-11, "df={df} t={t}: {found} against {expected}");
            }
        }
    }

    #[test]
    fn expansion_and_library_meet_where_one_takes_over() {
        for t in [0.5, 1.644_853_6, 3.0, 5.0, 6.0] {
            let (below, above) = (student_sf(t, 19_999), student_sf(t, 20_000));
            assert!((below / above - 1.0).abs() < 1e-6, "{t}");
            let (body, tail) = (super::student_sf_by_expansion(t, 1e5), student_sf(t.max(6.0), 100_000));
            assert!(t < 6.0 || (body / tail - 1.0).abs() < 1e-8, "{body:e} {tail:e}");
        }
    }

    #[test]
    fn student_tails_with_closed_forms_are_met() {
        for t in [0.0, 0.3, 1.0, 7.0, 1e3, -2.0] {
            let cauchy = 0.5 - f64::atan(t) / std::f64::consts::PI;
            assert!((student_sf(t, 1) - cauchy).abs() < 1e-12, "{t}");
            let two = 0.5 - t / (2.0 * (2.0 + t * t).sqrt());
            assert!((student_sf(t, 2) - two).abs() < 1e-12, "{t}");
        }
        assert!(student_sf(f64::INFINITY, 7) == 0.0 && student_sf(f64::NEG_INFINITY, 7) >= 1.0);
    }

    #[test]
    fn student_critical_values_match_printed_tables() {
        for (df, expected) in [(7, 1.894_578_605_061_305), (77, 1.664_884_537_1), (467, 1.648_123)] {
            assert!((student_critical(0.05, df) - expected).abs() < 2e-6, "{df}: {}", student_critical(0.05, df));
        }
        assert!(student_critical(0.6, 3).is_nan() && student_critical(0.05, 0).is_nan());
    }
}
