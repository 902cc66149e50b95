//! The optimizer's first stage: tools that are not worth their place are archived and cannot be reached.

use std::collections::BTreeSet;

use bench_tasks::lexical::{jaccard, tool_tokens};
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
    let mut accepted: Vec<BTreeSet<String>> = Vec::new();
    let mut archived = Vec::with_capacity(materials.len());
    for at in 0..materials.len() {
        let description = materials.description(at);
        let words: BTreeSet<String> = tool_tokens(materials.name(at), Some(description)).into_iter().collect();
        let redundancy = accepted.iter().map(|other| jaccard(&words, other)).fold(0.0, f64::max);
        let parameters =
            materials.tool(at).upstream.input_schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        let drop = worthiness(parameters, description.chars().count(), redundancy) < LEAST;
        if !drop {
            accepted.push(words);
        }
        archived.push(drop);
    }
    archived
}

/// `(1 − parameters/20) · min(1, characters/500) · (1 − redundancy)`, the first factor not below 0.
fn worthiness(parameters: usize, characters: usize, redundancy: f64) -> f64 {
    let simple = (1.0 - parameters as f64 / MANY_PARAMETERS).max(0.0);
    simple * (characters as f64 / FULL_DESCRIPTION).min(1.0) * (1.0 - redundancy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_below_150_characters_is_never_worth_it() {
        assert!(worthiness(0, 149, 0.0) < LEAST);
        assert!(worthiness(0, 150, 0.0) >= LEAST);
        assert!((worthiness(10, 500, 0.5) - 0.25).abs() < 1e-12);
        assert!(worthiness(30, 500, 0.0).abs() < f64::EPSILON);
    }
}
