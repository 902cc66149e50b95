//! The scripted model itself.

use std::sync::Arc;

use crate::{
    behaviour::Behaviour,
    key::{AnswerKey, Entry},
    noise::{Dice, Draw, Noise, word},
    policy::{self, Scene},
    surface::cache::ToolCache,
    wire::{
        body::{self, Checked, Purpose},
        error::WireError,
        reply::{self, Said},
        request::Request,
    },
};

/// A model that follows a script. Cheap to share between threads.
#[derive(Debug)]
pub struct ScriptedModel {
    behaviour: Behaviour,
    key: Arc<AnswerKey>,
    noise: Noise,
    cache: ToolCache,
}

impl ScriptedModel {
    /// A model of this behaviour, with what it knows and how it errs.
    pub fn new(behaviour: Behaviour, key: Arc<AnswerKey>, noise: Noise) -> Self {
        Self { behaviour, key, noise, cache: ToolCache::default() }
    }

    /// The script it follows.
    pub fn behaviour(&self) -> Behaviour {
        self.behaviour
    }

    /// Answers a Messages request with a complete Messages response. The same body and draw give the same bytes.
    ///
    /// The response's usage is a deterministic stand-in, evidence of nothing: four bytes are a token, and a prefix
    /// behind a cache breakpoint counts as read from a warm cache where it reaches 4,096 tokens.
    ///
    /// # Errors
    /// What the real API would refuse with status 400; [`WireError::body`] is its error object.
    pub fn respond(&self, body: &[u8], draw: &Draw<'_>) -> Result<Vec<u8>, WireError> {
        let split = body::Split::new(body, &self.cache);
        let (request, tools) = split.read::<Request<'_>>(&self.cache)?;
        let checked = body::check(&request, tools, body.len(), Purpose::Complete)?;
        Ok(reply::write(&self.say(&checked, draw), checked.model, &checked.sizes))
    }

    /// What it says to a request that was read and checked.
    pub(crate) fn say(&self, checked: &Checked<'_, '_>, draw: &Draw<'_>) -> Said {
        let entry = self.key.look_up(&checked.conversation.user);
        let (frame, tool) = match entry {
            Some(Entry::Call { frame, call }) => (&**frame, format!("{}/{}", call.server, call.tool)),
            Some(Entry::Answer { frame, tool, .. }) => (&**frame, tool.clone()),
            Some(Entry::Abstain { frame }) => (&**frame, String::new()),
            None => ("", String::new()),
        };
        let dice = Dice { noise: &self.noise, draw, frame, tool: &tool };
        let turn = policy::decide(&Scene { behaviour: self.behaviour, dice, request: checked }, entry);
        let id = word(&self.noise.seed, &["id", draw.task, draw.arm, &draw.turn.to_string()]);
        turn.said(id, checked.max_tokens)
    }

    /// Tool lists that it has read.
    pub(crate) fn tools(&self) -> &ToolCache {
        &self.cache
    }
}
