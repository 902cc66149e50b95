//! Re-running a record: the same episode code, with the recorded responses in the model's place.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::digest::Digest;
use bench_results::record::{AttemptLine, EpisodeRecord, Lines, Opened, Record, Settled, Tail};

use crate::{
    conclude::Judge,
    inputs::Inputs,
    models::SCRIPTED,
    run::{
        family::{AnyTask, Family},
        prepare::Prepared,
    },
    wire::{Request, Settings},
};

/// Differences that are spelled out; the rest is counted.
const SHOWN: usize = 3;

/// What a replay found, by kind; the error texts name the first places.
pub(crate) struct Replayed {
    pub(crate) schedule: Result<String, String>,
    pub(crate) surfaces: Result<String, String>,
    pub(crate) episodes: Result<String, String>,
    pub(crate) books: Result<String, String>,
    pub(crate) attempts: u64,
    /// Ids of the models that answered.
    pub(crate) models: BTreeSet<String>,
    /// Why episodes have no outcome.
    pub(crate) missing: Missing,
}

/// Episodes without an outcome.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// How many, by what their attempts say.
    pub(crate) explained: BTreeMap<String, u64>,
    /// One of which no attempt says why.
    pub(crate) unexplained: Option<String>,
}

/// Differences of one kind.
#[derive(Default)]
pub(super) struct Differences {
    count: u64,
    first: Vec<String>,
}

impl Differences {
    pub(super) fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(what());
        }
    }

    pub(super) fn outcome(self, good: impl FnOnce() -> String) -> Result<String, String> {
        match self.count {
            0 => Ok(good()),
            1 => Err(self.first.join("; ")),
            many => Err(format!("{many} differences; {}", self.first.join("; "))),
        }
    }
}

struct Replay<'a> {
    inputs: &'a Inputs,
    reader: &'a Record,
    attempts: Lines<AttemptLine>,
    episodes: Lines<EpisodeRecord>,
    settings: Settings,
    body: Vec<u8>,
    seen: BTreeSet<Digest>,
    models: BTreeSet<String>,
    counted: u64,
    replayed: u64,
    schedule: Differences,
    surfaces: Differences,
    scores: Differences,
    books: Differences,
    billed: u64,
    /// The logs no longer follow the schedule: what comes after cannot be matched.
    lost: bool,
}

/// Replays a whole record in schedule order.
pub(super) fn replay(reader: &Record, inputs: &Inputs, prepared: &Prepared, judge: &mut Judge<'_>) -> Replayed {
    let opened = reader.attempts(Tail::Report).and_then(|attempts| Ok((attempts, reader.episodes(Tail::Report)?)));
    let (attempts, episodes) = match opened {
        Ok(logs) => logs,
        Err(error) => return failed(&error.to_string()),
    };
    let mut replay = Replay {
        inputs,
        reader,
        attempts,
        episodes,
        settings: Settings::of(&inputs.protocol),
        body: Vec::new(),
        seen: BTreeSet::new(),
        models: BTreeSet::new(),
        counted: 0,
        replayed: 0,
        schedule: Differences::default(),
        surfaces: Differences::default(),
        scores: Differences::default(),
        books: Differences::default(),
        billed: 0,
        lost: false,
    };
    for family in &prepared.families {
        replay.family(family, judge);
    }
    replay.finish()
}

fn failed(why: &str) -> Replayed {
    let error = || Err(why.to_owned());
    Replayed {
        schedule: error(),
        surfaces: error(),
        episodes: error(),
        books: error(),
        attempts: 0,
        models: BTreeSet::new(),
        missing: Missing::default(),
    }
}

