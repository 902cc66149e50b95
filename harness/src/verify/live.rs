//! Re-running a live record: the episode code with the recorded responses in the model's place, whatever the order in which
//! they came. A live run closes with it, so that its scores are those that anybody recomputes.
//!
//! The two logs are read side by side with the schedule, on a thread of their own, and episodes are re-run on all cores;
//! what came out is taken in the order of the schedule, so that nothing depends on who was quicker. What is held of
//! the logs does not grow with the run: see [`super::ahead`].

use std::{ops::ControlFlow, sync::Arc};

use bench_protocol::digest::Digest;
use bench_results::record::{
    DrawId, Durability, End, EpisodeRecord, Lines, Opened, Record, Tail, surface_path, whole::write_whole,
};

use super::{
    ahead::{Ahead, Found, HELD_AT_MOST, Place, hash},
    in_order::{BATCH, BATCH_BYTES, all_cores, batches},
    log::{Line, Log, Pair, Sums},
    outcome::{Findings, Missing, Part, Replayed, Totals},
    remake::{Job, Remade, Remaker, Shown},
};
use crate::{
    conclude::Judge,
    inputs::Inputs,
    journal::EpisodeKey,
    meter::Refusal,
    run::{
        family::{AnyTask, Family},
        live::{
            money::Money,
            overrun::accepted,
            schedule::{self, Planned},
            terms::Terms,
        },
    },
    surface::Surface,
};

/// At which point of its life a record is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// All episodes are there, not scored yet.
    Closing,
    /// It is complete.
    Closed,
}

/// What a live record is re-run with.
pub(crate) struct Live<'a> {
    pub(crate) reader: &'a Record,
    pub(crate) inputs: &'a Inputs,
    pub(crate) family: &'a Family,
    pub(crate) planned: &'a Planned,
    pub(crate) terms: &'a Terms,
    pub(crate) money: &'a Money,
    pub(crate) stage: Stage,
}

/// Re-runs a record and hands every re-made, scored episode to judge and sink: in the order of the schedule, and after
/// those the ones that had to be put off.
///
/// # Errors
/// A log of attempts that does not read, or whose lines don't belong together.
pub(crate) fn replay(
    live: &Live<'_>,
    judge: &mut Judge<'_>,
    sink: &mut dyn FnMut(EpisodeRecord),
) -> Result<(Replayed, Sums), String> {
    replay_within(HELD_AT_MOST, live, judge, sink)
}

/// As [`replay`], with at most so many bytes of each log held.
fn replay_within(
    held: usize,
    live: &Live<'_>,
    judge: &mut Judge<'_>,
    sink: &mut dyn FnMut(EpisodeRecord),
) -> Result<(Replayed, Sums), String> {
    let mut replay = Replay {
        live,
        remaker: &Remaker::new(live),
        judge,
        sink,
        put_back: PutBack::default(),
        findings: Findings::new(live.reader),
        replayed: 0,
        missing: Missing::default(),
    };
    let mut reading = Reading::new(live, held)?;
    let mut read = replay.in_schedule(&mut reading);
    if read.is_ok() {
        reading.put_back(std::mem::take(&mut replay.put_back));
        read = replay.put_off(&mut reading);
    }
    match read {
        Ok(()) => replay.left(&mut reading)?,
        Err(Broken::Attempts(why)) => return Err(why),
        Err(Broken::Episodes(why)) => {
            replay.findings.add(Part::Schedule, || why);
            reading.attempts.rest()?;
        }
    }
    let sums = reading.attempts.log().sums();
    Ok((replay.finish(&sums), sums))
}

/// A log that does not read.
enum Broken {
    Attempts(String),
    Episodes(String),
}

/// What the next thread is handed.
type Batch = Result<Vec<Job>, Broken>;

/// The two logs, and the episodes that are put off.
struct Reading<'a> {
    live: &'a Live<'a>,
    attempts: Ahead<Log>,
    episodes: Ahead<Lines<EpisodeRecord>>,
    later: Vec<(u64, schedule::Place)>,
    /// The task that was asked for last: its arms mostly follow one another.
    task: Option<(u64, Arc<AnyTask>)>,
}

/// Episodes of which too little was taken from the logs, and where that lies.
#[derive(Default)]
struct PutBack {
    later: Vec<(u64, schedule::Place)>,
    hashes: Vec<u64>,
    attempts: Vec<Place<Pair>>,
    episodes: Vec<Place<u64>>,
}

impl<'a> Reading<'a> {
    fn new(live: &'a Live<'a>, held: usize) -> Result<Self, String> {
        let attempts = Log::open(live.reader.folder())?;
        let episodes = live.reader.episodes(Tail::Report).map_err(|error| error.to_string())?;
        Ok(Self {
            live,
            attempts: Ahead::new(attempts, held),
            episodes: Ahead::new(episodes, held),
            later: Vec::new(),
            task: None,
        })
    }

