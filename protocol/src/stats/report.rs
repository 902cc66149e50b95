//! Everything known about one paired table, in the words of the published golden file.

use serde::{Deserialize, Serialize};

use super::bootstrap::Bootstrap;
use super::exact::ExactCache;
use super::interval::Interval;
use super::level::Alpha;
use super::margin::Margin;
use super::mcnemar::{Mcnemar, mcnemar};
use super::newcombe::newcombe10;
use super::score::{ScoreTest, score_interval, score_test};
use super::single::SingleArms;
use super::table::PairedTable;

/// All statistics of a table at one margin and one one-sided level. Undefined values are null.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TableReport {
    /// Number of tasks.
    pub n: u64,
    /// Gains.
    #[serde(rename = "G")]
    pub gain: u64,
    /// Losses.
    #[serde(rename = "L")]
    pub loss: u64,
    /// Δ̂ = (G − L)/n.
    pub delta_hat: f64,
    /// ψ̂ = (G + L)/n.
    pub discordance: f64,
    /// Score tests at ±δ.
    pub tango: ScoreTest,
    /// Score interval of level `1 − 2·alpha`.
    pub tango_ci: Interval,
    /// Newcombe's interval, method 10.
    pub newcombe10: Interval,
    /// Tests of Δ = 0.
    pub mcnemar: Mcnemar,
    /// Exact multinomial bootstrap.
    pub bootstrap_exact: Bootstrap,
    /// Exact unconditional test at −δ.
    pub exact_uncond: ExactUnconditional,
    /// Accuracy of each arm.
    pub single: SingleArms,
}

/// The exact unconditional test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExactUnconditional {
    /// p of H0: Δ ≤ −δ.
    pub p: f64,
}

impl TableReport {
    /// Computes all of it; the exact p comes through the cache.
    pub fn new(table: PairedTable, margin: Margin, alpha: Alpha, exact: &ExactCache) -> Self {
        let counts = table.counts();
        Self {
            n: counts.n(),
            gain: counts.gain(),
            loss: counts.loss(),
            delta_hat: counts.delta_hat(),
            discordance: counts.discordance(),
            tango: score_test(counts, margin),
            tango_ci: score_interval(counts, alpha),
            newcombe10: newcombe10(table, alpha),
            mcnemar: mcnemar(counts.gain(), counts.loss()),
            bootstrap_exact: Bootstrap::new(counts, margin, alpha),
            exact_uncond: ExactUnconditional { p: exact.p(counts, margin) },
            single: SingleArms::new(table, alpha),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TableReport;
    use crate::stats::{Alpha, ExactCache, PairedTable};

    fn keys(value: &serde_json::Value) -> String {
        value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>().join(" ")).unwrap_or_default()
    }

    #[test]
    fn the_json_has_the_names_of_the_golden_file_and_nulls_where_undefined() {
        let table = PairedTable::new(40, 0, 0, 8).unwrap();
        let report = TableReport::new(table, "0.02".parse().unwrap(), Alpha::new(0.05).unwrap(), &ExactCache::new());
        let json = serde_json::to_value(report).unwrap();
        assert_eq!(
            keys(&json),
            "n G L delta_hat discordance tango tango_ci newcombe10 mcnemar bootstrap_exact exact_uncond single"
        );
        assert_eq!(keys(&json["tango"]), "T_lower p_lower T_upper p_upper p_tost");
        assert_eq!(keys(&json["mcnemar"]), "two_sided one_sided_harm midp_two midp_harm");
        assert_eq!(keys(&json["bootstrap_exact"]), "p_lower percentile_ci bca_z0 bca_a bca_ci");
        assert_eq!(keys(&json["exact_uncond"]), "p");
        assert_eq!(keys(&json["single"]), "raw compressed");
        assert_eq!(keys(&json["single"]["raw"]), "clopper_pearson wilson");
        assert!(
            json["bootstrap_exact"]["bca_ci"].is_null() && json["tango_ci"].as_array().is_some_and(|ci| ci.len() == 2)
        );
        assert_eq!(serde_json::from_value::<TableReport>(json).unwrap(), report);
    }
}
