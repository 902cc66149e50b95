//! Context tokens: what each arm shows at the start of a session.

use serde::Serialize;

use super::{
    source::{ServerSize, Sources},
    text::tame,
};
use crate::certificate::Certificate;

/// One arm's surface at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextRow {
    /// The arm.
    pub arm: String,
    /// Tools, meta tools included.
    pub tools: u64,
    /// Bytes.
    pub bytes: u64,
    /// Tokens.
    pub tokens: u64,
    /// Tokens that it saves against the first arm, in parts per million; negative where it is larger.
    pub saving_ppm: i64,
    /// What counted.
    pub counted_by: String,
    /// By server.
    pub servers: Vec<ServerSize>,
}

/// Arms of the tool suite, in their order; the reference comes first.
pub(super) fn context(certificate: &Certificate, sources: &Sources) -> Vec<ContextRow> {
    let sized = sources.planned.iter().filter_map(|one| Some((&one.arm, certificate.sizes.get(&*one.arm)?)));
    let reference = sized.clone().next().map_or(0, |(_, size)| size.tokens);
    sized
        .map(|(arm, size)| ContextRow {
            arm: tame(arm, 64),
            tools: size.tools,
            bytes: size.bytes,
            tokens: size.tokens,
            saving_ppm: saving_ppm(size.tokens, reference),
            counted_by: tame(&size.counted_by, 64),
            servers: sources.sizes.get(&**arm).cloned().unwrap_or_default(),
        })
        .collect()
}

fn saving_ppm(tokens: u64, reference: u64) -> i64 {
    if reference == 0 {
        return 0;
    }
    let saved = (i128::from(reference) - i128::from(tokens)) * 1_000_000 / i128::from(reference);
    i64::try_from(saved).unwrap_or(i64::MIN)
}
