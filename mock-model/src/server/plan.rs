//! From a checked request to the answer that is to be played: fault, words, tokens, bill.

use std::time::Duration;

use serde::Serialize;

use super::{
    bill::Tokens,
    cache::Rule,
    chat,
    draw::OwnedDraw,
    fault::{Bill, Fault, FaultKind},
    ledger::{Client, Line},
    models::{CacheKind, Format, Model},
    prompt::Prompt,
    refusal::Refusal,
    state::State,
};
use crate::wire::{
    body::Checked,
    reply::{self, Block, Said, StopReason},
};

/// Input tokens by which an excessive usage exceeds twice the body's bytes: no bound on a request allows as many.
const EXCESS: u64 = 1_000_000;

/// Which paid request it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) n: u64,
    pub(super) request_id: &'a str,
}

/// A paid request that would be taken.
pub(super) struct Ask<'a> {
    pub(super) format: Format,
    pub(super) draw: OwnedDraw,
    pub(super) checked: &'a Checked<'a, 'a>,
    pub(super) prompt: Prompt,
    /// The model's place in the table.
    pub(super) row: usize,
    pub(super) model: &'a Model,
    /// The cache's kind for this request: some can switch it off.
    pub(super) cache: CacheKind,
}

/// What is to be played. It is booked before it exists.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) answer: Answer,
    pub(super) fault: Option<Fault>,
    /// What the cache keeps once the response begins.
    pub(super) kept: Option<(Rule, Prompt, Duration)>,
}

/// What the client is told, faults of the transport apart.
#[derive(Debug)]
pub(super) enum Answer {
    /// A reply.
    Reply(Vec<u8>),
    /// A refusal; when to come back.
    Refusal(Refusal, Option<u64>),
    /// The books could not be written: nothing may leave.
    Unbooked(String),
}

/// The usage object of a Messages reply.
#[derive(Debug, Serialize)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_creation: CacheCreation,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    service_tier: &'static str,
    inference_geo: &'static str,
}

#[derive(Debug, Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

impl Usage {
    fn of(tokens: &Tokens) -> Self {
        Self {
            input_tokens: tokens.input,
            cache_creation_input_tokens: tokens.cache_write + tokens.cache_write_1h,
            cache_creation: CacheCreation {
                ephemeral_5m_input_tokens: tokens.cache_write,
                ephemeral_1h_input_tokens: tokens.cache_write_1h,
            },
            cache_read_input_tokens: tokens.cache_read,
            output_tokens: tokens.output,
            service_tier: "standard",
            inference_geo: "global",
        }
    }
}

impl State {
    /// Decides what becomes of a request, and books it.
    pub(super) fn plan(&self, place: Place<'_>, ask: Ask<'_>) -> Planned {
        let attempt = if self.script.is_empty() { 1 } else { self.tries().count(&ask.draw) };
        let fault = self.script.choose(place.n, &ask.draw, attempt);
        let kind = fault.map(|fault| fault.kind);
        let refusal = kind.and_then(|kind| refusal(ask.format, kind));
        let mut line = Line {
            n: place.n,
            request_id: place.request_id,
            draw: Some(ask.draw.to_string()),
            model: Some(&ask.model.id),
            status: match (kind, &refusal) {
                (Some(FaultKind::Reset | FaultKind::Hang), _) => None,
                (_, Some(refusal)) => Some(refusal.status),
                _ => Some(200),
            },
            fault: kind.map(|kind| kind.to_string()),
            usage: None,
            client: match kind.map(FaultKind::bill) {
                None | Some(Bill::Always) => Client::Usage,
                Some(Bill::Never) => Client::Free,
                Some(Bill::Stated) => Client::Nothing,
            },
            stated: None,
            billed: 0,
        };
        let retry = fault.and_then(|fault| u64::try_from(fault.wait?.as_millis()).ok());
        if refusal.is_some() && fault.is_some_and(|fault| !fault.billed) {
            return self.booked(&line, refusal, retry, fault);
        }
        let started = self.now();
        let mut said = self.model.say(ask.checked, &ask.draw.borrow());
        if let Some(kind) = kind {
            alter(&mut said, kind);
        }
        let rule = Rule { model: ask.row, kind: ask.cache, minimum: ask.model.cache_minimum };
        let mut tokens = self.cache().classes(rule, &ask.prompt, started);
        tokens.output = said.output as u64;
        if kind == Some(FaultKind::ExcessUsage) {
            tokens.input += 2 * ask.checked.sizes.body as u64 + EXCESS;
        }
        let cost = tokens.cost(&ask.model.price, ask.model.long.as_ref());
        // Documented: a refusal before any output shows its tokens, and they are not charged.
        let waived = said.stop == StopReason::Refusal;
        let billed = fault.is_none_or(|fault| fault.billed) && !waived;
        line.usage = Some(tokens);
        line.stated = (line.client == Client::Usage).then_some(cost);
        line.billed = if billed { cost } else { 0 };
        if refusal.is_some() {
            return self.booked(&line, refusal, retry, fault);
        }
        let stated = (kind != Some(FaultKind::NoUsage)).then_some(&tokens);
        let body = match ask.format {
            Format::Messages => reply::message(&said, &ask.model.id, stated.map(Usage::of)),
            Format::Chat => chat::reply::completion(&said, &ask.model.id, stated, kind),
        };
        let kept = Some((rule, ask.prompt, started));
        match self.book(&line) {
            Ok(()) => Planned { answer: Answer::Reply(body), fault, kept },
            Err(error) => Planned { answer: Answer::Unbooked(error.to_string()), fault: None, kept: None },
        }
    }

