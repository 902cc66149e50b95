//! L1: every description cut to its first sentence and the constraints among the later ones; the rest on request.

use std::sync::Arc;

use super::{
    Arm, ArmError, ArmInfo, LEVELS_SOURCE,
    block::Block,
    definitions::{Definitions, shown},
    fallback,
    level::LevelArm,
    materials::Materials,
    names::{MetaKind, Place},
    schema_tool::schema_meta,
    sentences,
    tidy::{self, tidy},
};

/// Sentences that are kept beside the first, at most.
const MAX_CONSTRAINTS: usize = 2;
/// Words that mark a sentence as a constraint.
const CONSTRAINTS: [&str; 21] = [
    "must",
    "never",
    "only",
    "required",
    "requires",
    "cannot",
    "can't",
    "can’t",
    "can not",
    "don't",
    "don’t",
    "do not",
    "warning",
    "important",
    "deprecated",
    "at most",
    "at least",
    "maximum",
    "minimum",
    "default",
    "defaults",
];

pub(super) fn info() -> ArmInfo {
    let summary = "descriptions cut to their first sentence and constraints, the rest on request";
    ArmInfo { source: LEVELS_SOURCE, ..ArmInfo::direct("L1", summary, &[]) }
}

pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    let (blocks, fallbacks) = fallback::never_larger(definitions, "L1", block)?;
    Ok(Arc::new(LevelArm::new(info, Arc::clone(definitions), blocks, fallbacks)))
}

fn block(definitions: &Definitions, server: usize) -> Result<Block, ArmError> {
    let own = &definitions.servers[server];
    let mut list = Vec::with_capacity(own.tools.len() + 1);
    for (position, tool) in own.tools.iter().enumerate() {
        let upstream = &tool.upstream;
        let description = upstream.description.as_deref().map(summarise).filter(|text| !text.is_empty());
        let schema = tidy::schema(&upstream.input_schema, &upstream.name, &summarise);
        let name = definitions.names.tool(Place { server, tool: position });
        let short = shown(name, description, &schema)?;
        list.push(if short.json() == tool.lossless.json() { Arc::clone(&tool.lossless) } else { short });
    }
    let description = format!(
        "Descriptions of the `{}` tools are shortened to their first sentence and main constraints. \
         Call this with a tool_name for the full description and schema.",
        own.name
    );
    list.push(schema_meta(definitions.names.meta(server, MetaKind::Schema), description)?);
    Ok(Block { shown: list, hidden: Vec::new(), metas: vec![MetaKind::Schema] })
}

/// The first sentence and at most two later ones that state a constraint, verbatim and in order; the whole text where
/// that leaves nothing out.
pub(super) fn summarise(text: &str) -> String {
    let whole = tidy(text);
    let all = sentences::split(&whole);
    let later = all.iter().skip(1).filter(|sentence| states_constraint(sentence)).take(MAX_CONSTRAINTS);
    let kept: Vec<&str> = all.iter().take(1).chain(later).copied().collect();
    if kept.len() < all.len() { kept.join(" ") } else { whole }
}

fn states_constraint(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase();
    CONSTRAINTS.iter().any(|word| contains_word(&sentence, word))
}

/// True where `word` stands in the text with no letter, digit or underscore beside it.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(inside)
            && !text[at + word.len()..].chars().next().is_some_and(inside)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_sentence_and_two_constraints_stay_verbatim_in_order() {
        assert_eq!(
            summarise("Reads a file. It is fast. Path must be absolute. Nice. Never follow links. Only UTF-8."),
            "Reads a file. Path must be absolute. Never follow links."
        );
    }

    #[test]
    fn a_constraint_is_a_whole_word_in_any_case() {
        assert_eq!(summarise("Does. It is mustard. End."), "Does.");
        assert_eq!(summarise("Does. IMPORTANT: Call once. End."), "Does. IMPORTANT: Call once.");
        assert_eq!(summarise("Does. Takes AT MOST 5. The default_branch is used."), "Does. Takes AT MOST 5.");
        assert_eq!(summarise("Does. Don’t call twice. End."), "Does. Don’t call twice.");
    }

    #[test]
    fn what_loses_no_sentence_stays_whole() {
        assert_eq!(summarise("One sentence only"), "One sentence only");
        assert_eq!(summarise("One.\n\n\n  Must two.  "), "One.\n\n  Must two.");
        assert_eq!(summarise(""), "");
    }

    proptest! {
        #[test]
        fn a_summary_is_never_longer_and_made_of_the_text_alone(text in "([A-C][a-c]{1,5}( must| only)?[.!?] ?\n{0,3}){0,8}") {
            let short = summarise(&text);
            prop_assert!(short.len() <= text.len());
            let whole = tidy(&text);
            let mut rest = short.as_str();
            for sentence in sentences::split(&whole) {
                rest = rest.trim_start();
                rest = rest.strip_prefix(sentence).unwrap_or(rest);
            }
            prop_assert_eq!(rest, "");
        }
    }
}
