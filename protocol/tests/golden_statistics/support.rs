//! The published golden values and the comparison at their stated tolerances.

use bench_protocol::stats::{Alpha, Interval, Margin};
use serde_json::Value;

/// The parsed file. Its `meta` block says how each value was produced.
pub(crate) fn golden() -> Value {
    serde_json::from_str(include_str!("../data/golden-stats.json")).expect("the golden file is JSON")
}

/// The entries of one block, at least one.
pub(crate) fn block<'a>(golden: &'a Value, name: &str) -> &'a [Value] {
    let entries = golden[name].as_array().expect(name);
    assert!(!entries.is_empty(), "{name} is empty");
    entries
}

/// One of `meta.tolerances`.
pub(crate) fn tolerance(golden: &Value, name: &str) -> f64 {
    golden["meta"]["tolerances"][name].as_f64().expect(name)
}

/// A number that must be there.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A count that must be there.
pub(crate) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// A margin from its JSON number or key.
pub(crate) fn margin(value: &(impl ToString + ?Sized)) -> Margin {
    value.to_string().parse().expect("a margin")
}

/// A one-sided level from its JSON number or key.
pub(crate) fn alpha(value: &(impl ToString + ?Sized)) -> Alpha {
    Alpha::new(value.to_string().parse().expect("a number")).expect("a level")
}

/// Asserts |found − expected| ≤ tolerance.
pub(crate) fn close(found: f64, expected: &Value, tolerance: f64, what: &str) {
    let expected = number(expected);
    assert!((found - expected).abs() <= tolerance, "{what}: {found:e} against {expected:e}");
}

/// Asserts both ends of an interval.
pub(crate) fn close_interval(found: Interval, expected: &Value, tolerance: f64, what: &str) {
    close(found.lower, &expected[0], tolerance, &format!("{what} lower"));
    close(found.upper, &expected[1], tolerance, &format!("{what} upper"));
}

/// Asserts a p-value: absolute tolerance, and relative where the expected value is below 1e-6.
pub(crate) fn close_p(golden: &Value, found: f64, expected: &Value, what: &str) {
    close(found, expected, tolerance(golden, "p_value_abs"), what);
    let expected = number(expected);
    if expected > 0.0 && expected < 1e-6 {
        let relative = tolerance(golden, "p_value_rel_when_below_1e_6");
        assert!((found / expected - 1.0).abs() <= relative, "{what}: {found:e} against {expected:e}, relative");
    }
}

/// A list of numbers.
pub(crate) fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Every way to draw `k` of `k` with replacement.
pub(crate) fn resamples(k: usize) -> impl Iterator<Item = Vec<usize>> {
    let picks = move |code: usize| (0..u32::try_from(k).unwrap()).map(|place| code / k.pow(place) % k).collect();
    (0..k.pow(u32::try_from(k).unwrap())).map(picks)
}
