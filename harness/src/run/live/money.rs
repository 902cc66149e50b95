//! What an attempt can cost and what it did cost: the run's price row applied to requests and replies. `verify` uses the
//! same code.

use std::path::Path;

use anyhow::Context as _;
use bench_protocol::{
    digest::Digest,
    prices::{Bound, CacheWrites, CostError, Geo, Price, reserve, settle},
};
use bench_results::{
    certificate::Spend,
    record::{Manifest, RunKind, Usage},
};

use super::{folder, terms::Terms};
use crate::{
    conclude::Facts,
    meter::{self, Books},
    models::Provider,
    wire::{Entry, Request, Settings},
};

/// Prices of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    price: Price,
    writes: CacheWrites,
}

impl Money {
    /// The money of a run that asks this provider with these settings.
    pub fn new(price: Price, provider: Provider, settings: &Settings) -> Self {
        Self { price, writes: CacheWrites::of(provider.caches_unasked(), &settings.cache) }
    }

    /// The price row.
    pub fn price(&self) -> &Price {
        &self.price
    }

    /// The worst case of a request with this bound, in pico-dollars. A region is never ruled out.
    pub fn reserve(&self, bound: Bound) -> Result<u64, CostError> {
        reserve(bound, &self.price, self.writes, Geo::Regional)
    }

    /// What a reply's usage comes to, in pico-dollars. Where the model ran is priced as a region: nothing here proves that
    /// it was not one.
    pub fn settle(&self, usage: &Usage) -> Result<u64, CostError> {
        settle(&meter::tokens(usage), &self.price, Geo::Regional)
    }
}

/// The most tokens that a request can be billed for; `body` is the encoded request.
pub fn bound(request: &Request<'_>, body: &[u8]) -> Bound {
    // The system prompt is one; answers to calls are one message each in one of the formats.
    let messages = 1 + request.entries.iter().map(messages_of).sum::<usize>();
    Bound::of_request(body.len(), request.surface.tools().len(), messages, request.settings.max_tokens)
}

fn messages_of(entry: &Entry) -> usize {
    match entry {
        Entry::Results(answers) => answers.len().max(1),
        Entry::User(_) | Entry::Assistant(_) | Entry::Call { .. } => 1,
    }
}

/// The prices of a record.
pub fn of_record(folder: &Path, terms: &Terms) -> anyhow::Result<Money> {
    let prices = folder::prices(folder)?;
    let price = prices.row(&terms.settings.model);
    let price = price.with_context(|| format!("the record's prices have no row for `{}`", terms.settings.model))?;
    Ok(Money::new(price.clone(), terms.wire, &terms.settings))
}

/// What a live record says beside its episodes: its books, and the digest of its log of attempts.
pub fn facts(manifest: &Manifest, terms: &Terms, books: Books, attempts: &Digest) -> Facts {
    Facts {
        attempts: books.attempts,
        spend: Some(Spend {
            cap: manifest.budget.unwrap_or_default(),
            spent: books.settled,
            unsettled: books.kept + books.suspect,
        }),
        digest: (manifest.kind == RunKind::Live).then(|| attempts.clone()),
        settings: Some(terms.settings.clone()),
        order: terms.order,
    }
}
