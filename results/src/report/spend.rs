//! Tokens and money of attempts, priced three ways from their token classes.
//!
//! The part of a prompt that a provider caches is what it reports as written or read. *Uncached* prices all of the prompt
//! as plain input. *Cold session*: the first request of a session with a surface writes that part, later ones with the same
//! surface read it. *Warm session*: every request reads it. What was billed depends on the schedule and stands beside them.

use std::collections::HashMap;

use bench_protocol::{
    digest::Digest,
    prices::{CostError, Geo, Price, Tokens, settle},
    spec::CacheTtl,
};

use super::source::Sources;
use crate::record::{Opened, Settled, Usage};

/// The three ways, in pico-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ThreeWays {
    pub(super) uncached: u128,
    pub(super) cold: u128,
    pub(super) warm: u128,
}

/// One arm's sums.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// By tool; what asks for no tool stands last.
    pub(super) by_tool: Vec<ThreeWays>,
    pub(super) usage: Usage,
    pub(super) billed: u128,
    pub(super) attempts: u64,
    /// Milliseconds of answered attempts.
    pub(super) ms: Vec<u64>,
}

impl Sums {
    pub(super) fn new(tools: usize) -> Self {
        Self {
            by_tool: vec![ThreeWays::default(); tools],
            usage: Usage::default(),
            billed: 0,
            attempts: 0,
            ms: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, tool: usize, cost: ThreeWays, settled: &Settled) {
        let sum = &mut self.by_tool[tool];
        sum.uncached += cost.uncached;
        sum.cold += cost.cold;
        sum.warm += cost.warm;
        self.usage.add(settled.usage.unwrap_or_default());
        self.billed += u128::from(settled.billed);
        self.attempts += 1;
        self.ms.extend(settled.ms);
    }

    pub(super) fn total(&self) -> ThreeWays {
        self.by_tool.iter().fold(ThreeWays::default(), |sum, one| ThreeWays {
            uncached: sum.uncached + one.uncached,
            cold: sum.cold + one.cold,
            warm: sum.warm + one.warm,
        })
    }
}

/// One session: what it shows, and the surfaces whose prompts it has sent. Surfaces are numbers here: there may be a
/// million sessions.
#[derive(Default)]
struct Session {
    turn: u32,
    shown: u32,
    written: Vec<u32>,
}

/// Follows the sessions of a record through its attempts.
pub(super) struct Ledger<'a> {
    price: Option<&'a Price>,
    ttl: CacheTtl,
    surfaces: HashMap<Digest, u32>,
    sessions: HashMap<(usize, usize), Session>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self {
            price: sources.pricing.as_ref().map(|pricing| &pricing.price),
            ttl: sources.protocol.cache.ttl,
            surfaces: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    /// An attempt leaves. True where it shows another surface than the turn before it.
    pub(super) fn opened(&mut self, session: (usize, usize), attempt: &Opened) -> bool {
        let fresh = u32::try_from(self.surfaces.len()).unwrap_or(u32::MAX);
        let shown = *self.surfaces.entry(attempt.surface.clone()).or_insert(fresh);
        let session = self.sessions.entry(session).or_default();
        // A session that is asked again from the start is another session.
        if attempt.draw.turn == 1 {
            *session = Session::default();
        }
        let changed = session.turn > 0 && attempt.draw.turn > session.turn && session.shown != shown;
        (session.turn, session.shown) = (attempt.draw.turn, shown);
        changed
    }

    /// Its outcome: what it costs each way; nothing where there is no price or no usage.
    pub(super) fn settled(&mut self, session: (usize, usize), settled: &Settled) -> Result<ThreeWays, CostError> {
        let (Some(price), Some(usage)) = (self.price, settled.usage) else { return Ok(ThreeWays::default()) };
        let session = self.sessions.entry(session).or_default();
        let first = !session.written.contains(&session.shown);
        if first {
            session.written.push(session.shown);
        }
        let cached = usage.prompt() - usage.input;
        let plain = Tokens { input: usage.input, output: usage.output, ..Tokens::default() };
        let read = Tokens { cache_read: cached, ..plain };
        let written = match self.ttl {
            CacheTtl::FiveMinutes => Tokens { cache_write_5m: cached, ..plain },
            CacheTtl::OneHour => Tokens { cache_write_1h: cached, ..plain },
        };
        let cost = |tokens: &Tokens| settle(tokens, price, Geo::Regional).map(u128::from);
        Ok(ThreeWays {
            uncached: cost(&Tokens { input: usage.prompt(), ..plain })?,
            cold: cost(if first { &written } else { &read })?,
            warm: cost(&read)?,
        })
    }
}
