//! L0: every definition without what no validator reads ([`tidy`](super::tidy) does it).

use std::sync::Arc;

use super::{Arm, ArmError, ArmInfo, LEVELS_SOURCE, block::Block, level::LevelArm, materials::Materials};

pub(super) fn info() -> ArmInfo {
    ArmInfo { source: LEVELS_SOURCE, ..ArmInfo::direct("L0", "definitions without what no validator reads", &[]) }
}

#[expect(clippy::unnecessary_wraps, reason = "every arm is built by a function of this type")]
pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    let blocks = (0..definitions.servers.len()).map(|server| Block::lossless(definitions, server)).collect();
    Ok(Arc::new(LevelArm::direct(info, Arc::clone(definitions), blocks)))
}
