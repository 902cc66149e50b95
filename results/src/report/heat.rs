//! Losses and gains by server and by tool, of every compared arm.

use serde::Serialize;

use super::{
    compared::Compared,
    gather::{Gathered, Outcome},
    text::tame,
};

/// Tools that a map lists at most, those with the most discordant pairs; the rest is counted.
const TOOLS: usize = 400;

/// Discordant pairs of one group under one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct HeatCell {
    /// Pairs; missing outcomes in the worst case.
    pub n: u64,
    /// Right under the reference alone.
    pub loss: u64,
    /// Right under the arm alone.
    pub gain: u64,
}

impl HeatCell {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.loss += other.loss;
        self.gain += other.gain;
    }
}

/// One server or tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeatRow {
    /// Its name.
    pub name: String,
    /// By arm, in the map's order.
    pub cells: Vec<HeatCell>,
}

/// The map of one family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeatMap {
    /// The family.
    pub family: String,
    /// The arms, each against its own reference.
    pub arms: Vec<String>,
    /// Servers.
    pub servers: Vec<HeatRow>,
    /// Tools with a loss or a gain under any arm.
    pub tools: Vec<HeatRow>,
    /// Tools with neither.
    pub quiet_tools: u64,
    /// Tools with either that are not listed.
    pub left_out: u64,
}

/// A pair, missing outcomes in the worst case; none where one side was never attempted.
pub(super) fn pair(reference: Outcome, arm: Outcome) -> Option<(bool, bool)> {
    let reference = match reference {
        Outcome::Right | Outcome::Missing => true,
        Outcome::Wrong => false,
        Outcome::Unattempted | Outcome::Unscored => return None,
    };
    let arm = match arm {
        Outcome::Right => true,
        Outcome::Wrong | Outcome::Missing => false,
        Outcome::Unattempted | Outcome::Unscored => return None,
    };
    Some((reference, arm))
}

/// One map per family.
pub(super) fn maps(seen: &Gathered<'_>, compared: &[Compared]) -> Vec<HeatMap> {
    let mut families: Vec<&str> = compared.iter().map(|one| one.family.as_str()).collect();
    families.dedup();
    families
        .into_iter()
        .map(|family| {
            let arms: Vec<&Compared> = compared.iter().filter(|one| one.family == family).collect();
            map(seen, family, &arms)
        })
        .collect()
}

fn map(seen: &Gathered<'_>, family: &str, arms: &[&Compared]) -> HeatMap {
    let mut tools = vec![vec![HeatCell::default(); arms.len()]; seen.tools.len()];
    for (column, one) in arms.iter().enumerate() {
        for task in 0..seen.tasks.len() {
            let Some(cells) = tools.get_mut(seen.tool(task)) else { continue };
            if let Some((reference, own)) = pair(seen.outcome(one.reference, task), seen.outcome(one.arm, task)) {
                cells[column].add(HeatCell {
                    n: 1,
                    loss: u64::from(reference && !own),
                    gain: u64::from(own && !reference),
                });
            }
        }
    }
    let mut servers: Vec<(&str, Vec<HeatCell>)> = Vec::new();
    let mut rows: Vec<(u64, HeatRow)> = Vec::new();
    let mut quiet_tools = 0;
    for (label, cells) in seen.tools.iter().zip(tools) {
        if cells.iter().all(|cell| cell.n == 0) {
            continue;
        }
        let server = label.split_once('/').map_or(&**label, |(server, _)| server);
        if servers.last().is_none_or(|(name, _)| *name != server) {
            servers.push((server, vec![HeatCell::default(); arms.len()]));
        }
        if let Some((_, sums)) = servers.last_mut() {
            sums.iter_mut().zip(&cells).for_each(|(sum, cell)| sum.add(*cell));
        }
        let discordant: u64 = cells.iter().map(|cell| cell.loss + cell.gain).sum();
        if discordant == 0 {
            quiet_tools += 1;
        } else {
            rows.push((discordant, HeatRow { name: tame(label, 120), cells }));
        }
    }
    let whole = rows.len();
    if whole > TOOLS {
        let mut sizes: Vec<u64> = rows.iter().map(|(discordant, _)| *discordant).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let bound = sizes[TOOLS];
        rows.retain(|(discordant, _)| *discordant > bound);
    }
    let left_out = (whole - rows.len()) as u64;
    HeatMap {
        family: family.to_owned(),
        arms: arms.iter().map(|one| one.name.clone()).collect(),
        servers: servers.into_iter().map(|(name, cells)| HeatRow { name: tame(name, 64), cells }).collect(),
        left_out,
        tools: rows.into_iter().map(|(_, row)| row).collect(),
        quiet_tools,
    }
}
