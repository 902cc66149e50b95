//! Never larger than L0: a server that a level would not make smaller is shown at L0, and the arm says so.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use super::{ArmError, block::Block, definitions::Definitions};
use crate::surface::ShownTool;

/// Builds every server's block by `build`, and takes its L0 block where that is not larger in o200k tokens of what the
/// model is shown. Beside the blocks: the servers shown at L0, and why.
pub(super) fn never_larger(
    definitions: &Definitions,
    level: &str,
    build: impl Fn(&Definitions, usize) -> Result<Block, ArmError>,
) -> Result<(Vec<Block>, BTreeMap<String, String>), ArmError> {
    let mut blocks = Vec::with_capacity(definitions.servers.len());
    let mut fallbacks = BTreeMap::new();
    for (server, own) in definitions.servers.iter().enumerate() {
        let asked = build(definitions, server)?;
        let lossless = Block::lossless(definitions, server);
        blocks.push(match excess(&asked.shown, &lossless.shown) {
            None => asked,
            Some(tokens) => {
                let why = format!("shown at L0: {level} would take {tokens} o200k tokens more");
                fallbacks.insert(own.name.to_string(), why);
                lossless
            }
        });
    }
    Ok((blocks, fallbacks))
}

/// How many tokens more `asked` takes than `lossless`; `None` where it takes fewer. A definition is dearer to count than
/// to build, so those that stand in both lists are not counted, and counting stops once the answer is known.
fn excess(asked: &[Arc<ShownTool>], lossless: &[Arc<ShownTool>]) -> Option<usize> {
    let pointers = |list: &[Arc<ShownTool>]| list.iter().map(Arc::as_ptr).collect::<HashSet<_>>();
    let (in_asked, in_lossless) = (pointers(asked), pointers(lossless));
    let asked_tokens: usize =
        asked.iter().filter(|tool| !in_lossless.contains(&Arc::as_ptr(tool))).map(|tool| tool.tokens()).sum();
    let mut lossless_tokens = 0;
    for tool in lossless.iter().filter(|tool| !in_asked.contains(&Arc::as_ptr(tool))) {
        lossless_tokens += tool.tokens();
        if lossless_tokens > asked_tokens {
            return None;
        }
    }
    Some(asked_tokens - lossless_tokens)
}
