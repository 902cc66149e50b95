//! Word overlap, defined once for the mock's `lexical` behaviour, every retrieval arm and the reports.
//!
//! Tokens are runs of alphanumerics, split at lower-to-upper boundaries, in ASCII lower case, of at least two characters;
//! no stemming, no stop words. Ties are broken by position. Scores are summed in the query's token order, so they do
//! not depend on anything but the input.

pub mod porter;

use std::{
    collections::{BTreeSet, HashMap},
    sync::OnceLock,
};

/// BM25's term-frequency saturation.
const K1: f64 = 1.2;
/// BM25's length normalisation.
const B: f64 = 0.75;

/// Splits text into tokens.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut after_lower = false;
    // A blank at the end closes the last token.
    for c in text.chars().chain([' ']) {
        let boundary = !c.is_alphanumeric() || (after_lower && c.is_uppercase());
        if boundary {
            if token.chars().nth(1).is_some() {
                tokens.push(std::mem::take(&mut token));
            }
            token.clear();
        }
        if c.is_alphanumeric() {
            token.push(c.to_ascii_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    tokens
}

/// The document of a tool, unless an arm says otherwise: its name, then its description.
pub fn tool_tokens(name: &str, description: Option<&str>) -> Vec<String> {
    let mut all = tokens(name);
    all.extend(tokens(description.unwrap_or_default()));
    all
}

/// Number of shared tokens over number of tokens in either; 0 if both are empty (Jaccard, 1901).
pub fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let shared = a.intersection(b).count();
    let either = a.len() + b.len() - shared;
    if either == 0 { 0.0 } else { shared as f64 / either as f64 }
}

/// A sparse vector over an index's terms, of length 1 unless empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vector {
    /// `(term, weight)`, by term.
    pub weights: Vec<(u32, f64)>,
}

impl Vector {
    /// Scales to length 1; a zero vector stays zero.
    #[must_use]
    pub fn normalised(mut self) -> Self {
        let length = self.weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        if length > 0.0 {
            self.weights.iter_mut().for_each(|(_, weight)| *weight /= length);
        }
        self
    }

    /// The inner product; the cosine, if both have length 1.
    pub fn dot(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (self.weights.iter().peekable(), other.weights.iter().peekable());
        let mut sum = 0.0;
        while let (Some((term_a, weight_a)), Some((term_b, weight_b))) = (a.peek(), b.peek()) {
            match term_a.cmp(term_b) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal => {
                    sum += weight_a * weight_b;
                    a.next();
                    b.next();
                }
            }
        }
        sum
    }
}

/// An inverted index over documents in a fixed order.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Only looked up, never iterated.
    terms: HashMap<String, u32>,
    /// Per term, `(document, occurrences)` by document.
    postings: Vec<Vec<(u32, u32)>>,
    /// Tokens per document.
    lengths: Vec<u32>,
    /// Tokens of all documents.
    total: u64,
    /// Distinct tokens per document.
    distinct: Vec<u32>,
    /// TF-IDF vectors, built when they are first asked for.
    vectors: OnceLock<Vectors>,
}

/// The documents' TF-IDF vectors.
#[derive(Debug, Clone, Default)]
struct Vectors {
    documents: Vec<Vector>,
    /// The same by term: `(document, weight)` by document.
    by_term: Vec<Vec<(u32, f64)>>,
}

