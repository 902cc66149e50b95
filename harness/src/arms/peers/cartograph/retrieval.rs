//! Retrieval in two stages: servers by their centroid, then the tools of those that are kept.

use std::ops::Range;

use crate::arms::{peers::ranking::among, space::Space};

/// Servers kept: a third of them, no fewer and no more than these; all where there are no more than the least.
const LEAST: usize = 3;
const MOST: usize = 8;

/// Documents of a space in two layers: the tools in catalog order, then one per server.
pub(super) struct TwoStage {
    space: Space,
    servers: Vec<Server>,
}

struct Server {
    tools: Range<usize>,
    /// Its own document.
    own: usize,
    /// Length of the sum of its documents' vectors.
    length: f64,
}

impl TwoStage {
    /// Groups the documents of a space; `tools` gives every server's.
    pub(super) fn new(space: Space, tools: impl IntoIterator<Item = Range<usize>>) -> Self {
        let tools: Vec<Range<usize>> = tools.into_iter().collect();
        let first_own = tools.last().map_or(0, |last| last.end);
        let servers = tools
            .into_iter()
            .enumerate()
            .map(|(server, tools)| {
                let own = first_own + server;
                let documents: Vec<usize> = tools.clone().chain([own]).collect();
                Server { length: space.length_of_sum(&documents), tools, own }
            })
            .collect();
        Self { space, servers }
    }

    /// The first `k` tools.
    pub(super) fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        let cosines = self.space.cosine(query)?;
        let centroid = |server: &Server| {
            let sum: f64 = server.tools.clone().chain([server.own]).map(|at| cosines[at]).sum();
            if server.length > 0.0 { sum / server.length } else { 0.0 }
        };
        let centroids: Vec<f64> = self.servers.iter().map(centroid).collect();
        let by_centroid = among(&centroids, 0..centroids.len(), centroids.len());
        let mut kept: Vec<usize> = Vec::new();
        for (rank, &server) in by_centroid.iter().enumerate() {
            // A shortlist is filled before servers are cut off.
            if rank >= stage_one(self.servers.len()) && kept.len() >= k {
                break;
            }
            kept.extend(self.servers[server].tools.clone());
        }
        Ok(among(&cosines, kept, k))
    }
}

/// Servers that the first stage keeps of so many.
fn stage_one(servers: usize) -> usize {
    servers.div_ceil(3).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_servers_is_kept_within_bounds() {
        assert_eq!([1, 3, 8, 10, 24, 100].map(stage_one), [3, 3, 3, 4, 8, 8]);
    }

    #[test]
    fn tools_of_servers_that_are_cut_off_are_not_found() {
        // Five servers of two tools; the query's word stands once on the last, drowned by its other tool.
        let mut texts: Vec<String> =
            (0..4).flat_map(|n| [format!("alpha beta{n}"), format!("alpha gamma{n}")]).collect();
        texts.extend(["alpha wanted".to_owned(), "delta epsilon zeta".to_owned()]);
        texts.extend((0..4).map(|n| format!("alpha server{n}")).chain(["delta epsilon".to_owned()]));
        let space = Space::words(texts.iter().map(String::as_str));
        let search = TwoStage::new(space, (0..5).map(|server| 2 * server..2 * server + 2));
        assert_eq!(search.rank("alpha", 3).unwrap(), [0, 1, 2]);
        assert!(!search.rank("alpha", 5).unwrap().contains(&8));
        // More than the kept servers have: the next server is added.
        assert_eq!(search.rank("alpha", 10).unwrap().len(), 10);
    }
}
