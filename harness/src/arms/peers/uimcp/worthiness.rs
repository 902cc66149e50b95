//! The optimizer's first stage: tools that are not worth their place are archived and cannot be reached.

use std::collections::{BTreeSet, HashMap};

use bench_tasks::lexical::tool_tokens;
use serde_json::{Map, Value};

use crate::arms::Materials;

/// Below this a tool is dropped.
const LEAST: f64 = 0.3;
/// Parameters at which a tool is worth nothing.
const MANY_PARAMETERS: f64 = 20.0;
/// Characters of a description that count in full.
const FULL_DESCRIPTION: f64 = 500.0;

/// By position: whether a tool is archived. Tools are looked at in catalog order, each against those accepted before.
pub(super) fn archived(materials: &Materials) -> Vec<bool> {
    let mut accepted = Accepted::default();
    let mut archived = Vec::with_capacity(materials.len());
    for at in 0..materials.len() {
        let description = materials.description(at);
        let characters = description.chars().count();
        let parameters =
            materials.tool(at).upstream.input_schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        // Redundancy only takes away: most tools need not be compared to any other.
        let mut drop = worthiness(parameters, characters, 0.0) < LEAST;
        if !drop {
            let words: BTreeSet<String> = tool_tokens(materials.name(at), Some(description)).into_iter().collect();
            drop = worthiness(parameters, characters, accepted.redundancy(&words)) < LEAST;
            if !drop {
                accepted.add(words);
            }
        }
        archived.push(drop);
    }
    archived
}

/// The words of tools that were accepted.
#[derive(Default)]
struct Accepted {
    /// Number of words of each tool.
    sizes: Vec<usize>,
    /// The tools that have a word. Only looked up, never iterated.
    having: HashMap<String, Vec<usize>>,
}

impl Accepted {
    fn add(&mut self, words: BTreeSet<String>) {
        let tool = self.sizes.len();
        self.sizes.push(words.len());
        for word in words {
            self.having.entry(word).or_default().push(tool);
        }
    }

    /// The highest Jaccard similarity of these words with a tool's; 0 without tools.
    fn redundancy(&self, words: &BTreeSet<String>) -> f64 {
        let mut shared = vec![0_usize; self.sizes.len()];
        for &tool in words.iter().filter_map(|word| self.having.get(word)).flatten() {
            shared[tool] += 1;
        }
        let similarity = |(&shared, &own): (&usize, &usize)| {
            if shared == 0 { 0.0 } else { shared as f64 / (own + words.len() - shared) as f64 }
        };
        shared.iter().zip(&self.sizes).map(similarity).fold(0.0, f64::max)
    }
}

/// `(1 − parameters/20) · min(1, characters/500) · (1 − redundancy)`, the first factor not below 0.
fn worthiness(parameters: usize, characters: usize, redundancy: f64) -> f64 {
    let simple = (1.0 - parameters as f64 / MANY_PARAMETERS).max(0.0);
    simple * (characters as f64 / FULL_DESCRIPTION).min(1.0) * (1.0 - redundancy)
}

#[cfg(test)]
mod tests {
    use bench_tasks::lexical::{jaccard, tokens};

    use super::*;

    #[test]
    fn redundancy_is_the_similarity_with_the_most_similar() {
        let sets = ["reads a file", "writes a file to disk", "", "lists branches"]
            .map(|text| tokens(text).into_iter().collect::<BTreeSet<String>>());
        let mut accepted = Accepted::default();
        assert!(accepted.redundancy(&sets[0]).abs() < f64::EPSILON);
        sets.iter().for_each(|words| accepted.add(words.clone()));
        for text in ["reads the file", "writes branches", "", "nothing of it"] {
            let words: BTreeSet<String> = tokens(text).into_iter().collect();
            let expected = sets.iter().map(|other| jaccard(&words, other)).fold(0.0, f64::max);
            assert_eq!(accepted.redundancy(&words).to_bits(), expected.to_bits(), "{text}");
        }
    }

    #[test]
    fn a_description_below_150_characters_is_never_worth_it() {
        assert!(worthiness(0, 149, 0.0) < LEAST);
        assert!(worthiness(0, 150, 0.0) >= LEAST);
        assert!((worthiness(10, 500, 0.5) - 0.25).abs() < 1e-12);
        assert!(worthiness(30, 500, 0.0).abs() < f64::EPSILON);
    }
}