impl Replay<'_> {
    fn family(&mut self, family: &Family, judge: &mut Judge<'_>) {
        for index in 0..family.tasks.len() {
            let Some(task) = family.tasks.task(index) else { break };
            for place in family.order(index) {
                if self.lost {
                    return;
                }
                if let Some(record) = self.episode(family, &task, place)
                    && let Err(error) = judge.push(&record)
                {
                    self.scores.add(|| error.to_string());
                }
            }
        }
    }

    /// Re-runs one episode and holds it against its recorded line. Returns the re-made line.
    fn episode(&mut self, family: &Family, task: &AnyTask, place: usize) -> Option<EpisodeRecord> {
        let arm = &family.arms[place];
        let name = format!("task {} under {}", task.id(), arm.info().id);
        let rule = &self.inputs.protocol.episode;
        let mut episode = match task.episode(arm.as_ref(), &self.inputs.catalogs, rule) {
            Ok(episode) => episode,
            Err(error) => {
                self.lose(format!("{name}: {error}"));
                return None;
            }
        };
        let system = family.system(&self.inputs.protocol);
        while !episode.ended() {
            let (opened, settled) = self.attempt(&name)?;
            let expected = (task.id(), arm.info().id.0.as_str(), episode.turn());
            if (&opened.draw.task, &*opened.draw.arm, opened.draw.turn) != expected {
                let draw = &opened.draw;
                self.lose(format!(
                    "attempt {}: expected {name}, turn {}; found task {} under {}, turn {}",
                    opened.n, expected.2, draw.task, draw.arm, draw.turn
                ));
                return None;
            }
            let surface = episode.surface().clone();
            let request = Request { settings: &self.settings, system, surface: &surface, entries: episode.entries() };
            let wire = SCRIPTED.wire();
            wire.encode(&request, &mut self.body);
            let digest = match wire.request_digest(&request, &self.body) {
                Ok(digest) => digest,
                Err(error) => {
                    self.lose(format!("{name}: {error}"));
                    return None;
                }
            };
            if opened.surface != *surface.digest() {
                self.surfaces.add(|| format!("attempt {}: {name} shows another surface than its arm makes", opened.n));
            } else if opened.request != digest {
                self.surfaces.add(|| format!("attempt {}: the request of {name} is not what was asked", opened.n));
            }
            self.surface(&opened.surface);
            self.billed = self.billed.saturating_add(settled.billed);
            let reply = settled.response.as_ref().map(|response| wire.decode(response.get().as_bytes()));
            match reply {
                Some(Ok(reply)) => {
                    if settled.usage != reply.usage {
                        self.books.add(|| format!("attempt {}: usage differs from that in its response", opened.n));
                    }
                    if settled.model.as_ref() != Some(&reply.model) {
                        self.scores.add(|| format!("attempt {}: its response names `{}`", opened.n, reply.model));
                    }
                    if settled.status.is_some() || settled.error.is_some() {
                        let n = opened.n;
                        self.schedule.add(|| format!("attempt {n}: a model in process has no status and no error"));
                    }
                    self.models.insert(reply.model.clone());
                    episode.accept(reply);
                }
                Some(Err(error)) => {
                    self.lose(format!("attempt {}: {error}", opened.n));
                    return None;
                }
                None => {
                    self.lose(format!("attempt {}: no response", opened.n));
                    return None;
                }
            }
        }
        let made = episode.finish();
        match self.episodes.next() {
            Some(Ok(recorded)) if recorded == made => {}
            Some(Ok(recorded)) if (&recorded.task, &recorded.arm) == (&made.task, &made.arm) => {
                self.scores.add(|| format!("{name}: {}", difference(&recorded, &made)));
            }
            Some(Ok(recorded)) => {
                self.lose(format!(
                    "expected the episode of {name}, found task {} under {}",
                    recorded.task, recorded.arm
                ));
            }
            Some(Err(error)) => self.lose(error.to_string()),
            None => self.lose(format!("the episode of {name} is missing")),
        }
        self.replayed += 1;
        Some(made)
    }

    /// The next attempt: its opening and its outcome, numbered without a gap.
    fn attempt(&mut self, name: &str) -> Option<(Opened, Settled)> {
        let pair = match (self.attempts.next(), self.attempts.next()) {
            (Some(Ok(AttemptLine::Opened(opened))), Some(Ok(AttemptLine::Settled(settled)))) => Some((opened, settled)),
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                self.lose(error.to_string());
                return None;
            }
            _ => None,
        };
        let Some((opened, settled)) = pair else {
            self.lose(format!("an attempt of {name} is missing"));
            return None;
        };
        if opened.n != self.counted || settled.n != self.counted {
            self.books.add(|| format!("attempt {} stands in the place of {}", opened.n, self.counted));
        }
        if settled.billed > opened.reserve {
            self.books.add(|| format!("attempt {} is billed above its reservation", opened.n));
        }
        self.counted += 1;
        Some((opened, settled))
    }

    fn surface(&mut self, digest: &Digest) {
        if self.seen.insert(digest.clone())
            && let Err(error) = self.reader.surface(digest)
        {
            self.surfaces.add(|| error.to_string());
        }
    }

    fn lose(&mut self, why: String) {
        self.schedule.add(|| why);
        self.lost = true;
    }

    fn finish(mut self) -> Replayed {
        if !self.lost {
            if self.attempts.next().is_some() {
                self.schedule.add(|| "attempts are left over after the last episode".to_owned());
            }
            if self.episodes.next().is_some() {
                self.schedule.add(|| "episodes are left over after the last one planned".to_owned());
            }
        }
        match self.reader.surfaces() {
            Ok(kept) => {
                for stray in kept.iter().filter(|name| !self.seen.iter().any(|digest| digest.as_str() == name.as_str()))
                {
                    self.surfaces.add(|| format!("surface {stray} is kept, but no attempt shows it"));
                }
            }
            Err(error) => self.surfaces.add(|| error.to_string()),
        }
        let (episodes, attempts, surfaces, billed) = (self.replayed, self.counted, self.seen.len(), self.billed);
        Replayed {
            schedule: self.schedule.outcome(|| format!("{episodes} episodes, each in its place")),
            surfaces: self
                .surfaces
                .outcome(|| format!("{attempts} requests rebuilt, {surfaces} surfaces re-made from their arms")),
            episodes: self.scores.outcome(|| format!("{episodes} episodes re-run from their responses and re-scored")),
            books: self.books.outcome(|| format!("{attempts} attempts numbered without a gap, {billed} pico-dollars")),
            attempts,
            models: self.models,
            // In process nothing fails that an episode could go on without.
            missing: Missing::default(),
        }
    }
}

/// Names the first field in which two lines differ.
pub(super) fn difference(recorded: &EpisodeRecord, made: &EpisodeRecord) -> String {
    let value = |line| serde_json::to_value(line).unwrap_or_default();
    super::certificate::first_difference("", &value(recorded), &value(made)).unwrap_or_else(|| "differs".to_owned())
}
