//! Which tool follows which.

use std::collections::{BTreeMap, VecDeque};

/// Tools with edges kept at most, and edges of each.
const NODES: usize = 512;
const EDGES: usize = 32;

/// Counts of transitions between tools, by position.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    edges: BTreeMap<usize, BTreeMap<usize, u32>>,
    /// Tools with edges, the one used longest ago first.
    order: VecDeque<usize>,
}

impl Graph {
    /// `b` was called after `a`; `names` breaks ties between edges of one count.
    pub(super) fn add(&mut self, a: usize, b: usize, names: &dyn Fn(usize) -> String) {
        self.order.retain(|&node| node != a);
        self.order.push_back(a);
        if self.order.len() > NODES
            && let Some(oldest) = self.order.pop_front()
        {
            self.edges.remove(&oldest);
        }
        let edges = self.edges.entry(a).or_default();
        *edges.entry(b).or_default() += 1;
        if edges.len() > EDGES {
            let lightest = edges
                .iter()
                .filter(|(to, _)| **to != b)
                .min_by_key(|(to, count)| (**count, names(**to)))
                .map(|(to, _)| *to);
            if let Some(lightest) = lightest {
                edges.remove(&lightest);
            }
        }
    }

    /// The tools that were called after `a`.
    pub(super) fn after(&self, a: usize) -> impl Iterator<Item = usize> {
        self.edges.get(&a).into_iter().flat_map(|edges| edges.keys().copied())
    }

    /// Share of `a`'s transitions that lead to `b`.
    pub(super) fn share(&self, a: usize, b: usize) -> f64 {
        let Some(edges) = self.edges.get(&a) else { return 0.0 };
        let all: u32 = edges.values().sum();
        edges.get(&b).map_or(0.0, |&count| f64::from(count) / f64::from(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(node: usize) -> String {
        format!("{node:04}")
    }

    #[test]
    fn a_share_is_of_all_transitions_from_a_tool() {
        let mut graph = Graph::default();
        for b in [1, 1, 2, 0] {
            graph.add(0, b, &name);
        }
        assert!((graph.share(0, 1) - 0.5).abs() < 1e-12);
        assert!((graph.share(0, 0) - 0.25).abs() < 1e-12);
        assert!(graph.share(1, 0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_lightest_edge_and_the_oldest_node_give_way() {
        let mut graph = Graph::default();
        (1..=EDGES + 1).for_each(|b| graph.add(0, b, &name));
        assert!(graph.share(0, 1).abs() < f64::EPSILON && graph.share(0, EDGES + 1) > 0.0);
        (1..=NODES).for_each(|a| graph.add(a, 0, &name));
        assert!(graph.share(0, 2).abs() < f64::EPSILON && graph.share(1, 0) > 0.0);
    }
}