    fn booked(&self, line: &Line<'_>, refusal: Option<Refusal>, retry: Option<u64>, fault: Option<Fault>) -> Planned {
        let answer = match (self.book(line), refusal) {
            (Ok(()), Some(refusal)) => Answer::Refusal(refusal, retry),
            (Ok(()), None) => Answer::Reply(Vec::new()),
            (Err(error), _) => Answer::Unbooked(error.to_string()),
        };
        Planned { answer, fault, kept: None }
    }
}

/// The refusal that a fault plays, where it is one.
fn refusal(format: Format, kind: FaultKind) -> Option<Refusal> {
    let chat = format == Format::Chat;
    let (status, message, code) = match kind {
        FaultKind::Unauthorized if chat => (401, "Incorrect API key provided", Some("invalid_api_key")),
        FaultKind::Unauthorized => (401, "invalid x-api-key", None),
        FaultKind::InvalidRequest => (400, "a scripted refusal of a request that is in order", None),
        FaultKind::NotFound => (404, "model: it is served no more, says the script", None),
        FaultKind::TooLarge => (413, "Request exceeds the maximum size", None),
        FaultKind::RateLimited if chat => (429, "Rate limit reached for requests", Some("rate_limit_exceeded")),
        FaultKind::RateLimited => (429, "Number of requests has exceeded your per-minute rate limit", None),
        FaultKind::SpendCap if chat => (429, "You exceeded your current quota", Some("insufficient_quota")),
        FaultKind::SpendCap => (429, "You have reached your specified API usage limits", None),
        FaultKind::ServerError => (500, "Internal server error", None),
        FaultKind::Unavailable => (503, "Service unavailable", None),
        FaultKind::Timeout => (504, "Request timed out", None),
        FaultKind::Overloaded => (if chat { 503 } else { 529 }, "Overloaded", None),
        _ => return None,
    };
    let mut refusal = Refusal::of_status(format, status, message);
    refusal.code = code;
    if code == Some("insufficient_quota") {
        refusal.kind = "insufficient_quota";
    }
    Some(refusal)
}

/// Changes what is said, for faults that do.
fn alter(said: &mut Said, kind: FaultKind) {
    let last_call = said.content.iter().rev().find(|block| matches!(block, Block::ToolUse { .. })).cloned();
    match (kind, last_call) {
        (FaultKind::Refusal, _) => {
            said.content.clear();
            said.stop = StopReason::Refusal;
        }
        (FaultKind::DuplicateIds, Some(call)) => said.content.push(call),
        (FaultKind::ParallelCalls, Some(Block::ToolUse { id, name, input })) => {
            said.content.push(Block::ToolUse { id: format!("{id}b"), name, input });
        }
        (FaultKind::MaxTokens, _) => {
            said.stop = StopReason::MaxTokens;
            match said.content.last_mut() {
                Some(Block::Text { text }) => {
                    let half = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                    text.truncate(half);
                }
                // The API closes the object behind what was complete.
                Some(Block::ToolUse { input: serde_json::Value::Object(arguments), .. }) => {
                    if let Some(last) = arguments.keys().next_back().cloned() {
                        arguments.shift_remove(&last);
                    }
                }
                _ => {}
            }
            said.content.retain(|block| !matches!(block, Block::Text { text } if text.is_empty()));
        }
        _ => return,
    }
    said.recount();
}
