//! The prompt cache: which prefixes the server has seen, and into which classes a prompt's tokens fall.
//!
//! As documented, and no finer: a prefix is written at a breakpoint and read from any breakpoint that stands at most 20
//! blocks behind it; both only from the model's minimum on; an entry lives as long as its breakpoint says, from the
//! start of the request, and a read renews it; it can be read once the response that wrote it has begun. Implicit caches
//! write at the end of every block, and read whole steps of 128 tokens.

use std::{collections::HashMap, time::Duration};

use super::{bill::Tokens, models::CacheKind, prompt::Prompt};
use crate::{surface::link::Link, wire::request::Ttl};

/// Blocks that are looked back from a breakpoint.
const LOOK_BACK: usize = 20;

/// Step in which implicit caches count.
const STEP: u64 = 128;

/// Life of an entry of an implicit cache that bills its writes.
const IMPLICIT_BILLED: Duration = Duration::from_secs(30 * 60);

/// Entries from which on dead ones are looked for.
const CROWDED: usize = 1 << 16;

/// What a request may do with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// Place of the model in the table: caches of models are apart.
    pub(super) model: usize,
    pub(super) kind: CacheKind,
    /// Tokens from which on a prefix is cached.
    pub(super) minimum: u64,
}

/// All prefixes that can be read. Only looked up, never iterated towards an output.
#[derive(Debug, Default)]
pub(super) struct PrefixCache {
    entries: HashMap<(usize, Link), Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    until: Duration,
    life: Duration,
}

fn life(ttl: Ttl) -> Duration {
    match ttl {
        Ttl::FiveMinutes => Duration::from_secs(5 * 60),
        Ttl::OneHour => Duration::from_secs(60 * 60),
    }
}

impl PrefixCache {
    /// The classes of a prompt that arrives now; what it reads lives on.
    pub(super) fn classes(&mut self, rule: Rule, prompt: &Prompt, now: Duration) -> Tokens {
        let total = prompt.tokens();
        match rule.kind {
            CacheKind::None => Tokens { input: total, ..Tokens::default() },
            CacheKind::Marked => self.marked(rule, prompt, now),
            CacheKind::Implicit | CacheKind::ImplicitBilled => {
                let read = self.longest(rule, prompt, prompt.places().len(), usize::MAX, now).map_or(0, |at| {
                    let tokens = prompt.places()[at].tokens;
                    tokens - tokens % STEP
                });
                let rest = total - read;
                if rule.kind == CacheKind::ImplicitBilled && total >= rule.minimum {
                    Tokens { cache_read: read, cache_write: rest, ..Tokens::default() }
                } else {
                    Tokens { cache_read: read, input: rest, ..Tokens::default() }
                }
            }
        }
    }

    /// Keeps what a request that started then has written; called when its response begins.
    pub(super) fn keep(&mut self, rule: Rule, prompt: &Prompt, started: Duration) {
        if self.entries.len() >= CROWDED {
            self.entries.retain(|_, entry| entry.until > started);
        }
        if self.entries.len() >= CROWDED {
            self.entries.clear();
        }
        for place in prompt.places().iter().filter(|place| place.tokens >= rule.minimum) {
            let life = match (rule.kind, place.mark) {
                (CacheKind::Marked, Some(ttl)) => life(ttl),
                (CacheKind::Implicit, _) => life(Ttl::FiveMinutes),
                (CacheKind::ImplicitBilled, _) => IMPLICIT_BILLED,
                (CacheKind::Marked, None) | (CacheKind::None, _) => continue,
            };
            let entry = Entry { until: started + life, life };
            let known = self.entries.entry((rule.model, place.link)).or_insert(entry);
            if known.until < entry.until {
                *known = entry;
            }
        }
    }

    fn marked(&mut self, rule: Rule, prompt: &Prompt, now: Duration) -> Tokens {
        let places = prompt.places();
        let marks: Vec<usize> =
            (0..places.len()).filter(|&at| places[at].mark.is_some() && places[at].tokens >= rule.minimum).collect();
        let hit = marks.iter().filter_map(|&mark| self.longest(rule, prompt, mark + 1, LOOK_BACK + 1, now)).max();
        let mut tokens = Tokens { cache_read: hit.map_or(0, |at| places[at].tokens), ..Tokens::default() };
        let mut done = tokens.cache_read;
        for mark in marks.into_iter().filter(|&mark| hit.is_none_or(|hit| mark > hit)) {
            let written = places[mark].tokens - done;
            match places[mark].mark {
                Some(Ttl::OneHour) => tokens.cache_write_1h += written,
                _ => tokens.cache_write += written,
            }
            done = places[mark].tokens;
        }
        tokens.input = prompt.tokens() - done;
        tokens
    }

