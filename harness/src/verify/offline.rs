//! Re-running an offline record: its logs hold the episodes in the order of the schedule, the attempts of each together.
//!
//! The logs are read on a thread of their own, which makes the tasks as well, and episodes are re-run on all cores; what
//! came out is taken in order, so that nothing depends on who was quicker. Where the logs leave the schedule nothing
//! behind can be matched, and the replay ends.

use std::{collections::BTreeSet, num::NonZeroUsize, ops::ControlFlow, sync::Arc};

use bench_results::record::{AttemptLine, EpisodeRecord, Lines, Record, RecordError, Tail};

use super::{
    in_order::{BATCH, BATCH_BYTES, all_cores, batches},
    outcome::{Findings, Missing, Part, Replayed, Totals},
    rerun::{Asked, Finding, Job, Next, Remade, Rerunner},
};
use crate::{
    conclude::Judge,
    inputs::Inputs,
    run::{
        family::{AnyTask, Family},
        prepare::Prepared,
    },
};

/// Replays a whole record in schedule order.
pub(super) fn replay(reader: &Record, inputs: &Inputs, prepared: &Prepared, judge: &mut Judge<'_>) -> Replayed {
    replay_on(all_cores(), reader, inputs, prepared, judge)
}

/// As [`replay`], on so many threads beside the two that read and take.
fn replay_on(
    threads: NonZeroUsize,
    reader: &Record,
    inputs: &Inputs,
    prepared: &Prepared,
    judge: &mut Judge<'_>,
) -> Replayed {
    let mut reading = match Reading::open(reader, inputs.protocol.episode.max_turns) {
        Ok(reading) => reading,
        Err(error) => return Replayed::unread(&error.to_string()),
    };
    let mut replay = Replay {
        judge,
        findings: Findings::new(reader),
        left: None,
        episodes: 0,
        attempts: 0,
        billed: 0,
        models: BTreeSet::new(),
        lost: false,
    };
    let rerunner = Rerunner::new(inputs);
    let mut schedule = schedule(&prepared.families);
    batches(
        threads,
        || reading.batch(&mut schedule),
        |job, body| rerunner.rerun(job, body),
        |remade| replay.take(remade),
    );
    replay.finish(reading)
}

/// An episode of the schedule: its family, its task, the place of its arm.
type Planned<'a> = (&'a Family, Arc<AnyTask>, usize);

fn schedule(families: &[Family]) -> impl Iterator<Item = Planned<'_>> {
    families.iter().flat_map(|family| {
        let tasks = (0..family.tasks.len()).map_while(|index| Some((index, Arc::new(family.tasks.task(index)?))));
        tasks.flat_map(move |(index, task)| {
            family.order(index).into_iter().map(move |arm| (family, Arc::clone(&task), arm))
        })
    })
}

/// The two logs.
struct Reading {
    attempts: Lines<AttemptLine>,
    episodes: Lines<EpisodeRecord>,
    /// What comes next in the log of attempts.
    next: Next,
    /// Attempts that were handed over.
    handed: u64,
    /// Turns that an episode can have: whatever a log holds of one beyond stays there.
    max_turns: u32,
}

impl Reading {
    fn open(reader: &Record, max_turns: u32) -> Result<Self, RecordError> {
        let attempts = reader.attempts(Tail::Report)?;
        let episodes = reader.episodes(Tail::Report)?;
        let mut reading = Self { attempts, episodes, next: Next::End, handed: 0, max_turns };
        reading.next = reading.read();
        Ok(reading)
    }

