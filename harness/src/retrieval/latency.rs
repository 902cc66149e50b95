//! How long a search takes as catalogs grow. The clock is passed in.

use std::time::Duration;

use bench_tasks::{
    TasksError,
    catalog::{Catalog, Catalogs},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arms::peers::Ranker;

/// Numbers of tools at which searches are timed.
pub const SIZES: [usize; 3] = [28, 500, 2_000];
/// Tools of a server in grown catalogs.
const PER_SERVER: usize = 25;

/// How long one arm's search took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyRow {
    /// The arm.
    pub arm: String,
    /// Tools.
    pub tools: usize,
    /// Median of a search, in nanoseconds.
    pub median_ns: u64,
    /// 95th percentile, in nanoseconds.
    pub p95_ns: u64,
}

/// Catalogs of so many tools: those given, repeated under other names on servers of [`PER_SERVER`] tools.
///
/// # Errors
/// Where a definition cannot be written or read, which no catalog that was loaded makes happen.
pub fn grown(catalogs: &Catalogs, tools: usize) -> Result<Catalogs, TasksError> {
    let originals: Vec<Value> =
        catalogs.tools().filter_map(|(_, tool)| serde_json::from_str(tool.raw.get()).ok()).collect();
    let mut grown = Vec::new();
    for first in (0..tools).step_by(PER_SERVER) {
        let mut own: Vec<Value> = Vec::with_capacity(PER_SERVER);
        for at in first..tools.min(first + PER_SERVER) {
            let Some(original) = originals.get(at % originals.len().max(1)) else { break };
            let mut tool = original.clone();
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if at >= originals.len() || own.iter().any(|other| other["name"] == name) {
                tool["name"] = json!(format!("{name}_{at:04}"));
            }
            own.push(tool);
        }
        let file = json!({ "tools_list_pages": [{ "tools": own }] }).to_string();
        let server = format!("grown{:03}", first / PER_SERVER);
        grown.push(Catalog::parse(&server, "grown catalog", file.into_bytes().into())?);
    }
    Ok(Catalogs { catalogs: grown })
}

/// Times a search on some texts; `clock` tells the time since any fixed moment.
///
/// # Errors
/// Where an embedder fails.
pub fn measure(
    arm: &str,
    search: &dyn Ranker,
    tools: usize,
    texts: &[String],
    clock: &dyn Fn() -> Duration,
) -> Result<LatencyRow, String> {
    // What is built at the first search is no part of the others.
    search.rank(texts.first().map_or("", String::as_str), search.shortlist())?;
    let mut times = Vec::with_capacity(texts.len());
    for text in texts {
        let before = clock();
        search.rank(text, search.shortlist())?;
        times.push(u64::try_from((clock().saturating_sub(before)).as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied();
    Ok(LatencyRow { arm: arm.to_owned(), tools, median_ns: at(50).unwrap_or(0), p95_ns: at(95).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn grown_catalogs_have_so_many_tools_under_different_names() {
        let reference = Catalogs::vendored().unwrap();
        for size in SIZES {
            let grown = grown(&reference, size).unwrap();
            assert_eq!(grown.tool_count(), size);
        }
    }

    struct Slow;

    impl Ranker for Slow {
        fn rank(&self, _: &str, _: usize) -> Result<Vec<usize>, String> {
            Ok(Vec::new())
        }

        fn shortlist(&self) -> usize {
            5
        }
    }

    #[test]
    fn the_clock_passed_in_decides_and_the_first_search_does_not_count() {
        // The n-th reading is n² milliseconds, so the n-th search takes 4n + 1.
        let reading = Cell::new(0_u64);
        let clock = || {
            let now = reading.get();
            reading.set(now + 1);
            Duration::from_millis(now * now)
        };
        let texts: Vec<String> = (0..4).map(|n| n.to_string()).collect();
        let row = measure("slow", &Slow, 28, &texts, &clock).unwrap();
        assert_eq!((row.median_ns, row.p95_ns), (9_000_000, 13_000_000));
    }
}
