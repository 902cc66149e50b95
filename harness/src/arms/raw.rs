//! raw: the captured definitions, unchanged. It is the reference that every level is compared with.

use super::{ArmInfo, Waiver, definitions::Definitions, level::Block};

/// Info of an arm with this surface: the reference itself, its repetition, and its form in the result suite.
pub(super) fn info(id: &str, summary: &'static str) -> ArmInfo {
    ArmInfo::direct(id, summary, &[Waiver::LargerThanL0])
}

/// Every server's tools as captured.
pub(super) fn blocks(definitions: &Definitions) -> Vec<Block> {
    definitions
        .servers
        .iter()
        .map(|server| Block::direct(server.tools.iter().map(|tool| tool.raw.clone()).collect()))
        .collect()
}