    /// The next episodes of the schedule; those that cannot be had yet are put off.
    fn batch(&mut self, schedule: &mut dyn Iterator<Item = (u64, schedule::Place)>) -> Option<Batch> {
        let (mut jobs, mut bytes) = (Vec::with_capacity(BATCH), 0);
        while jobs.len() < BATCH && bytes < BATCH_BYTES {
            let Some((number, place)) = schedule.next() else { break };
            match self.job(number, place) {
                Ok(Some(job)) => {
                    bytes += job.bytes();
                    jobs.push(job);
                }
                Ok(None) => {}
                Err(broken) => return Some(Err(broken)),
            }
        }
        (!jobs.is_empty()).then_some(Ok(jobs))
    }

    fn job(&mut self, number: u64, place: schedule::Place) -> Result<Option<Job>, Broken> {
        let Some((task, key)) = self.task(place) else { return Ok(None) };
        let recorded = match self.episodes.take(&key, 1).map_err(Broken::Episodes)? {
            Found::Items(lines) => lines,
            Found::Later => Vec::new(),
        };
        // How many replies there are of an episode is what its line says. One that is missing has no last reply, and the
        // log must end before that is known.
        let replies = recorded.first().map(|line| &line.record).filter(|line| line.end != End::Missing);
        let attempts = match replies.map(|line| u64::from(line.turns)) {
            Some(turns) => self.attempts.take(&key, turns).map_err(Broken::Attempts)?,
            None => Found::Later,
        };
        match attempts {
            Found::Items(attempts) => Ok(Some(Job { number, place, task, recorded, attempts, more: true })),
            Found::Later => {
                self.attempts.put_off(&key, &[]);
                self.episodes.put_off(&key, &recorded);
                self.later.push((number, place));
                Ok(None)
            }
        }
    }

    /// As [`Self::batch`], once the logs have ended.
    fn late_batch(&mut self, later: &mut dyn Iterator<Item = (u64, schedule::Place)>) -> Option<Batch> {
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while jobs.len() < BATCH && bytes < BATCH_BYTES {
            let Some((number, place)) = later.next() else { break };
            let Some((task, key)) = self.task(place) else { continue };
            let recorded = match self.episodes.later(&key) {
                Ok(lines) => lines,
                Err(why) => return Some(Err(Broken::Episodes(why))),
            };
            let attempts = match self.attempts.later(&key) {
                Ok(attempts) => attempts,
                Err(why) => return Some(Err(Broken::Attempts(why))),
            };
            let job = Job { number, place, task, recorded, attempts, more: false };
            bytes += job.bytes();
            jobs.push(job);
        }
        (!jobs.is_empty()).then_some(Ok(jobs))
    }

    fn task(&mut self, place: schedule::Place) -> Option<(Arc<AnyTask>, EpisodeKey)> {
        let task = match &self.task {
            Some((index, task)) if *index == place.task => Arc::clone(task),
            _ => {
                let task = Arc::new(self.live.family.tasks.task(place.task)?);
                self.task = Some((place.task, Arc::clone(&task)));
                task
            }
        };
        let key = key(self.live.family, &task, place.arm);
        Some((task, key))
    }

    fn put_back(&mut self, back: PutBack) {
        self.attempts.put_back(&back.hashes, back.attempts);
        self.episodes.put_back(&back.hashes, back.episodes);
        self.later.extend(back.later);
        self.later.sort_unstable_by_key(|&(number, _)| number);
    }
}

fn key(family: &Family, task: &AnyTask, arm: usize) -> EpisodeKey {
    EpisodeKey { task: task.id().clone(), arm: family.arms[arm].info().id.0.as_str().into() }
}

impl Job {
    fn bytes(&self) -> usize {
        self.attempts.iter().map(super::ahead::Item::bytes).sum()
    }
}

struct Replay<'a, 'j> {
    live: &'a Live<'a>,
    remaker: &'a Remaker<'a>,
    judge: &'a mut Judge<'j>,
    sink: &'a mut dyn FnMut(EpisodeRecord),
    put_back: PutBack,
    findings: Findings<'a>,
    replayed: u64,
    missing: Missing,
}

impl Replay<'_, '_> {
    /// Everything that the logs hold about where it belongs.
    fn in_schedule(&mut self, reading: &mut Reading<'_>) -> Result<(), Broken> {
        let Live { family, planned, terms, .. } = *self.live;
        let mut schedule = (0..).zip(planned.schedule(family, terms.order));
        self.side_by_side(|| reading.batch(&mut schedule))
    }

