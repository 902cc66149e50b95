//! What the parts of UIMCP's priority are worth: tools injected before anybody asks, in sessions where tools come back.
//!
//! Tools that were called are not promoted here, as they would be in a session of the arm: with promotion they are always
//! shown, and nothing could be said of the signals. One row more says what the whole is worth with promotion. Nearness is
//! that of words, which the threshold was chosen for.

use std::collections::{BTreeMap, BTreeSet};

use bench_tasks::{catalog::Catalogs, sessions::Sessions};
use serde::Serialize;

use super::EQUAL_K;
use crate::arms::peers::uimcp::{Ablation, Scores};

/// One variant over all requests of the sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AblationRow {
    /// What is at work.
    pub variant: Ablation,
    /// Tools that were called stay.
    pub promotes: bool,
    /// Requests.
    pub requests: u64,
    /// Share of requests whose right tool was injected, or was there because it was called before.
    pub injected: f64,
    /// Tools injected per request, on average, and tools that were called before where those stay.
    pub tools_per_request: f64,
}

/// Replays `count` sessions: at each request the tools are injected that the variant would inject, given what was used
/// before; then the right tool counts as used. `context` gives every tool's nearness to a text.
///
/// # Errors
/// Where an embedder fails.
pub fn measure(
    sessions: &Sessions<'_>,
    count: u64,
    catalogs: &Catalogs,
    context: &dyn Fn(&str) -> Result<Vec<f64>, String>,
) -> Result<Vec<AblationRow>, String> {
    let positions: BTreeMap<(&str, &str), usize> =
        catalogs.tools().enumerate().map(|(at, (catalog, tool))| ((&*catalog.server, &*tool.name), at)).collect();
    let variants = Ablation::ALL.map(|variant| (variant, false)).into_iter().chain([(Ablation::Whole, true)]);
    let mut sums: Vec<_> = variants.map(|variant| (variant, 0_u64, 0_u64)).collect();
    let mut requests = 0_u64;
    for index in 0..count {
        let session = sessions.session(index);
        let (mut scores, mut called) = (Scores::default(), BTreeSet::new());
        for step in &session.steps {
            let near = context(&step.task.utterance)?;
            let right: Vec<usize> = step
                .task
                .gold
                .iter()
                .filter_map(|gold| positions.get(&(&*gold.server, &*gold.tool)).copied())
                .collect();
            requests += 1;
            for ((variant, promotes), hits, shown) in &mut sums {
                let promoted = |at: &usize| *promotes && called.contains(at);
                let summoned = (0..near.len()).filter(|at| !promoted(at));
                let injected = scores.inject(&near, summoned, EQUAL_K, *variant);
                *shown += injected.len() as u64 + if *promotes { called.len() as u64 } else { 0 };
                *hits += u64::from(right.iter().any(|at| injected.contains(at) || promoted(at)));
            }
            scores.advance();
            if let Some(&first) = right.first() {
                scores.used(first);
                called.insert(first);
            }
        }
    }
    let share = |sum: u64| sum as f64 / requests.max(1) as f64;
    let row = |((variant, promotes), hits, shown)| AblationRow {
        variant,
        promotes,
        requests,
        injected: share(hits),
        tools_per_request: share(shown),
    };
    Ok(sums.into_iter().map(row).collect())
}
