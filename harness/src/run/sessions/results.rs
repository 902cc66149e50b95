//! What tools answer in a session: results of the result suite where it has some for a tool, a short confirmation
//! elsewhere.

use std::collections::BTreeMap;

use bench_tasks::{catalog::Catalogs, result::ToolResult, results_suite::ResultGenerator};

use crate::episode::ResultSource;

/// Results drawn from the result suite.
const DRAWN: u64 = 60;

/// Results by tool.
#[derive(Debug, Default)]
pub struct CannedResults {
    by_tool: BTreeMap<(String, String), Vec<ToolResult>>,
}

impl CannedResults {
    /// Results of these catalogs' tools; none where the result suite has no tool among them.
    pub fn new(catalogs: &Catalogs, seed: [u8; 32]) -> Self {
        let mut by_tool: BTreeMap<(String, String), Vec<ToolResult>> = BTreeMap::new();
        if let Ok(generator) = ResultGenerator::new(catalogs, seed, DRAWN) {
            for task in (0..generator.len()).map(|index| generator.task(index)) {
                by_tool.entry((task.server.to_string(), task.tool.to_string())).or_default().push(task.result);
            }
        }
        Self { by_tool }
    }
}

impl ResultSource for CannedResults {
    /// The same request gets the same result under every arm.
    fn result(&self, server: &str, tool: &str, request: &str) -> Option<ToolResult> {
        let results = self.by_tool.get(&(server.to_owned(), tool.to_owned()))?;
        let at = request.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        results.get(at % results.len().max(1)).cloned()
    }
}
