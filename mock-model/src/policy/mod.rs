//! What the model does: one turn, decided from what it reads, what the key says and how it behaves.

mod arguments;
mod call;
mod digest;
mod explore;
mod mistake;
mod past;
mod result;

use serde_json::{Map, Value};

use crate::{
    behaviour::Behaviour,
    key::Entry,
    noise::Dice,
    wire::{
        body::Checked,
        reply::{Call, Turn},
    },
};

/// Everything that a decision may look at.
pub(crate) struct Scene<'s> {
    pub(crate) behaviour: Behaviour,
    pub(crate) dice: Dice<'s>,
    pub(crate) request: &'s Checked<'s, 's>,
}

/// Decides the turn. `entry` is `None` where the key does not know the user's words.
pub(crate) fn decide(scene: &Scene<'_>, entry: Option<&Entry>) -> Turn {
    let share = scene.dice.noise.share_ppm;
    match scene.behaviour {
        Behaviour::Refuses if scene.dice.in_turn("refuses", share) => return Turn::Refusal,
        Behaviour::Talks if scene.dice.in_turn("talks", share) => {
            return Turn::Text("Let me think about what would be needed here before I do anything.".to_owned());
        }
        _ => {}
    }
    let turn = match entry {
        Some(Entry::Answer { tool, kind, answer, .. }) => result::decide(scene, tool, kind, answer),
        Some(Entry::Call { call, .. }) => call::decide(scene, Some(call)),
        Some(Entry::Abstain { .. }) => call::decide(scene, None),
        None if scene.behaviour == Behaviour::Lexical => call::decide(scene, None),
        None => Turn::Text("I know nothing about this request.".to_owned()),
    };
    match turn {
        Turn::Calls(calls) if scene.behaviour == Behaviour::Malformed && scene.dice.in_turn("malformed", share) => {
            malform(scene, calls)
        }
        turn => turn,
    }
}

/// Spoils the last call in one of the ways that are seen on the wire.
fn malform(scene: &Scene<'_>, mut calls: Vec<Call>) -> Turn {
    let Some(last) = calls.last_mut() else { return Turn::Calls(calls) };
    match scene.dice.pick("malformed/how", 3) {
        0 => {
            // The arguments as a string of JSON that ends too early.
            let mut text = last.input.to_string();
            let half = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text.truncate(half);
            last.input = Value::String(text);
            Turn::Calls(calls)
        }
        1 => {
            last.input = Value::Array(vec![last.input.take()]);
            Turn::Calls(calls)
        }
        _ => {
            // The output limit fell into the arguments: the API closes the object behind what was complete.
            if let Value::Object(arguments) = &mut last.input {
                let complete = arguments.len().saturating_sub(1);
                *arguments = std::mem::take(arguments).into_iter().take(complete).collect::<Map<_, _>>();
            }
            Turn::Cut(calls)
        }
    }
}
