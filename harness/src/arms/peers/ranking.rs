//! What a search surfaces, apart from the words it is wrapped in.

/// How an arm's search ranks the tools of all catalogs.
pub trait Ranker: Send + Sync {
    /// The first `k` tools for a query, best first, by position in catalog order ([`bench_tasks::Catalogs::tools`]).
    /// Fewer where the search has no more to offer.
    ///
    /// # Errors
    /// Where an embedder fails; a word search never does.
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String>;

    /// The number of tools that the arm itself shows.
    fn shortlist(&self) -> usize;
}

/// Positions of the `k` highest scores above zero, best first, ties by position.
pub(super) fn top(scores: &[f64], k: usize) -> Vec<usize> {
    among(scores, (0..scores.len()).filter(|&at| scores[at] > 0.0), k)
}

/// As [`top`], filled up with scores of zero: what a search by vectors does, which always has a nearest one.
pub(super) fn first(scores: &[f64], k: usize) -> Vec<usize> {
    among(scores, 0..scores.len(), k)
}

/// The `k` of these positions with the highest scores, best first, ties by position.
pub(super) fn among(scores: &[f64], positions: impl IntoIterator<Item = usize>, k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = positions.into_iter().collect();
    let before = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if k < order.len() {
        order.select_nth_unstable_by(k, before);
        order.truncate(k);
    }
    order.sort_unstable_by(before);
    order
}

#[cfg(test)]
mod tests {
    use bench_tasks::lexical::rank;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_shortlist_is_the_head_of_the_ranking(
            scores in prop::collection::vec(prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]), 0..40),
            k in 0_usize..50,
        ) {
            let ranked = rank(&scores);
            let head = |all: bool| -> Vec<usize> {
                ranked.iter().copied().filter(|&at| all || scores[at] > 0.0).take(k).collect()
            };
            prop_assert_eq!(top(&scores, k), head(false));
            prop_assert_eq!(first(&scores, k), head(true));
        }
    }
}
