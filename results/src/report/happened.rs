//! What happened, per arm, server and tool: how tools were shown, and the way in which calls came about.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    gather::Gathered,
    source::Sources,
    tally::Tally,
    text::{tame, word},
};

/// How a tool stands on an arm's initial surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownAs {
    /// As the reference shows it.
    Unchanged,
    /// Otherwise.
    Changed,
    /// Not at all.
    Hidden,
}

/// One tool under one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRow {
    /// The tool.
    pub tool: String,
    /// How it is shown at the start; none in the result suite, where what differs is the result.
    pub shown: Option<ShownAs>,
    /// What happened in the episodes that ask for it.
    pub tally: Tally,
}

/// One server under one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerRow {
    /// The server; `(no tool)` for requests that no tool serves.
    pub server: String,
    /// Sums over its tools.
    pub tally: Tally,
    /// Tools that are shown unchanged, changed, not at all.
    pub shown: Option<(u64, u64, u64)>,
    /// Its tools.
    pub tools: Vec<ToolRow>,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArmRow {
    /// Its family.
    pub family: String,
    /// The arm.
    pub arm: String,
    /// Sums over everything.
    pub total: Tally,
    /// By server.
    pub servers: Vec<ServerRow>,
}

/// Builds the tables.
pub(super) fn happened(seen: &Gathered<'_>, sources: &Sources) -> Vec<ArmRow> {
    let mut shown: BTreeMap<(&str, String), ShownAs> = BTreeMap::new();
    for texts in &sources.tools {
        let label = format!("{}/{}", texts.server, texts.tool);
        for (arm, text) in &texts.shown {
            let how = match text {
                None => ShownAs::Hidden,
                Some(text) if *text == texts.original => ShownAs::Unchanged,
                Some(_) => ShownAs::Changed,
            };
            shown.insert((arm, label.clone()), how);
        }
    }
    seen.planned
        .iter()
        .enumerate()
        .map(|(at, planned)| {
            let mut arm = ArmRow {
                family: word(&planned.family),
                arm: tame(&planned.arm, 64),
                total: Tally::default(),
                servers: Vec::new(),
            };
            for (tool, tally) in seen.tallies[at].iter().enumerate().filter(|(_, tally)| tally.episodes > 0) {
                let label = seen.tools.get(tool).map_or("(no tool)", |label| label);
                arm.total.merge(tally);
                add(&mut arm.servers, label, shown.get(&(&*planned.arm, label.to_owned())).copied(), tally);
            }
            arm
        })
        .collect()
}

fn add(servers: &mut Vec<ServerRow>, label: &str, shown: Option<ShownAs>, tally: &Tally) {
    let (server, tool) = label.split_once('/').unwrap_or((label, label));
    let server = tame(server, 64);
    if servers.last().is_none_or(|row| row.server != server) {
        servers.push(ServerRow { server, tally: Tally::default(), shown: None, tools: Vec::new() });
    }
    let Some(row) = servers.last_mut() else { return };
    row.tally.merge(tally);
    if let Some(how) = shown {
        let counts = row.shown.get_or_insert((0, 0, 0));
        match how {
            ShownAs::Unchanged => counts.0 += 1,
            ShownAs::Changed => counts.1 += 1,
            ShownAs::Hidden => counts.2 += 1,
        }
    }
    row.tools.push(ToolRow { tool: tame(tool, 120), shown, tally: *tally });
}
