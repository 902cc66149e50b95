//! A catalog whose descriptions are stuffed with keywords to win retrieval, put beside the others: what each arm
//! surfaces then.

use std::sync::Arc;

use bench_tasks::{
    TasksError,
    catalog::{Catalog, Catalogs},
};
use serde::Serialize;

use super::{EQUAL_K, Requests};
use crate::arms::{Arm, ArmContext};

/// The catalog, as a server would send it.
const STUFFED: &str = include_str!("../../data/stuffed.json");
/// Its name: last in name order, so that it wins no tie by position.
const SERVER: &str = "zz-stuffed";

/// What one arm's search surfaces of the stuffed tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdversaryRow {
    /// The arm.
    pub arm: String,
    /// Share of requests with a stuffed tool on a shortlist of five.
    pub surfaced: f64,
    /// Share of requests with a stuffed tool first.
    pub first: f64,
    /// Share of requests with a right tool on a shortlist of five, without the stuffed catalog.
    pub r5_clean: f64,
    /// The same with it.
    pub r5_stuffed: f64,
}

/// What arms are built from, with the stuffed catalog among the others.
///
/// # Errors
/// Where the stuffed catalog cannot be read.
pub fn stuffed(context: &ArmContext) -> Result<ArmContext, TasksError> {
    let mut catalogs = context.catalogs.catalogs.clone();
    catalogs.push(Catalog::parse(SERVER, "stuffed.json", STUFFED.as_bytes().into())?);
    catalogs.sort_by(|a, b| a.server.cmp(&b.server));
    Ok(ArmContext { catalogs: Arc::new(Catalogs { catalogs }), ..context.clone() })
}

/// Puts the requests to an arm's search, built with the stuffed catalog and without; `None` where it has no search.
/// Both requests and positions are those of the catalogs that the arm was built over.
///
/// # Errors
/// Where an embedder fails.
pub fn measure(
    clean: (&dyn Arm, &Requests),
    stuffed: (&dyn Arm, &Requests),
    catalogs: &Catalogs,
) -> Result<Option<AdversaryRow>, String> {
    let (Some(before), Some(after)) = (clean.0.ranker(), stuffed.0.ranker()) else { return Ok(None) };
    let bad: Vec<usize> =
        catalogs.tools().enumerate().filter(|(_, (catalog, _))| &*catalog.server == SERVER).map(|(at, _)| at).collect();
    let (mut surfaced, mut first, mut r5_clean, mut r5_stuffed) = (0_u64, 0_u64, 0_u64, 0_u64);
    for request in &clean.1.requests {
        r5_clean += u64::from(super::place(before, request, EQUAL_K)?.is_some());
    }
    for request in &stuffed.1.requests {
        let list = after.rank(&request.utterance, EQUAL_K)?;
        surfaced += u64::from(list.iter().any(|at| bad.contains(at)));
        first += u64::from(list.first().is_some_and(|at| bad.contains(at)));
        r5_stuffed += u64::from(list.iter().any(|at| request.right.contains(at)));
    }
    let share = |count: u64, of: usize| count as f64 / of.max(1) as f64;
    Ok(Some(AdversaryRow {
        arm: clean.0.info().id.0.clone(),
        surfaced: share(surfaced, stuffed.1.len()),
        first: share(first, stuffed.1.len()),
        r5_clean: share(r5_clean, clean.1.len()),
        r5_stuffed: share(r5_stuffed, stuffed.1.len()),
    }))
}
