//! An embedder: a helper program that turns texts into vectors.
//!
//! Its first line is `{"model": "…", "dimensions": 384}`. A request is `{"texts": ["…"]}`, the reply to it
//! `{"vectors": [[…], …]}`, one vector per text in the same order.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::helper::{Helper, HelperError};

/// Texts per request, so that no line grows without bound.
const BATCH: usize = 64;

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// What it calls its model.
    fn model(&self) -> &str;
    /// One vector per text, all of one length.
    ///
    /// # Errors
    /// Where it cannot be reached or answers something else.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, HelperError>;
}

impl fmt::Debug for dyn Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedder({})", self.model())
    }
}

#[derive(Deserialize)]
struct Hello {
    model: String,
    dimensions: usize,
}

#[derive(Serialize)]
struct Request<'a> {
    texts: &'a [String],
}

#[derive(Deserialize)]
struct Reply {
    vectors: Vec<Vec<f32>>,
}

/// A child process that embeds.
pub struct ProcessEmbedder {
    model: String,
    dimensions: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    helper: Helper,
    /// Texts that were embedded before: the same few questions come again under every arm.
    known: BTreeMap<String, Vec<f32>>,
}

impl ProcessEmbedder {
    /// Starts the program and waits for its first line.
    ///
    /// # Errors
    /// Where it cannot be started or does not introduce itself.
    pub fn start(command: &[String]) -> Result<Self, HelperError> {
        let expected = "a first line {\"model\": text, \"dimensions\": number}";
        let (helper, Hello { model, dimensions }) = Helper::start(command, expected)?;
        Ok(Self { model, dimensions, inner: Mutex::new(Inner { helper, known: BTreeMap::new() }) })
    }
}

impl Embedder for ProcessEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, HelperError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unknown: Vec<String> = texts.iter().filter(|text| !inner.known.contains_key(*text)).cloned().collect();
        unknown.sort_unstable();
        unknown.dedup();
        for batch in unknown.chunks(BATCH) {
            let Reply { vectors } =
                inner.helper.ask(&Request { texts: batch }, "a line {\"vectors\": [[number, …], …]}")?;
            if vectors.len() != batch.len() || vectors.iter().any(|vector| vector.len() != self.dimensions) {
                let what = format!("{} vectors for {} texts, or of another length", vectors.len(), batch.len());
                return Err(HelperError::Reply { what, expected: "one vector of the announced length per text" });
            }
            inner.known.extend(batch.iter().cloned().zip(vectors));
        }
        Ok(texts.iter().filter_map(|text| inner.known.get(text)).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helper::tests::saying;

    const HELLO: &str = r#"{"model":"m","dimensions":2}"#;

    #[test]
    fn texts_become_vectors_and_known_ones_are_not_asked_again() {
        let embedder = ProcessEmbedder::start(&saying(&[HELLO, r#"{"vectors":[[1,0],[0,1]]}"#])).unwrap();
        assert_eq!(embedder.model(), "m");
        let texts = ["b".to_owned(), "a".to_owned(), "b".to_owned()];
        for _ in 0..2 {
            assert_eq!(embedder.embed(&texts).unwrap(), [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
        }
    }

    #[test]
    fn vectors_of_another_number_or_length_are_refused() {
        for reply in [r#"{"vectors":[[1]]}"#, r#"{"vectors":[]}"#, r#"{"vectors":[[1,2],[3,4]]}"#] {
            let embedder = ProcessEmbedder::start(&saying(&[HELLO, reply])).unwrap();
            let error = embedder.embed(&["x".to_owned()]).unwrap_err().to_string();
            assert!(error.contains("announced length"), "{error}");
        }
    }
}
