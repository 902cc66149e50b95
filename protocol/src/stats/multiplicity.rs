//! Many claims, one error rate: sequentially rejective graphs (Bretz, Maurer, Brannath & Posch 2009, Stat Med 28:586).
//!
//! Holm's procedure and the fixed sequence are special graphs, so there is one algorithm. A hypothesis without a p-value
//! was not evaluated; it is never rejected, and what hangs on it alone is never reached.

use super::error::StatsError;

/// Below this a denominator of the update counts as zero.
const VANISHING: f64 = 1e-12;

/// Weights `w_i` of hypotheses, and `g_ij`, the share of i's weight that goes to j once i is rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    weights: Vec<f64>,
    transition: Vec<Vec<f64>>,
}

impl Graph {
    /// Checks a graph.
    ///
    /// # Errors
    /// Weights or rows that are negative, not finite or sum to more than 1; a matrix that is not square; a loop from a
    /// hypothesis to itself.
    pub fn new(weights: Vec<f64>, transition: Vec<Vec<f64>>) -> Result<Self, StatsError> {
        let shares = |row: &[f64]| row.iter().all(|&x| x >= 0.0) && row.iter().sum::<f64>() <= 1.0 + 1e-9;
        let fail = |cause| Err(StatsError::Graph { cause });
        if !shares(&weights) {
            return fail("weights must be at least 0 and sum to at most 1");
        }
        if transition.len() != weights.len() || transition.iter().any(|row| row.len() != weights.len()) {
            return fail("the transition matrix must have a row and a column per hypothesis");
        }
        if !transition.iter().all(|row| shares(row)) {
            return fail("each transition row must be at least 0 and sum to at most 1");
        }
        if transition.iter().enumerate().any(|(i, row)| row[i] > 0.0) {
            return fail("a hypothesis can't pass weight to itself");
        }
        Ok(Self { weights, transition })
    }

    /// Holm (1979, Scand J Stat 6:65) over `k` hypotheses: equal weights, passed on equally.
    pub fn holm(k: usize) -> Self {
        let equal = |i, j| if i == j { 0.0 } else { 1.0 / (k - 1) as f64 };
        Self {
            weights: vec![1.0 / k as f64; k],
            transition: (0..k).map(|i| (0..k).map(|j| equal(i, j)).collect()).collect(),
        }
    }

    /// The fixed sequence over `k` hypotheses: all weight on the first, passed down the line.
    pub fn fixed_sequence(k: usize) -> Self {
        let unit = |hit| f64::from(u8::from(hit));
        Self {
            weights: (0..k).map(|i| unit(i == 0)).collect(),
            transition: (0..k).map(|i| (0..k).map(|j| unit(j == i + 1)).collect()).collect(),
        }
    }

    /// Adjusted p-values: hypothesis i is rejected at any level `alpha ≥ adjusted_i`, with familywise error at most alpha.
    /// None where it was not evaluated, or can't be tested because of one that was not.
    ///
    /// # Errors
    /// A number of p-values other than that of hypotheses, or a p outside [0, 1].
    pub fn adjusted(&self, p: &[Option<f64>]) -> Result<Vec<Option<f64>>, StatsError> {
        if p.len() != self.weights.len() {
            return Err(StatsError::HypothesisCount { found: p.len(), expected: self.weights.len() });
        }
        if let Some(&found) = p.iter().flatten().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(StatsError::Probability { name: "p-value", found });
        }
        let mut graph = self.clone();
        let mut left: Vec<usize> = (0..p.len()).collect();
        let mut adjusted = vec![None; p.len()];
        let mut largest = 0.0_f64;
        loop {
            let ratio = |i: usize| p[i].filter(|_| graph.weights[i] > 0.0).map(|p| p / graph.weights[i]);
            let next = left.iter().filter_map(|&i| ratio(i).map(|r| (r, i))).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((ratio, i)) = next else { return Ok(adjusted) };
            largest = largest.max(ratio).min(1.0);
            adjusted[i] = Some(largest);
            left.retain(|&j| j != i);
            graph.remove(i, &left);
        }
    }

    /// Which hypotheses are rejected at one-sided level `alpha`.
    ///
    /// # Errors
    /// As [`Graph::adjusted`].
    pub fn rejected(&self, p: &[Option<f64>], alpha: f64) -> Result<Vec<bool>, StatsError> {
        Ok(self.adjusted(p)?.into_iter().map(|p| p.is_some_and(|p| p <= alpha)).collect())
    }

    /// Hands a hypothesis' weight to those `left`, and reroutes the edges that led through it.
    fn remove(&mut self, gone: usize, left: &[usize]) {
        let old = self.transition.clone();
        for &l in left {
            self.weights[l] += self.weights[gone] * old[gone][l];
            let rest = 1.0 - old[l][gone] * old[gone][l];
            for &k in left {
                let rerouted =
                    if l == k || rest <= VANISHING { 0.0 } else { (old[l][k] + old[l][gone] * old[gone][k]) / rest };
                self.transition[l][k] = rerouted;
            }
        }
        self.weights[gone] = 0.0;
    }
}

