//! Whether a simulated table can stand in a lock.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{
    Claim, Layout, Scenario, SimulateError, SimulationTable,
    table::{At, OUTLOOK_DIFFERENCES, Row},
};
use crate::spec::Protocol;

/// Trials per rate that a lock asks for at least: the standard error of a size of 5 % is then 0.15 points.
pub const LEAST_REPLICATES: u64 = 20_000;

/// Why a table cannot stand in a lock.
#[derive(Debug, Error)]
pub enum UnfitTable {
    /// Of another protocol.
    #[error("the simulation is of protocol {found}, this one is {expected}")]
    Another {
        /// The table's protocol.
        found: String,
        /// The protocol to be locked.
        expected: String,
    },
    /// Too few trials.
    #[error("the simulation has {found} trials per rate, a lock asks for {LEAST_REPLICATES} at least")]
    Replicates {
        /// Trials per rate.
        found: u64,
    },
    /// Scenarios, rates or outlooks are missing or others.
    #[error(
        "the simulation has not the whole grid of scenarios at the protocol's sizes ({what}); a lock keeps all of it"
    )]
    Grid {
        /// What of the table is not the protocol's.
        what: &'static str,
    },
    /// The rule does not hold its level where nothing was known to forbid it.
    #[error(
        "in scenario `{scenario}` (claim: {claim}) {level} is certified in {rate} of runs although it loses the margin, and nothing explains that: the rule does not hold its level"
    )]
    Excess {
        /// The scenario.
        scenario: String,
        /// Whose error rate.
        claim: Claim,
        /// The level.
        level: String,
        /// The rate, a share of one.
        rate: f64,
    },
    /// The protocol has no nested sizes or no canonical form.
    #[error(transparent)]
    Protocol(#[from] SimulateError),
}

impl SimulationTable {
    /// Whether this table can stand in a lock of `protocol`: its own, whole, with enough trials, without an excess that
    /// nothing explains.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn fit_for_lock(&self, protocol: &Protocol) -> Result<(), UnfitTable> {
        let expected = protocol.digest().map_err(SimulateError::from)?;
        if self.protocol != expected.as_str() {
            let expected = expected.as_str().to_owned();
            return Err(UnfitTable::Another { found: self.protocol.clone(), expected });
        }
        if self.replicates < LEAST_REPLICATES {
            return Err(UnfitTable::Replicates { found: self.replicates });
        }
        let levels = &protocol.arms.levels;
        let grid = Scenario::grid_of(protocol);
        let expected: BTreeSet<(&str, Claim, At, &str)> = grid
            .iter()
            .flat_map(|scenario| levels.iter().map(move |level| (scenario.name.as_str(), level.as_str())))
            .flat_map(|(scenario, level)| {
                let claims = [Claim::Frames, Claim::Tools].into_iter();
                claims.flat_map(move |claim| [At::Null, At::Margin].map(|at| (scenario, claim, at, level)))
            })
            .collect();
        let rows: BTreeSet<_> =
            self.rows.iter().map(|row| (row.scenario.as_str(), row.claim, row.at, row.level.as_str())).collect();
        let judged = |row: &Row| row.within.is_some() == (row.at == At::Margin);
        let asked = Scenario::outlooks_of(protocol);
        let outlooks = asked.iter().flat_map(|one| OUTLOOK_DIFFERENCES.map(|difference| (&one.name, difference)));
        let what = [
            ("layout", self.layout == Layout::of(protocol)?),
            ("margin", self.margin == protocol.test.margin),
            ("alpha", self.alpha.to_bits() == protocol.test.alpha.value().to_bits()),
            ("levels", self.levels == *levels),
            ("scenarios", self.scenarios == grid),
            ("rows", rows == expected && self.rows.len() == expected.len() && self.rows.iter().all(judged)),
            ("outlooks", self.outlooks.iter().map(|seen| (&seen.scenario, seen.difference)).eq(outlooks)),
        ];
        if let Some((what, _)) = what.into_iter().find(|(_, fits)| !fits) {
            return Err(UnfitTable::Grid { what });
        }
        match self.unexpected().next() {
            Some(row) => Err(UnfitTable::Excess {
                scenario: row.scenario.clone(),
                claim: row.claim,
                level: row.level.clone(),
                rate: row.rate,
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_takes_its_own_whole_table_with_enough_trials_and_no_unexplained_excess() {
        // The committed table under the digest of the protocol as it is, as if it had been written with enough trials.
        let (protocol, mut table) = (Protocol::built_in().unwrap(), SimulationTable::built_in().unwrap());
        table.replicates = LEAST_REPLICATES;
        table.fit_for_lock(&protocol).unwrap();
        let refused = |change: fn(&mut SimulationTable)| {
            let mut changed = table.clone();
            change(&mut changed);
            changed.fit_for_lock(&protocol).unwrap_err()
        };
        let part = |change| match refused(change) {
            UnfitTable::Grid { what } => what,
            _ => "another",
        };
        assert!(matches!(refused(|table| table.replicates -= 1), UnfitTable::Replicates { found: 19_999 }));
        assert!(matches!(refused(|table| table.protocol.push('0')), UnfitTable::Another { .. }));
        assert_eq!(part(|table| drop(table.rows.pop())), "rows");
        assert_eq!(part(|table| table.rows[1] = table.rows[0].clone()), "rows");
        assert_eq!(part(|table| table.outlooks.clear()), "outlooks");
        assert_eq!(part(|table| drop(table.scenarios.pop())), "scenarios");
        assert_eq!(part(|table| table.layout.tools += 1), "layout");
        let excess = refused(|table| {
            let row = table.rows.iter_mut().find(|row| row.within == Some(true) && row.caveat.is_none()).unwrap();
            row.within = Some(false);
        });
        assert!(matches!(excess, UnfitTable::Excess { .. }));
    }
}
