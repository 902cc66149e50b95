//! Turns of the result suite: answer from what is seen, expand where it is not enough.

use serde_json::{Map, Value, json};

use super::{Scene, digest};
use crate::{
    surface::meta::MetaKind,
    wire::reply::{Call, Turn},
};

/// Decides a turn for a question about a result of `tool` (`server/tool`).
pub(super) fn decide(scene: &Scene<'_>, tool: &str, kind: &str, answer: &str) -> Turn {
    let server = tool.split_once('/').map_or("", |(server, _)| server);
    let tools = &scene.request.tools;
    let expander = tools.meta(server, |kind| match kind {
        MetaKind::Expand { handle } => Some(handle.as_str()),
        _ => None,
    });
    let mut shown = Vec::new();
    let mut asked = Vec::new();
    let mut opened = Vec::new();
    for exchange in &scene.request.conversation.exchanges {
        if let Some(MetaKind::Expand { handle }) = tools.meta_named(exchange.name).map(|meta| &meta.kind) {
            let input: Map<String, Value> = serde_json::from_str(exchange.input.get()).unwrap_or_default();
            let handle = input.get(handle).and_then(Value::as_str).unwrap_or_default().to_owned();
            if !exchange.is_error {
                opened.push(handle.clone());
                shown.push(&*exchange.text);
            }
            asked.push(handle);
        } else {
            shown.push(&*exchange.text);
        }
    }
    let missing: Vec<&str> = shown
        .iter()
        .flat_map(|text| digest::gaps(text))
        .filter(|handle| !opened.iter().any(|known| known == handle))
        .collect();
    let readable = missing.is_empty() || shown.iter().any(|text| digest::tells(kind, text, answer));
    if !readable
        && !scene.skips_expand()
        && let Some((tool, parameter)) = expander
        && let Some(handle) = missing.iter().find(|handle| !asked.iter().any(|known| known == *handle))
    {
        let input = json!({ parameter: handle });
        return Turn::Calls(vec![Call { name: tool.name.clone(), input }]);
    }
    let given = if readable && !scene.misreads() { answer.to_owned() } else { wrong(scene, &shown, answer) };
    Turn::Text(format!("The result gives it.\nAnswer: {given}"))
}

/// A plausible wrong answer: another word of what was read, or the next number.
fn wrong(scene: &Scene<'_>, shown: &[&str], answer: &str) -> String {
    let text = shown.join("\n");
    digest::another_word(&text, answer, |n| scene.dice.pick("misread/word", n)).unwrap_or_else(|| {
        answer.parse::<i64>().map_or_else(|_| "unclear".to_owned(), |number| number.wrapping_add(1).to_string())
    })
}