impl Index {
    /// Indexes documents given as tokens.
    ///
    /// # Panics
    /// Beyond 2^32 documents or tokens.
    pub fn new<D: AsRef<[String]>>(documents: impl IntoIterator<Item = D>) -> Self {
        let mut index = Self::default();
        for (document, tokens) in (0u32..).zip(documents) {
            let tokens = tokens.as_ref();
            let mut terms: Vec<u32> = Vec::with_capacity(tokens.len());
            for token in tokens {
                let next = small(index.postings.len());
                let term = *index.terms.entry(token.clone()).or_insert(next);
                if term == next {
                    index.postings.push(Vec::new());
                }
                terms.push(term);
            }
            index.lengths.push(small(terms.len()));
            index.total += terms.len() as u64;
            let counts = counted(terms);
            index.distinct.push(small(counts.len()));
            for (term, occurrences) in counts {
                index.postings[term as usize].push((document, occurrences));
            }
        }
        index
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Okapi BM25 of every document (Robertson and Walker, 1994) with k1 = 1.2, b = 0.75 and
    /// idf = ln(1 + (N − df + 0.5) / (df + 0.5)). A token that the query repeats counts each time.
    pub fn bm25(&self, query: &[String]) -> Vec<f64> {
        let mut scores = vec![0.0; self.len()];
        for postings in query.iter().filter_map(|token| self.postings_of(token)) {
            self.add_bm25(postings, &mut scores);
        }
        scores
    }

    /// BM25 of every document for something else than a token, a phrase for instance, that occurs in these documents so
    /// often and in no other.
    pub fn bm25_of(&self, occurrences: impl IntoIterator<Item = (usize, usize)>) -> Vec<f64> {
        let counted = occurrences.into_iter().filter(|(document, count)| *count > 0 && *document < self.len());
        let postings: Vec<(u32, u32)> = counted.map(|(document, count)| (small(document), small(count))).collect();
        let mut scores = vec![0.0; self.len()];
        self.add_bm25(&postings, &mut scores);
        scores
    }

    /// Documents that have all of these tokens, in order; none for no token.
    pub fn having(&self, tokens: &[String]) -> Vec<usize> {
        let Some(mut postings) = tokens.iter().map(|token| self.postings_of(token)).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        // The rarest first: the others are only looked into.
        postings.sort_by_key(|documents| documents.len());
        let Some((rarest, others)) = postings.split_first() else { return Vec::new() };
        let has = |documents: &&[(u32, u32)], document: u32| documents.binary_search_by_key(&document, |d| d.0).is_ok();
        let all = rarest.iter().map(|&(document, _)| document);
        all.filter(|&document| others.iter().all(|other| has(other, document))).map(|at| at as usize).collect()
    }

    fn add_bm25(&self, postings: &[(u32, u32)], scores: &mut [f64]) {
        let documents = self.len() as f64;
        let average = self.total as f64 / documents.max(1.0);
        let frequency = postings.len() as f64;
        let idf = (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln();
        for &(document, occurrences) in postings {
            let length = f64::from(self.lengths[document as usize]) / average;
            let occurrences = f64::from(occurrences);
            scores[document as usize] += idf * occurrences * (K1 + 1.0) / (occurrences + K1 * (1.0 - B + B * length));
        }
    }

    /// Cosine of every document with the query, over tf = 1 + ln(tf) and idf = ln((N + 1) / (df + 1)) + 1; tokens of the
    /// query that no document has are ignored.
    pub fn cosine(&self, query: &[String]) -> Vec<f64> {
        let vectors = self.vectors();
        let mut scores = vec![0.0; self.len()];
        // In the order of terms, as an inner product would add them.
        for (term, own) in self.vector(query).weights {
            for &(document, weight) in &vectors.by_term[term as usize] {
                scores[document as usize] += weight * own;
            }
        }
        scores
    }

    /// Jaccard similarity of every document's token set with the query's.
    pub fn jaccard(&self, query: &[String]) -> Vec<f64> {
        let query: BTreeSet<&String> = query.iter().collect();
        let mut shared = vec![0_u32; self.len()];
        for &(document, _) in query.iter().filter_map(|token| self.postings_of(token)).flatten() {
            shared[document as usize] += 1;
        }
        let score = |(&shared, &own): (&u32, &u32)| {
            let either = own as usize + query.len() - shared as usize;
            if either == 0 { 0.0 } else { f64::from(shared) / either as f64 }
        };
        shared.iter().zip(&self.distinct).map(score).collect()
    }

    /// The TF-IDF vector of any tokens, of length 1; tokens that no document has are ignored.
    pub fn vector(&self, tokens: &[String]) -> Vector {
        self.weighted(counted(tokens.iter().filter_map(|token| self.terms.get(token)).copied().collect()))
    }

    /// The TF-IDF vector of a document, of length 1.
    pub fn document(&self, at: usize) -> Option<&Vector> {
        self.vectors().documents.get(at)
    }

    /// Documents that have a term of a vector, in order.
    pub fn with_term(&self, term: u32) -> impl Iterator<Item = usize> {
        self.postings.get(term as usize).into_iter().flatten().map(|&(document, _)| document as usize)
    }

    fn vectors(&self) -> &Vectors {
        self.vectors.get_or_init(|| {
            let mut counts: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.len()];
            for (term, postings) in (0..).zip(&self.postings) {
                for &(document, occurrences) in postings {
                    counts[document as usize].push((term, occurrences));
                }
            }
            let documents: Vec<Vector> = counts.into_iter().map(|counts| self.weighted(counts)).collect();
            let mut by_term: Vec<Vec<(u32, f64)>> = self.postings.iter().map(|p| Vec::with_capacity(p.len())).collect();
            for (document, vector) in (0..).zip(&documents) {
                for &(term, weight) in &vector.weights {
                    by_term[term as usize].push((document, weight));
                }
            }
            Vectors { documents, by_term }
        })
    }

    /// The vector of these terms, given in order with their occurrences.
    fn weighted(&self, counts: Vec<(u32, u32)>) -> Vector {
        let documents = self.len() as f64;
        let weights = counts.into_iter().map(|(term, occurrences)| {
            let frequency = self.postings[term as usize].len() as f64;
            let idf = ((documents + 1.0) / (frequency + 1.0)).ln() + 1.0;
            (term, (1.0 + f64::from(occurrences).ln()) * idf)
        });
        Vector { weights: weights.collect() }.normalised()
    }

    fn postings_of(&self, token: &str) -> Option<&[(u32, u32)]> {
        self.terms.get(token).map(|&term| self.postings[term as usize].as_slice())
    }
}

/// Terms in order, each with its occurrences.
fn counted(mut terms: Vec<u32>) -> Vec<(u32, u32)> {
    terms.sort_unstable();
    terms.chunk_by(|a, b| a == b).map(|run| (run[0], small(run.len()))).collect()
}

/// Positions by falling score, ties by position.
pub fn rank(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // Stable, so equal scores keep their order.
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

#[expect(clippy::expect_used, reason = "documented limit, far beyond any catalog")]
fn small(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 documents and tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        Index::new([tokens("read file read"), tokens("write file"), tokens("list branches of a repository")])
    }

    #[test]
    fn tokens_split_at_non_alphanumerics_and_case_boundaries() {
        let cases: [(&str, &[&str]); 8] = [
            ("git_log", &["git", "log"]),
            ("readTextFile", &["read", "text", "file"]),
            ("HTTPServer v2", &["httpserver", "v2"]),
            ("a b2 c", &["b2"]),
            ("get-env, x/y", &["get", "env"]),
            ("Übung École", &["Übung", "École"]),
            ("перWord", &["пер", "word"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn bm25_follows_its_formula() {
        let scores = index().bm25(&tokens("read file file"));
        let idf = |df: f64| (1.0 + (3.0 - df + 0.5) / (df + 0.5)).ln();
        let average: f64 = (3.0 + 2.0 + 4.0) / 3.0;
        let part = |tf: f64, length: f64| tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / average));
        let expected =
            [idf(1.0) * part(2.0, 3.0) + 2.0 * idf(2.0) * part(1.0, 3.0), 2.0 * idf(2.0) * part(1.0, 2.0), 0.0];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12, "{score} {expected}");
        }
    }

    #[test]
    fn cosine_is_one_with_itself_and_zero_with_strangers() {
        let index = index();
        let scores = index.cosine(&tokens("file write unknown"));
        assert!((scores[1] - 1.0).abs() < 1e-12 && scores[0] > 0.0 && scores[2] == 0.0, "{scores:?}");
        assert!(index.cosine(&tokens("unknown")).iter().all(|&score| score == 0.0));
    }

    #[test]
    fn a_phrase_scores_as_a_token_of_the_same_occurrences_would() {
        let index = index();
        assert_eq!(index.bm25_of([(0, 1), (1, 1)]), index.bm25(&tokens("file")));
        assert_eq!(index.bm25_of([(2, 0), (3, 1)]), [0.0; 3]);
    }

    #[test]
    fn documents_that_have_all_tokens_and_no_others() {
        let having = |words: &str| index().having(&tokens(words));
        assert_eq!(having("file"), [0, 1]);
        assert_eq!(having("file read"), [0]);
        assert_eq!([having("file branches"), having("file unknown"), having("")], [const { Vec::<usize>::new() }; 3]);
    }

    #[test]
    fn cosines_are_inner_products_to_the_bit() {
        let index = index();
        for query in ["file write", "read a file of branches", "unknown", "list list of repository branches"] {
            let vector = index.vector(&tokens(query));
            let products: Vec<f64> = (0..3).map(|at| index.document(at).unwrap().dot(&vector)).collect();
            assert_eq!(index.cosine(&tokens(query)), products, "{query}");
        }
    }

    #[test]
    fn jaccard_over_postings_is_jaccard_over_sets() {
        let set = |text: &str| -> BTreeSet<String> { tokens(text).into_iter().collect() };
        let query = "read a file of unknown words, read it";
        let expected = ["read file read", "write file", "list branches of a repository"]
            .map(|text| jaccard(&set(text), &set(query)));
        assert_eq!(index().jaccard(&tokens(query)), expected);
    }

    #[test]
    fn ties_go_to_the_earlier_document() {
        assert_eq!(rank(&[0.0, 1.0, 1.0, 0.5, 0.0]), [1, 2, 3, 0, 4]);
        assert_eq!(rank(&index().jaccard(&tokens("file"))), [0, 1, 2]);
    }
}