    /// The last of the `window` places before `end` whose prefix can be read; it is renewed.
    fn longest(&mut self, rule: Rule, prompt: &Prompt, end: usize, window: usize, now: Duration) -> Option<usize> {
        let places = &prompt.places()[..end];
        let at = (end.saturating_sub(window)..end).rev().find(|&at| {
            places[at].tokens >= rule.minimum
                && self.entries.get(&(rule.model, places[at].link)).is_some_and(|entry| entry.until > now)
        })?;
        if let Some(entry) = self.entries.get_mut(&(rule.model, places[at].link)) {
            entry.until = entry.until.max(now + entry.life);
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKED: Rule = Rule { model: 0, kind: CacheKind::Marked, minimum: 1_000 };
    const SECOND: Duration = Duration::from_secs(1);

    /// Blocks of these bytes; the marked ones carry a breakpoint.
    fn prompt(blocks: &[(usize, Option<Ttl>)]) -> Prompt {
        let mut prompt = Prompt::default();
        for (n, &(bytes, mark)) in blocks.iter().enumerate() {
            prompt.push("user", &[&format!("{n:-<bytes$}")], mark);
        }
        prompt
    }

    fn ask(cache: &mut PrefixCache, rule: Rule, prompt: &Prompt, now: Duration) -> [u64; 4] {
        let tokens = cache.classes(rule, prompt, now);
        cache.keep(rule, prompt, now);
        [tokens.input, tokens.cache_write, tokens.cache_write_1h, tokens.cache_read]
    }

    #[test]
    fn a_prefix_is_written_once_and_read_for_five_minutes_from_its_last_use() {
        let (mut cache, asked) = (PrefixCache::default(), prompt(&[(8_000, Some(Ttl::FiveMinutes)), (400, None)]));
        let mut at = |seconds| ask(&mut cache, MARKED, &asked, SECOND * seconds);
        assert_eq!(at(0), [100, 2_000, 0, 0]);
        assert_eq!(at(299), [100, 0, 0, 2_000]);
        assert_eq!(at(598), [100, 0, 0, 2_000], "the read at 299 has renewed it");
        assert_eq!(at(898), [100, 2_000, 0, 0]);
    }

    #[test]
    fn parallel_first_requests_all_pay_the_write() {
        let (mut cache, asked) = (PrefixCache::default(), prompt(&[(8_000, Some(Ttl::FiveMinutes))]));
        let first = cache.classes(MARKED, &asked, SECOND);
        let second = cache.classes(MARKED, &asked, SECOND);
        assert_eq!((first.cache_write, second.cache_write), (2_000, 2_000));
    }

    #[test]
    fn below_the_minimum_a_breakpoint_is_ignored() {
        let (mut cache, asked) = (PrefixCache::default(), prompt(&[(3_996, Some(Ttl::FiveMinutes))]));
        assert_eq!(ask(&mut cache, MARKED, &asked, SECOND), [999, 0, 0, 0]);
        assert_eq!(ask(&mut cache, MARKED, &asked, SECOND), [999, 0, 0, 0]);
    }

    #[test]
    fn a_longer_conversation_reads_what_a_shorter_one_wrote_within_twenty_blocks() {
        let mut cache = PrefixCache::default();
        ask(&mut cache, MARKED, &prompt(&[(8_000, Some(Ttl::FiveMinutes))]), SECOND);
        let longer = |blocks: usize| {
            let mut all = vec![(8_000, None)];
            all.extend(vec![(400, None); blocks - 1]);
            all.push((400, Some(Ttl::FiveMinutes)));
            prompt(&all)
        };
        assert_eq!(cache.classes(MARKED, &longer(20), SECOND).cache_read, 2_000);
        assert_eq!(cache.classes(MARKED, &longer(21), SECOND).cache_read, 0);
    }

    #[test]
    fn the_hours_part_is_apart_from_the_five_minutes_part() {
        let mut cache = PrefixCache::default();
        let asked = prompt(&[(8_000, Some(Ttl::OneHour)), (4_000, Some(Ttl::FiveMinutes)), (40, None)]);
        assert_eq!(ask(&mut cache, MARKED, &asked, SECOND), [10, 1_000, 2_000, 0]);
        assert_eq!(ask(&mut cache, MARKED, &asked, SECOND * 1_000), [10, 1_000, 0, 2_000]);
    }

    #[test]
    fn caches_of_models_are_apart() {
        let (mut cache, asked) = (PrefixCache::default(), prompt(&[(8_000, Some(Ttl::FiveMinutes))]));
        ask(&mut cache, MARKED, &asked, SECOND);
        assert_eq!(ask(&mut cache, Rule { model: 1, ..MARKED }, &asked, SECOND)[1], 2_000);
    }

    #[test]
    fn implicit_caches_need_no_breakpoint_and_read_whole_steps() {
        for (kind, write) in [(CacheKind::Implicit, false), (CacheKind::ImplicitBilled, true)] {
            let (mut cache, asked) = (PrefixCache::default(), prompt(&[(5_000, None), (400, None)]));
            let rule = Rule { kind, ..MARKED };
            let first = ask(&mut cache, rule, &asked, SECOND);
            assert_eq!(first, if write { [0, 1_350, 0, 0] } else { [1_350, 0, 0, 0] });
            let again = ask(&mut cache, rule, &asked, SECOND);
            assert_eq!(again, if write { [0, 70, 0, 1_280] } else { [70, 0, 0, 1_280] });
        }
    }

    #[test]
    fn the_sum_of_the_classes_is_the_prompt() {
        proptest::proptest!(|(blocks in proptest::collection::vec((1_usize..9_000, 0_u8..3), 1..30), seconds in 0_u32..700)| {
            let marks = [None, Some(Ttl::FiveMinutes), Some(Ttl::OneHour)];
            let blocks: Vec<_> = blocks.into_iter().map(|(bytes, mark)| (bytes, marks[usize::from(mark)])).collect();
            let (asked, mut cache) = (prompt(&blocks), PrefixCache::default());
            for kind in [CacheKind::Marked, CacheKind::Implicit, CacheKind::ImplicitBilled, CacheKind::None] {
                let rule = Rule { kind, ..MARKED };
                ask(&mut cache, rule, &prompt(&blocks[..blocks.len().div_ceil(2)]), SECOND);
                proptest::prop_assert_eq!(cache.classes(rule, &asked, SECOND * seconds).prompt(), asked.tokens());
            }
        });
    }
}