    /// The next episodes of the schedule.
    fn batch<'a>(&mut self, schedule: &mut dyn Iterator<Item = Planned<'a>>) -> Option<Vec<Job<'a>>> {
        let (mut jobs, mut bytes) = (Vec::with_capacity(BATCH), 0);
        while jobs.len() < BATCH && bytes < BATCH_BYTES {
            let Some(planned) = schedule.next() else { break };
            let job = self.job(planned);
            bytes += job.bytes;
            jobs.push(job);
        }
        (!jobs.is_empty()).then_some(jobs)
    }

    fn job<'a>(&mut self, (family, task, arm): Planned<'a>) -> Job<'a> {
        let (before, id) = (self.handed, &family.arms[arm].info().id.0);
        let (mut attempts, mut bytes) = (Vec::new(), 0);
        for turn in 1..=self.max_turns {
            let Next::Attempt(asked) = &self.next else { break };
            if !asked.is_for(&task, id, turn) {
                break;
            }
            bytes += asked.bytes;
            attempts.push(Arc::clone(asked));
            self.next = self.read();
        }
        self.handed += attempts.len() as u64;
        let recorded = self.episodes.next().map(|line| line.map_err(|error| error.to_string()));
        bytes += self.episodes.bytes().len();
        Job { family, task, arm, before, attempts, next: self.next.clone(), recorded, bytes }
    }

    /// The next attempt of the log: its opening and its outcome.
    fn read(&mut self) -> Next {
        let Some(first) = self.attempts.next() else { return Next::End };
        let bytes = self.attempts.bytes().len();
        match (first, self.attempts.next()) {
            (Ok(AttemptLine::Opened(opened)), Some(Ok(AttemptLine::Settled(settled)))) => {
                let bytes = bytes + self.attempts.bytes().len();
                Next::Attempt(Arc::new(Asked { opened, settled, bytes }))
            }
            (Err(error), _) | (_, Some(Err(error))) => Next::Odd(Some(error.to_string())),
            _ => Next::Odd(None),
        }
    }
}

/// What came out so far.
struct Replay<'a, 'j> {
    judge: &'a mut Judge<'j>,
    findings: Findings<'a>,
    /// An attempt that the episode did not ask for in whose place it stands: the next one that asks finds it.
    left: Option<Arc<Asked>>,
    episodes: u64,
    attempts: u64,
    billed: u64,
    models: BTreeSet<String>,
    /// The logs no longer follow the schedule: what comes after cannot be matched.
    lost: bool,
}

impl Replay<'_, '_> {
    fn take(&mut self, remade: Remade) -> ControlFlow<()> {
        // It cannot be what is asked for: of task and arm together there is one episode.
        if remade.asked
            && let Some(left) = &self.left
        {
            for why in left.misbooked(self.attempts) {
                self.findings.add(Part::Books, || why);
            }
            self.attempts += 1;
            let why = left.instead_of(&remade.name, 1);
            return self.lose(why);
        }
        for finding in remade.found {
            match finding {
                Finding::Differs(part, why) => self.findings.add(part, || why),
                Finding::Shows(surface) => self.findings.shows(surface),
            }
        }
        self.attempts += remade.attempts;
        self.billed = self.billed.saturating_add(remade.billed);
        self.models.extend(remade.models);
        if let Some(made) = remade.made {
            self.episodes += 1;
            if let Err(error) = self.judge.push(&made) {
                self.findings.add(Part::Scores, || error.to_string());
            }
        }
        if self.left.is_none() {
            self.left = remade.left;
        }
        remade.lost.map_or(ControlFlow::Continue(()), |why| self.lose(why))
    }

    fn lose(&mut self, why: String) -> ControlFlow<()> {
        self.findings.add(Part::Schedule, || why);
        self.lost = true;
        ControlFlow::Break(())
    }

    fn finish(mut self, mut reading: Reading) -> Replayed {
        if !self.lost {
            if self.left.is_some() || !matches!(reading.next, Next::End) {
                self.findings.add(Part::Schedule, || "attempts are left over after the last episode".to_owned());
            }
            if reading.episodes.next().is_some() {
                self.findings.add(Part::Schedule, || "episodes are left over after the last one planned".to_owned());
            }
        }
        let totals = Totals {
            episodes: self.episodes,
            attempts: self.attempts,
            models: self.models,
            // In process nothing fails that an episode could go on without.
            missing: Missing::default(),
            in_schedule: "each in its place",
        };
        self.findings.outcome(totals, || format!(", {} pico-dollars", self.billed))
    }
}

#[cfg(test)]
mod tests;
