//! raw: the captured definitions, unchanged. It is the reference that every level is compared with.

use std::sync::Arc;

use super::{
    Arm, ArmError, ArmInfo, Waiver, block::Block, definitions::Definitions, level::LevelArm, materials::Materials,
};

/// Info of an arm with this surface: the reference itself, its repetition, and its form in the result suite.
pub(super) fn info(id: &str, summary: &'static str) -> ArmInfo {
    ArmInfo::direct(id, summary, &[Waiver::LargerThanL0])
}

#[expect(clippy::unnecessary_wraps, reason = "every arm is built by a function of this type")]
pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    Ok(Arc::new(LevelArm::direct(info, Arc::clone(definitions), blocks(definitions))))
}

/// Every server's tools as captured.
pub(super) fn blocks(definitions: &Definitions) -> Vec<Block> {
    definitions
        .servers
        .iter()
        .map(|server| Block::direct(server.tools.iter().map(|tool| tool.raw.clone()).collect()))
        .collect()
}
