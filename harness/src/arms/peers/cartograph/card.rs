//! Cards: what an operator says of a server and its tools in place of the publisher, signed.
//!
//! The template is deterministic and reads names and arguments only. The signature (Ed25519, Bernstein et al. 2011) is
//! over the body as canonical JSON (RFC 8785); it is kept with the card and not shown to a model.

use std::{cmp::Reverse, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bench_tasks::{
    catalog::{Catalog, ToolDef},
    lexical::tokens,
};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::Serialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::arms::sentences;

/// Words of a server's tool names that its capability names.
const CAPABILITY_WORDS: usize = 8;
/// What writes the cards.
const GENERATOR: &str = "bench bootstrap template 1";

/// Where a tool's summary comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// Its name and arguments: no word of the publisher's prose.
    Bootstrap,
    /// The publisher's first sentence, to tell what cards do from what retrieval does.
    Publisher,
}

/// What a card says of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardTool {
    /// Upstream name.
    pub(crate) name: String,
    /// One line.
    pub(crate) summary: String,
    required: Vec<String>,
    optional: Vec<String>,
}

/// What an operator says of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    /// Catalog name.
    pub(crate) server: String,
    /// One line on the server.
    pub(crate) capability: String,
    /// Its tools, in upstream order.
    pub(crate) tools: Vec<CardTool>,
    source: String,
    captured: Option<String>,
}

/// A card with its signature.
#[derive(Debug, Clone, Serialize)]
pub struct SignedCard {
    /// The body, canonical JSON.
    pub body: String,
    /// Public key, base64.
    pub key: String,
    /// Signature of the body's bytes, base64.
    pub signature: String,
}

/// Why a card is not to be believed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CardError {
    /// Key or signature cannot be read.
    #[error("card: key or signature is not what base64 of an Ed25519 key and signature looks like")]
    Malformed,
    /// The signature is not one of this body under this key.
    #[error("card: the signature does not belong to this body and key; sign the card again")]
    Signature,
}

impl CardTool {
    fn new(server: &str, tool: &ToolDef, wording: Wording) -> Self {
        let empty = Map::new();
        let properties = tool.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = tool
            .input_schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let (required, optional): (Vec<String>, Vec<String>) =
            properties.keys().cloned().partition(|key| required.contains(&key.as_str()));
        let told = tool.description.as_deref().and_then(|text| sentences::split(text).into_iter().next());
        let summary = match (wording, told) {
            (Wording::Publisher, Some(first)) => first.split_whitespace().collect::<Vec<_>>().join(" "),
            _ => bootstrap(server, &tool.name, &required, &optional),
        };
        Self { name: tool.name.to_string(), summary, required, optional }
    }

