//! Where texts lie near to one another: by the words they share, or by an embedder's vectors.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bench_tasks::lexical::{Index, tokens};

use super::{ArmError, embed::Embedder};

/// Documents in a fixed order, and how near a text is to each.
pub(super) enum Space {
    /// TF-IDF over words: the stand-in where no embedder is given.
    Words(Arc<Index>),
    /// Vectors of length 1.
    Dense(Dense),
}

/// Documents as an embedder sees them.
pub(super) struct Dense {
    embedder: Arc<dyn Embedder>,
    vectors: Vec<Vec<f32>>,
}

impl Space {
    /// Words of these texts.
    pub(super) fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::Words(Arc::new(Index::new(texts.into_iter().map(tokens))))
    }

    /// Vectors of these texts.
    pub(super) fn dense(texts: &[String], embedder: &Arc<dyn Embedder>) -> Result<Self, ArmError> {
        let vectors = embedder.embed(texts)?.into_iter().map(normalised).collect();
        Ok(Self::Dense(Dense { embedder: Arc::clone(embedder), vectors }))
    }

    /// The embedder's model; none where words are compared.
    pub(super) fn model(&self) -> Option<&str> {
        match self {
            Self::Words(_) => None,
            Self::Dense(dense) => Some(dense.embedder.model()),
        }
    }

    /// Cosine of every document with a text.
    ///
    /// # Errors
    /// Where the embedder fails.
    pub(super) fn cosine(&self, text: &str) -> Result<Vec<f64>, String> {
        match self {
            Self::Words(index) => Ok(index.cosine(&tokens(text))),
            Self::Dense(dense) => {
                let embedded = dense.embedder.embed(&[text.to_owned()]).map_err(|error| error.to_string())?;
                let query = normalised(embedded.into_iter().next().unwrap_or_default());
                Ok(dense.vectors.iter().map(|vector| dot(vector, &query)).collect())
            }
        }
    }

    /// Cosine of two documents.
    pub(super) fn between(&self, a: usize, b: usize) -> f64 {
        match self {
            Self::Words(index) => match (index.document(a), index.document(b)) {
                (Some(a), Some(b)) => a.dot(b),
                _ => 0.0,
            },
            Self::Dense(dense) => dot(&dense.vectors[a], &dense.vectors[b]),
        }
    }

    /// Length of the sum of some documents' vectors: what turns the sum of their cosines with a text into the cosine
    /// with their centroid.
    pub(super) fn length_of_sum(&self, documents: &[usize]) -> f64 {
        let square: f64 = match self {
            Self::Words(index) => {
                let mut sum: BTreeMap<u32, f64> = BTreeMap::new();
                for (term, weight) in documents.iter().filter_map(|&at| index.document(at)).flat_map(|v| &v.weights) {
                    *sum.entry(*term).or_default() += weight;
                }
                sum.values().map(|weight| weight * weight).sum()
            }
            Self::Dense(dense) => {
                let mut sum: Vec<f64> = Vec::new();
                for vector in documents.iter().map(|&at| &dense.vectors[at]) {
                    sum.resize(vector.len(), 0.0);
                    sum.iter_mut().zip(vector).for_each(|(sum, part)| *sum += f64::from(*part));
                }
                sum.iter().map(|part| part * part).sum()
            }
        };
        square.sqrt()
    }

    /// Documents whose cosine with a document may reach `least`, in order, itself among them.
    pub(super) fn maybe_near(&self, at: usize, least: f64) -> Vec<usize> {
        let Self::Words(index) = self else { return (0..self.len()).collect() };
        let Some(vector) = index.document(at) else { return Vec::new() };
        // Rare words weigh most. A document that shares none of the heaviest ones is no nearer than the others are long
        // (prefix filtering: Bayardo, Ma and Srikant 2007).
        let mut weights = vector.weights.clone();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut left: f64 = weights.iter().map(|(_, weight)| weight * weight).sum();
        let mut near = BTreeSet::from([at]);
        for (term, weight) in weights {
            // A little room for rounding.
            if left.max(0.0).sqrt() < least - 1e-9 {
                break;
            }
            near.extend(index.with_term(term));
            left -= weight * weight;
        }
        near.into_iter().collect()
    }

    fn len(&self) -> usize {
        match self {
            Self::Words(index) => index.len(),
            Self::Dense(dense) => dense.vectors.len(),
        }
    }
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_centroid_is_nearest_to_what_its_members_share() {
        let space = Space::words(["read file", "write file", "list branches"]);
        let cosines = space.cosine("file").unwrap();
        let centroid = (cosines[0] + cosines[1]) / space.length_of_sum(&[0, 1]);
        assert!(centroid > cosines[0] && centroid < 1.0, "{centroid} {cosines:?}");
        assert!((space.length_of_sum(&[2]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nobody_near_is_passed_over() {
        let texts =
            ["read text file", "text file read", "read file", "write text file", "list branches", "list tags", ""];
        let space = Space::words(texts);
        for least in [0.2, 0.5, 0.85] {
            for a in 0..texts.len() {
                let maybe = space.maybe_near(a, least);
                let near = (0..texts.len()).filter(|&b| space.between(a, b) >= least);
                assert!(near.clone().all(|b| maybe.contains(&b)), "{a} {least} {maybe:?}");
            }
        }
        assert_eq!(space.maybe_near(4, 0.85), [4]);
    }
}
