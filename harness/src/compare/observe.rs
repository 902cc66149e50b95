//! What is summed over episodes beside the analysis: estimated dollars, context at the deciding call, outcomes by task.

use std::collections::BTreeMap;

use bench_protocol::{
    digest::Digest,
    prices::{Geo, Price, Tokens, settle},
};
use bench_results::record::{End, Usage};
use bench_tasks::task::TaskId;

use crate::{
    run::{
        events::{Event, Listener},
        trace::EpisodeTrace,
    },
    surface::Surface,
    tokens::tokens as o200k,
};

/// Sums of one arm over one tool's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sums {
    pub(super) tasks: u64,
    /// Tasks that were right in tool and arguments.
    pub(super) solved: u64,
    /// Pico-dollars with every input token at the plain rate.
    pub(super) uncached: u128,
    /// Pico-dollars with the prefix read from a warm cache, where it is long enough to be cached.
    pub(super) warm: u128,
    /// Input tokens of the request that decided, and how many did.
    pub(super) deciding_tokens: u64,
    pub(super) decided: u64,
    /// Tools and o200k tokens of what was shown with the first request, and how many made one.
    pub(super) start_tools: u64,
    pub(super) start_tokens: u64,
    pub(super) started: u64,
}

impl Sums {
    pub(super) fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.solved += other.solved;
        self.uncached += other.uncached;
        self.warm += other.warm;
        self.deciding_tokens += other.deciding_tokens;
        self.decided += other.decided;
        self.start_tools += other.start_tools;
        self.start_tokens += other.start_tokens;
        self.started += other.started;
    }
}

/// The sums of all arms, by cluster: a tool, or what no tool serves.
pub(super) struct Observer<'a> {
    price: &'a Price,
    arms: BTreeMap<String, usize>,
    /// Place and cluster of each task.
    tasks: BTreeMap<TaskId, (usize, usize)>,
    /// By arm, by cluster.
    pub(super) sums: Vec<Vec<Sums>>,
    /// By arm, by task; none where the harness failed.
    pub(super) right: Vec<Vec<Option<bool>>>,
    /// Tokens of lists that were seen before.
    lists: BTreeMap<Digest, u64>,
}

impl<'a> Observer<'a> {
    /// An observer of these arms over tasks that each belong to a cluster.
    pub(super) fn new(price: &'a Price, arms: &[String], tasks: Vec<(TaskId, usize)>) -> Self {
        let clusters = tasks.iter().map(|(_, cluster)| cluster + 1).max().unwrap_or(0);
        let places = tasks.into_iter().enumerate().map(|(place, (id, cluster))| (id, (place, cluster)));
        let tasks: BTreeMap<_, _> = places.collect();
        Self {
            price,
            arms: arms.iter().cloned().zip(0..).collect(),
            sums: vec![vec![Sums::default(); clusters]; arms.len()],
            right: vec![vec![None; tasks.len()]; arms.len()],
            lists: BTreeMap::new(),
            tasks,
        }
    }

    fn episode(&mut self, trace: &EpisodeTrace) -> anyhow::Result<()> {
        let record = &trace.record;
        let (Some(&arm), Some(&(place, cluster))) = (self.arms.get(&*record.arm), self.tasks.get(&record.task)) else {
            anyhow::bail!(
                "an episode of task {} under {}, which are not part of this comparison",
                record.task,
                record.arm
            )
        };
        if record.end == End::Missing {
            return Ok(());
        }
        let mut sums = Sums { tasks: 1, ..Sums::default() };
        if let Some(first) = trace.attempts.first() {
            sums.started = 1;
            sums.start_tools = first.surface.tools().len() as u64;
            sums.start_tokens = self.list_tokens(&first.surface);
        }
        for attempt in &trace.attempts {
            let usage = attempt.usage.unwrap_or_default();
            sums.warm += u128::from(settle(&tokens(usage), self.price, Geo::Global)?);
            let plain = Tokens { input: usage.prompt(), output: usage.output, ..Tokens::default() };
            sums.uncached += u128::from(settle(&plain, self.price, Geo::Global)?);
        }
        let right = record.arguments == Some(true);
        sums.solved = u64::from(right);
        if record.end == End::Decided
            && let Some(last) = trace.attempts.last()
        {
            sums.decided = 1;
            sums.deciding_tokens = last.usage.unwrap_or_default().prompt();
        }
        self.sums[arm][cluster].add(sums);
        self.right[arm][place] = Some(right);
        Ok(())
    }

    fn list_tokens(&mut self, surface: &Surface) -> u64 {
        let count = || {
            let tools: usize = surface.tools().iter().map(|tool| tool.tokens()).sum();
            (tools + o200k(surface.instructions())) as u64
        };
        *self.lists.entry(surface.digest().clone()).or_insert_with(count)
    }
}

fn tokens(usage: Usage) -> Tokens {
    Tokens {
        input: usage.input,
        cache_write_5m: usage.cache_write,
        cache_write_1h: usage.cache_write_1h,
        cache_read: usage.cache_read,
        output: usage.output,
    }
}

impl Listener for Observer<'_> {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Episode(trace) => self.episode(trace),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bench_protocol::prices::PriceTable;
    use bench_results::record::EpisodeRecord;

    use super::*;

    fn trace(end: End) -> EpisodeTrace {
        let record = EpisodeRecord {
            task: TaskId("t".to_owned()),
            arm: Arc::from("a"),
            turns: 1,
            calls: Vec::new(),
            meta_calls: 0,
            rejected_calls: 0,
            end,
            answer: None,
            surface: Digest::of(b""),
            usage: Usage::default(),
            billed: 0,
            selection: Some(false),
            arguments: Some(false),
            first_call_ok: None,
            look_first_ok: None,
        };
        EpisodeTrace { attempts: Vec::new(), record }
    }

    #[test]
    fn what_the_harness_failed_at_is_in_no_sum_and_what_the_arm_failed_at_is() {
        let table = PriceTable::built_in().unwrap();
        let price = table.row("claude-haiku-4-5-20251001").unwrap();
        let seen = |end| {
            let mut observer = Observer::new(price, &["a".to_owned()], vec![(TaskId("t".to_owned()), 0)]);
            observer.episode(&trace(end)).unwrap();
            (observer.sums[0][0].tasks, observer.right[0][0])
        };
        assert_eq!(seen(End::Missing), (0, None));
        assert_eq!(seen(End::ArmFault), (1, Some(false)));
    }
}
