//! The cards of all catalogs as documents of a space: what retrieval searches and Rift looks at.

use std::sync::Arc;

use bench_tasks::catalog::Catalogs;

use super::card::{Card, SignedCard, Wording};
use crate::arms::{ArmError, embed::Embedder, space::Space};

/// Cards, and how near the tools' summaries are to texts and to one another. Documents are the tools in catalog order,
/// then the servers' capabilities.
pub struct CardSpace {
    pub(super) cards: Vec<Card>,
    pub(super) space: Space,
    texts: Vec<String>,
}

impl CardSpace {
    /// By words, over cards of the bootstrap template.
    pub fn words(catalogs: &Catalogs) -> Self {
        Self::worded(catalogs, Wording::Bootstrap)
    }

    /// By words, over cards in either wording.
    pub(super) fn worded(catalogs: &Catalogs, wording: Wording) -> Self {
        let (cards, texts) = written(catalogs, wording);
        let space = Space::words(texts.iter().map(String::as_str));
        Self { cards, space, texts }
    }

    /// By an embedder, over cards of the bootstrap template.
    ///
    /// # Errors
    /// Where the embedder fails.
    pub fn dense(catalogs: &Catalogs, embedder: &Arc<dyn Embedder>) -> Result<Self, ArmError> {
        let (cards, texts) = written(catalogs, Wording::Bootstrap);
        Ok(Self { space: Space::dense(&texts, embedder)?, cards, texts })
    }

    /// Cosine of every document with a text.
    ///
    /// # Errors
    /// Where the embedder fails.
    pub fn cosine(&self, text: &str) -> Result<Vec<f64>, String> {
        self.space.cosine(text)
    }

    /// Cosine of two documents.
    pub fn between(&self, a: usize, b: usize) -> f64 {
        self.space.between(a, b)
    }

    /// Documents whose cosine with a document may reach `least`, in order.
    pub fn maybe_near(&self, at: usize, least: f64) -> Vec<usize> {
        self.space.maybe_near(at, least)
    }

    /// What nearness is measured by, for people.
    pub fn nearness(&self) -> String {
        match self.space.model() {
            Some(model) => model.to_owned(),
            None => "TF-IDF over words, in place of all-MiniLM-L6-v2".to_owned(),
        }
    }

    /// The text of a document.
    pub fn text(&self, at: usize) -> &str {
        &self.texts[at]
    }

    /// The cards, signed with the key of this seed.
    pub fn signed(&self, seed: &[u8; 32]) -> Vec<SignedCard> {
        self.cards.iter().map(|card| card.sign(seed)).collect()
    }
}

fn written(catalogs: &Catalogs, wording: Wording) -> (Vec<Card>, Vec<String>) {
    let cards: Vec<Card> = catalogs.catalogs.iter().map(|catalog| Card::new(catalog, wording)).collect();
    let mut texts: Vec<String> =
        cards.iter().flat_map(|card| card.tools.iter().map(|tool| tool.summary.clone())).collect();
    texts.extend(cards.iter().map(|card| card.capability.clone()));
    (cards, texts)
}
