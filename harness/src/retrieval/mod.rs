//! Retrieval and size without a model: what each search surfaces for the suite's own words, and what each arm's
//! definitions cost under several tokenizers.

pub mod ablation;
pub mod adversary;
pub mod latency;
pub mod metrics;
pub mod ratios;
pub mod tokenizer;

use std::{collections::BTreeMap, sync::Arc};

use bench_tasks::{
    catalog::Catalogs,
    task::{Stratum, Task},
};
use serde::Serialize;

use self::metrics::Metrics;
use crate::arms::{Arm, Tasks, peers::Ranker};

/// Tools per search at which all arms are compared.
pub const EQUAL_K: usize = 5;

/// What one arm's search does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmRetrieval {
    /// The arm.
    pub arm: String,
    /// Whether it takes a place in a ranking.
    pub ranked: bool,
    /// Over shortlists of [`EQUAL_K`].
    pub equal: Metrics,
    /// The number of tools that it shows itself.
    pub own_k: usize,
    /// Over shortlists of that length.
    pub own: Metrics,
    /// Misses by stratum, over shortlists of [`EQUAL_K`]: requests, misses.
    pub misses: BTreeMap<Stratum, (u64, u64)>,
}

/// Requests with a right answer, and where the right tools stand in catalog order.
pub struct Requests {
    requests: Vec<Request>,
}

struct Request {
    utterance: String,
    stratum: Stratum,
    right: Vec<usize>,
}

impl Requests {
    /// The requests of these tasks; abstain tasks have nothing to find and are left out.
    pub fn new(tasks: impl IntoIterator<Item = Task>, catalogs: &Catalogs) -> Self {
        let positions: BTreeMap<(&str, &str), usize> =
            catalogs.tools().enumerate().map(|(at, (catalog, tool))| ((&*catalog.server, &*tool.name), at)).collect();
        let request = |task: Task| {
            let right: Vec<usize> =
                task.gold.iter().filter_map(|gold| positions.get(&(&*gold.server, &*gold.tool)).copied()).collect();
            (!right.is_empty()).then_some(Request { utterance: task.utterance, stratum: task.stratum, right })
        };
        Self { requests: tasks.into_iter().filter_map(request).collect() }
    }

    /// Number of requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}

/// Puts every request to the search of an arm; `None` where it has none.
///
/// # Errors
/// Where an embedder fails.
pub fn measure(arm: &dyn Arm, requests: &Requests) -> Result<Option<ArmRetrieval>, String> {
    let Some(search) = arm.ranker() else { return Ok(None) };
    let own_k = search.shortlist();
    let (mut equal, mut own) = (metrics::Sums::default(), metrics::Sums::default());
    let mut misses: BTreeMap<Stratum, (u64, u64)> = BTreeMap::new();
    for request in &requests.requests {
        let place = place(search, request, EQUAL_K)?;
        equal.add(place);
        let of_stratum = misses.entry(request.stratum).or_default();
        of_stratum.0 += 1;
        of_stratum.1 += u64::from(place.is_none());
        own.add(if own_k == EQUAL_K { place } else { self::place(search, request, own_k)? });
    }
    Ok(Some(ArmRetrieval {
        arm: arm.info().id.0.clone(),
        ranked: arm.info().ranks(Tasks::Single),
        equal: equal.metrics(),
        own_k,
        own: own.metrics(),
        misses,
    }))
}

/// Place of the first right tool on a shortlist, from 0.
fn place(search: &dyn Ranker, request: &Request, k: usize) -> Result<Option<usize>, String> {
    Ok(search.rank(&request.utterance, k)?.iter().position(|at| request.right.contains(at)))
}

/// Arms in the order of a list, each once.
pub fn searching(arms: impl IntoIterator<Item = Arc<dyn Arm>>) -> Vec<Arc<dyn Arm>> {
    arms.into_iter().filter(|arm| arm.ranker().is_some()).collect()
}

#[cfg(test)]
mod tests;