/// The p-value of a claim that needs all its parts (intersection–union, Berger 1982): the largest, none where one part
/// was not evaluated or there is no part.
pub fn intersection_union(p: &[Option<f64>]) -> Option<f64> {
    p.iter().copied().reduce(|a, b| Some(a?.max(b?))).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Graph, intersection_union};

    /// The weights that an intersection hypothesis gives to its members: the graph with the others removed.
    fn intersection_weights(graph: &Graph, members: &[usize]) -> Vec<f64> {
        let mut reduced = graph.clone();
        let mut left: Vec<usize> = (0..graph.weights.len()).collect();
        for gone in (0..graph.weights.len()).filter(|i| !members.contains(i)) {
            left.retain(|&i| i != gone);
            reduced.remove(gone, &left);
        }
        reduced.weights
    }

    /// Closed testing by brute force: a hypothesis falls when every intersection that holds it does.
    fn by_closed_testing(graph: &Graph, p: &[f64], alpha: f64) -> Vec<bool> {
        let k = p.len();
        let falls = |set: u32| {
            let members: Vec<usize> = (0..k).filter(|i| set >> i & 1 == 1).collect();
            let weights = intersection_weights(graph, &members);
            members.iter().any(|&i| weights[i] > 0.0 && p[i] <= weights[i] * alpha)
        };
        (0..k).map(|i| (1_u32..1 << k).filter(|set| set >> i & 1 == 1).all(falls)).collect()
    }

    fn some(p: &[f64]) -> Vec<Option<f64>> {
        p.iter().copied().map(Some).collect()
    }

    /// The joint graph of the ladder and R: L0 passes half to L1 and half to R; L1→L2→L3→R and R→L1.
    fn ladder_with_r() -> Graph {
        let transition = vec![
            vec![0.0, 0.5, 0.0, 0.0, 0.5],
            vec![0.0, 0.0, 1.0, 0.0, 0.0],
            vec![0.0, 0.0, 0.0, 1.0, 0.0],
            vec![0.0, 0.0, 0.0, 0.0, 1.0],
            vec![0.0, 1.0, 0.0, 0.0, 0.0],
        ];
        Graph::new(vec![1.0, 0.0, 0.0, 0.0, 0.0], transition).unwrap()
    }

    #[test]
    fn malformed_graphs_and_p_values_are_refused() {
        assert!(Graph::new(vec![0.6, 0.6], vec![vec![0.0; 2]; 2]).is_err());
        assert!(Graph::new(vec![0.5, f64::NAN], vec![vec![0.0; 2]; 2]).is_err());
        assert!(Graph::new(vec![0.5, 0.5], vec![vec![0.0; 2]]).is_err());
        assert!(Graph::new(vec![0.5, 0.5], vec![vec![0.0, 1.5], vec![0.0, 0.0]]).is_err());
        assert!(Graph::new(vec![0.5, 0.5], vec![vec![0.5, 0.0], vec![0.0, 0.0]]).is_err());
        assert!(Graph::holm(2).adjusted(&some(&[0.1])).is_err());
        assert!(Graph::holm(2).adjusted(&some(&[0.1, 1.1])).is_err());
        assert!(Graph::holm(1).adjusted(&some(&[f64::NAN])).is_err());
    }

    #[test]
    fn nothing_after_a_missing_level_is_tested() {
        let chain = Graph::fixed_sequence(4);
        let p = [Some(0.001), None, Some(0.0), Some(0.0)];
        assert_eq!(chain.adjusted(&p).unwrap(), [Some(0.001), None, None, None]);
        assert_eq!(chain.rejected(&p, 0.05).unwrap(), [true, false, false, false]);
        assert_eq!(Graph::holm(0).adjusted(&[]).unwrap(), []);
    }

    #[test]
    fn a_claim_with_a_missing_part_has_no_p() {
        assert_eq!(intersection_union(&[Some(0.01), Some(0.2), Some(0.03)]), Some(0.2));
        assert_eq!(intersection_union(&[None, Some(0.2)]), None);
        assert_eq!(intersection_union(&[Some(0.2), None]), None);
        assert_eq!(intersection_union(&[]), None);
    }

    fn random_graph(k: usize) -> impl Strategy<Value = Graph> {
        let row = || proptest::collection::vec(prop_oneof![Just(0.0), 0.0..1.0_f64], k);
        (row(), proptest::collection::vec(row(), k)).prop_map(|(weights, rows)| {
            let scaled = |row: Vec<f64>| {
                let sum = row.iter().sum::<f64>().max(1.0);
                row.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
            };
            let off_diagonal = rows.into_iter().enumerate().map(|(i, mut row)| {
                row[i] = 0.0;
                scaled(row)
            });
            Graph::new(scaled(weights), off_diagonal.collect()).unwrap()
        })
    }

    fn p_values(k: usize) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(prop_oneof![0.0..0.06_f64, 0.0..1.0_f64], k)
    }

    proptest! {
        #[test]
        fn the_shortcut_is_closed_testing_on_any_graph((graph, p) in (1_usize..6).prop_flat_map(|k| (random_graph(k), p_values(k)))) {
            prop_assert_eq!(graph.rejected(&some(&p), 0.05).unwrap(), by_closed_testing(&graph, &p, 0.05));
        }

        #[test]
        fn holm_fixed_sequence_and_ladder_are_closed_testing(p in p_values(5)) {
            for graph in [Graph::holm(5), Graph::fixed_sequence(5), ladder_with_r()] {
                prop_assert_eq!(graph.rejected(&some(&p), 0.05).unwrap(), by_closed_testing(&graph, &p, 0.05));
            }
        }

        #[test]
        fn holm_matches_its_textbook_form(p in p_values(6)) {
            let mut order: Vec<usize> = (0..6).collect();
            order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
            let mut expected = [0.0; 6];
            let mut largest = 0.0_f64;
            for (rank, &i) in order.iter().enumerate() {
                largest = largest.max((6 - rank) as f64 * p[i]).min(1.0);
                expected[i] = largest;
            }
            for (found, expected) in Graph::holm(6).adjusted(&some(&p)).unwrap().into_iter().zip(expected) {
                prop_assert!((found.unwrap() - expected).abs() < 1e-12);
            }
        }
    }
}