    /// `name(required*, optional)`.
    pub(crate) fn signature(&self) -> String {
        let required = self.required.iter().map(|key| format!("{key}*"));
        let arguments: Vec<String> = required.chain(self.optional.iter().cloned()).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

/// `Verb object words (server). Takes: required; optional: others.`
fn bootstrap(server: &str, name: &str, required: &[String], optional: &[String]) -> String {
    let words = tokens(name).join(" ");
    let mut letters = words.chars();
    let head: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let mut summary = format!("{head}{} ({server}). Takes: {}", letters.as_str(), list(required));
    if !optional.is_empty() {
        summary.push_str("; optional: ");
        summary.push_str(&list(optional));
    }
    summary.push('.');
    summary
}

impl Card {
    /// The card of a catalog.
    pub(crate) fn new(catalog: &Catalog, wording: Wording) -> Self {
        let tools: Vec<CardTool> =
            catalog.tools.iter().map(|tool| CardTool::new(&catalog.server, tool, wording)).collect();
        // Number of tools that have a word in their name.
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for tool in &catalog.tools {
            let mut words = tokens(&tool.name);
            words.sort_unstable();
            words.dedup();
            for word in words {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut words: Vec<(Reverse<usize>, String)> =
            counts.into_iter().map(|(word, count)| (Reverse(count), word)).collect();
        words.sort();
        let words: Vec<String> = words.into_iter().take(CAPABILITY_WORDS).map(|(_, word)| word).collect();
        Self {
            server: catalog.server.to_string(),
            capability: format!("{}: {} tools about {}", catalog.server, tools.len(), words.join(", ")),
            tools,
            source: catalog.sha256.clone(),
            captured: catalog.provenance.as_ref().and_then(|known| known.captured.clone()),
        }
    }

    /// The body as canonical JSON: keys sorted, no blanks.
    pub(crate) fn body(&self) -> String {
        let tools: Vec<Value> =
            self.tools.iter().map(|tool| json!({ "name": tool.name, "summary": tool.summary })).collect();
        // Members in the order of their names, and no numbers: what RFC 8785 asks for.
        json!({
            "capability": self.capability,
            "provenance": { "captured": self.captured, "generator": GENERATOR, "source_sha256": self.source },
            "server": self.server,
            "tools": tools,
        })
        .to_string()
    }

    /// The card, signed with the key of this seed.
    pub(crate) fn sign(&self, seed: &[u8; 32]) -> SignedCard {
        let key = SigningKey::from_bytes(seed);
        let body = self.body();
        let signature = key.sign(body.as_bytes());
        SignedCard {
            key: STANDARD.encode(key.verifying_key().to_bytes()),
            signature: STANDARD.encode(signature.to_bytes()),
            body,
        }
    }
}

impl SignedCard {
    /// Checks the signature.
    ///
    /// # Errors
    /// Where it does not hold.
    pub fn verify(&self) -> Result<(), CardError> {
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| CardError::Malformed);
        let key: [u8; 32] = bytes(&self.key)?.try_into().map_err(|_| CardError::Malformed)?;
        let key = VerifyingKey::from_bytes(&key).map_err(|_| CardError::Malformed)?;
        let signature = Signature::from_slice(&bytes(&self.signature)?).map_err(|_| CardError::Malformed)?;
        key.verify_strict(self.body.as_bytes(), &signature).map_err(|_| CardError::Signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::fixtures::catalogs_of;

    fn card(wording: Wording) -> Card {
        let tools = json!([
            {"name": "git_log", "description": "Shows the logs. Newest first.", "inputSchema": {"type": "object", "properties": {"repo_path": {}, "max_count": {}}, "required": ["repo_path"]}},
            {"name": "git_init"},
        ]);
        Card::new(&catalogs_of(&[("git", tools)]).catalogs[0], wording)
    }

    #[test]
    fn the_template_reads_names_and_arguments_only() {
        let card = card(Wording::Bootstrap);
        assert_eq!(card.tools[0].summary, "Git log (git). Takes: repo_path; optional: max_count.");
        assert_eq!(card.tools[1].summary, "Git init (git). Takes: nothing.");
        assert_eq!(card.tools[0].signature(), "git_log(repo_path*, max_count)");
        assert_eq!(card.capability, "git: 2 tools about git, init, log");
    }

    #[test]
    fn the_publishers_words_where_they_are_asked_for_and_there() {
        let card = card(Wording::Publisher);
        assert_eq!(card.tools[0].summary, "Shows the logs.");
        assert_eq!(card.tools[1].summary, "Git init (git). Takes: nothing.");
    }

    #[test]
    fn a_body_is_canonical() {
        let body = card(Wording::Bootstrap).body();
        let value: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), body);
    }

    #[test]
    fn a_signature_holds_for_its_body_and_key_alone() {
        let signed = card(Wording::Bootstrap).sign(&[7; 32]);
        assert_eq!(signed.verify(), Ok(()));
        assert_eq!(signed.signature, card(Wording::Bootstrap).sign(&[7; 32]).signature);
        let other = SignedCard { body: signed.body.replace("git", "hub"), ..signed.clone() };
        assert_eq!(other.verify(), Err(CardError::Signature));
        let other = SignedCard { key: card(Wording::Bootstrap).sign(&[8; 32]).key, ..signed.clone() };
        assert_eq!(other.verify(), Err(CardError::Signature));
        assert_eq!(SignedCard { key: "?".to_owned(), ..signed }.verify(), Err(CardError::Malformed));
    }
}
