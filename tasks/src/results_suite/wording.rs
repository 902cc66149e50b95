//! How questions are put: the cores of `results/questions.toml` in the voices of `results/voices.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    draw::Draw,
    pools::Pools,
    recipes::{RECIPES, Recipe},
};
use crate::error::TasksError;

/// What is asked of one kind and format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Core {
    source: String,
    noun: String,
    ask: String,
    order: String,
    form: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Voices {
    voices: BTreeMap<String, String>,
}

/// All wordings.
#[derive(Debug)]
pub(super) struct Wordings {
    /// In the order of [`RECIPES`].
    cores: Vec<Core>,
    /// `(id, template)` in name order.
    voices: Vec<(String, String)>,
}

impl Wordings {
    /// The wordings that are compiled in.
    pub(super) fn embedded() -> Result<Self, TasksError> {
        let bad = |file: &str, cause: String| TasksError::Plan(format!("results/{file}: {cause}"));
        let mut questions: BTreeMap<String, BTreeMap<String, Core>> =
            toml::from_str(include_str!("../../results/questions.toml"))
                .map_err(|cause| bad("questions.toml", cause.to_string()))?;
        let voices: Voices = toml::from_str(include_str!("../../results/voices.toml"))
            .map_err(|cause| bad("voices.toml", cause.to_string()))?;
        let mut cores = Vec::with_capacity(RECIPES.len());
        for Recipe { kind, format, .. } in RECIPES {
            let core = questions.get_mut(kind.name()).and_then(|formats| formats.remove(*format));
            cores.push(core.ok_or_else(|| bad("questions.toml", format!("no [{}.{format}]", kind.name())))?);
        }
        if let Some((kind, formats)) = questions.iter().find(|(_, formats)| !formats.is_empty()) {
            let names: Vec<&str> = formats.keys().map(String::as_str).collect();
            return Err(bad("questions.toml", format!("no recipe makes [{kind}] {}", names.join(", "))));
        }
        Ok(Self { cores, voices: voices.voices.into_iter().collect() })
    }

    /// Number of voices.
    pub(super) fn voices(&self) -> usize {
        self.voices.len()
    }

    /// The name of a voice.
    pub(super) fn voice_id(&self, voice: usize) -> &str {
        self.voices.get(voice).map_or("", |(id, _)| id)
    }

    /// The question of recipe `at` in `voice`, its slots filled.
    pub(super) fn word(
        &self,
        at: usize,
        voice: usize,
        slots: &[(&'static str, String)],
        draw: &mut Draw,
        pools: &Pools,
    ) -> String {
        let (Some(core), Some((_, template))) = (self.cores.get(at), self.voices.get(voice)) else {
            return String::new();
        };
        let context = [
            ("who", draw.pick(&pools.colleagues).to_owned()),
            ("place", PLACES[draw.below(PLACES.len())].to_owned()),
            ("day", DAYS[draw.below(DAYS.len())].to_owned()),
            ("ticket", format!("ASK-{}", draw.between(10_000, 99_999))),
        ];
        let part = |text: &str| fill(text, |name| slots.iter().find(|(slot, _)| *slot == name).map(|(_, v)| v.clone()));
        fill(template, |name| {
            let lower = name.to_lowercase();
            let text = match lower.as_str() {
                "source" => part(&core.source),
                "noun" => part(&core.noun),
                "ask" => part(&core.ask),
                "order" => part(&core.order),
                "form" => part(&core.form),
                _ => return context.iter().find(|(slot, _)| *slot == name).map(|(_, value)| value.clone()),
            };
            Some(if lower == name { text } else { capitalised(&text) })
        })
    }
}

const PLACES: [&str; 8] =
    ["Lisbon", "the north office", "Gdansk", "the lab", "Tromso", "the depot", "Graz", "the annex"];
const DAYS: [&str; 5] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Replaces `{name}` by what `value` says; a name it does not know stays as it is.
fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, tail)) = after.split_once('}') else {
            text.push('{');
            rest = after;
            continue;
        };
        if let Some(value) = value(name) {
            text.push_str(&value);
        } else {
            text.extend(["{", name, "}"]);
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}
