//! Renderings in the output shape of the real tools.

pub(super) mod git;
pub(super) mod github;