    /// What was put off, now that the logs have ended.
    fn put_off(&mut self, reading: &mut Reading<'_>) -> Result<(), Broken> {
        reading.attempts.rest().map_err(Broken::Attempts)?;
        reading.episodes.rest().map_err(Broken::Episodes)?;
        let mut later = std::mem::take(&mut reading.later).into_iter();
        self.side_by_side(|| reading.late_batch(&mut later))
    }

    /// Makes batches, re-runs them and takes in what came out, each on threads of its own.
    fn side_by_side(&mut self, mut make: impl FnMut() -> Option<Batch> + Send) -> Result<(), Broken> {
        let (remaker, mut read) = (self.remaker, Ok(()));
        let make = || make()?.map_err(|broken| read = Err(broken)).ok();
        let take = |remade| {
            self.take(remade);
            ControlFlow::Continue(())
        };
        batches(all_cores(), make, |job, body| remaker.remake(job, body), take);
        read
    }

    fn take(&mut self, remade: Remade) {
        match remade {
            Remade::Whole { made, found, surfaces, missing } => {
                for (part, what) in found {
                    self.findings.add(part, || what);
                }
                for Shown { digest, made } in surfaces {
                    let closing = self.live.stage == Stage::Closing;
                    if let Some(made) = made.filter(|_| closing && self.findings.is_new(&digest)) {
                        self.restore(&digest, &made);
                    }
                    self.findings.shows(digest);
                }
                match missing {
                    Some(Ok(why)) => *self.missing.explained.entry(why).or_default() += 1,
                    Some(Err(name)) => {
                        self.missing.unexplained.get_or_insert(name);
                    }
                    None => {}
                }
                match made {
                    Ok(made) => {
                        if let Err(error) = self.judge.push(&made) {
                            self.findings.add(Part::Scores, || error.to_string());
                        }
                        self.replayed += 1;
                        (self.sink)(*made);
                    }
                    Err(why) => self.findings.add(Part::Schedule, || why),
                }
            }
            Remade::Short(job) => {
                self.put_back.later.push((job.number, job.place));
                self.put_back.hashes.push(hash(&key(self.live.family, &job.task, job.place.arm)));
                self.put_back.attempts.extend(job.attempts.iter().map(Place::of));
                self.put_back.episodes.extend(job.recorded.iter().map(Place::of));
            }
        }
    }

    /// Surfaces are not synced while a run goes on: what a power cut took of them is written before it is closed.
    fn restore(&mut self, digest: &Digest, surface: &Surface) {
        let reader = self.live.reader;
        if reader.surface(digest).is_err()
            && let Err(error) =
                write_whole(&surface_path(reader.folder(), digest), &surface.bytes(), Durability::Synced)
        {
            self.findings.add(Part::Surfaces, || error.to_string());
        }
    }

    /// What the logs hold beyond what the schedule asks for.
    fn left(&mut self, reading: &mut Reading<'_>) -> Result<(), String> {
        if let (count, Some(one)) = reading.attempts.left()? {
            let Opened { n, draw: DrawId { task, arm, turn }, .. } = one.opened;
            self.findings.add(Part::Schedule, || match count {
                1 => format!("attempt {n}, of task {task} under {arm}, turn {turn}, is one that no episode needs"),
                _ => format!(
                    "{count} attempts are of no episode's need, among them attempt {n}, of task {task} under {arm}, turn {turn}"
                ),
            });
        }
        if let (count, Some(Line { record, .. })) = reading.episodes.left()? {
            self.findings.add(Part::Schedule, || {
                let name = format!("the episode of task {} under {}", record.task, record.arm);
                match count {
                    1 => format!("{name} is on record and was not planned, or not twice"),
                    _ => {
                        format!("{count} episodes are on record that were not planned, or not twice, among them {name}")
                    }
                }
            });
        }
        Ok(())
    }

    fn finish(mut self, sums: &Sums) -> Replayed {
        let manifest = self.live.reader.manifest();
        for &overrun in &sums.overruns {
            if !manifest.deviations.contains(&accepted(overrun)) {
                self.findings
                    .add(Part::Books, || format!("{}; the manifest does not accept it", Refusal::Overrun(overrun)));
            }
        }
        let budget = manifest.budget;
        let books = sums.books;
        match budget {
            Some(budget) if books.spent <= budget => {}
            Some(budget) => {
                self.findings
                    .add(Part::Books, || format!("{} pico-dollars were spent, the budget is {budget}", books.spent));
            }
            None => self.findings.add(Part::Books, || "the manifest states no budget".to_owned()),
        }
        let totals = Totals {
            episodes: self.replayed,
            attempts: books.attempts,
            models: sums.models.clone(),
            missing: self.missing,
            in_schedule: "each once, as planned",
        };
        self.findings.outcome(totals, || {
            format!(
                "; {} pico-dollars spent: {} by usage, {} kept for unknown outcomes",
                books.spent,
                books.settled,
                books.kept + books.suspect
            )
        })
    }
}

#[cfg(test)]
mod tests;
