//! One episode of an offline record, re-run: the episode code with the recorded responses in the model's place.

use std::sync::Arc;

use bench_protocol::digest::Digest;
use bench_results::record::{EpisodeRecord, Opened, Settled};

use super::outcome::{Part, difference};
use crate::{
    inputs::Inputs,
    models::SCRIPTED,
    run::family::{AnyTask, Family},
    wire::{Request, Settings},
};

/// An attempt, as the log has it.
pub(super) struct Asked {
    pub(super) opened: Opened,
    pub(super) settled: Settled,
    /// Length of its lines.
    pub(super) bytes: usize,
}

/// What a log of attempts holds at some point.
#[derive(Clone)]
pub(super) enum Next {
    Attempt(Arc<Asked>),
    /// No attempt; the text says why, where a line cannot be read.
    Odd(Option<String>),
    End,
}

/// An episode to be re-run, with what the logs hold in its place.
pub(super) struct Job<'a> {
    pub(super) family: &'a Family,
    pub(super) task: Arc<AnyTask>,
    /// Its place among the arms of the family.
    pub(super) arm: usize,
    /// Attempts before its own.
    pub(super) before: u64,
    /// Attempts that ask for its turns, one after the other from the first on, and for no more than it may have.
    pub(super) attempts: Vec<Arc<Asked>>,
    /// What comes behind them.
    pub(super) next: Next,
    /// Its line of the record; none where the log has ended.
    pub(super) recorded: Option<Result<EpisodeRecord, String>>,
    /// Length of all its lines.
    pub(super) bytes: usize,
}

/// What is found on the way.
pub(super) enum Finding {
    Differs(Part, String),
    /// An attempt shows this surface.
    Shows(Digest),
}

/// What came of an episode.
pub(super) struct Remade {
    /// How it is called in what is said about it.
    pub(super) name: String,
    /// Its line, scored; none where it could not be re-run to its end.
    pub(super) made: Option<EpisodeRecord>,
    pub(super) found: Vec<Finding>,
    /// Whether it asked for any attempt.
    pub(super) asked: bool,
    /// Attempts that were taken from the log.
    pub(super) attempts: u64,
    /// The first that it was handed and did not ask for.
    pub(super) left: Option<Arc<Asked>>,
    pub(super) billed: u64,
    /// Ids of the models that answered.
    pub(super) models: Vec<String>,
    /// Why the logs cannot be followed beyond.
    pub(super) lost: Option<String>,
}

/// Re-runs episodes.
pub(super) struct Rerunner<'a> {
    inputs: &'a Inputs,
    settings: Settings,
}

/// An episode that is being re-run.
struct Running<'j> {
    job: &'j Job<'j>,
    /// Attempts of the job that were asked for.
    taken: usize,
    came: Remade,
}

impl Asked {
    /// Whether it asks for this turn.
    pub(super) fn is_for(&self, task: &AnyTask, arm: &str, turn: u32) -> bool {
        let draw = &self.opened.draw;
        (&draw.task, &*draw.arm, draw.turn) == (task.id(), arm, turn)
    }

    /// What its number and its bill have against them in the place `due`, from 0.
    pub(super) fn misbooked(&self, due: u64) -> impl Iterator<Item = String> {
        let (n, reserve) = (self.opened.n, self.opened.reserve);
        let number = (n != due || self.settled.n != due).then(|| format!("attempt {n} stands in the place of {due}"));
        let bill = (self.settled.billed > reserve).then(|| format!("attempt {n} is billed above its reservation"));
        number.into_iter().chain(bill)
    }

    /// That it stands where a turn of the episode `name` is due.
    pub(super) fn instead_of(&self, name: &str, turn: u32) -> String {
        let Opened { n, draw, .. } = &self.opened;
        format!(
            "attempt {n}: expected {name}, turn {turn}; found task {} under {}, turn {}",
            draw.task, draw.arm, draw.turn
        )
    }
}

impl<'a> Rerunner<'a> {
    pub(super) fn new(inputs: &'a Inputs) -> Self {
        Self { inputs, settings: Settings::of(&inputs.protocol) }
    }

    /// Re-runs an episode and holds it against its recorded line. `body` is overwritten.
    pub(super) fn rerun(&self, mut job: Job<'_>, body: &mut Vec<u8>) -> Remade {
        let recorded = job.recorded.take();
        let mut running = Running::new(&job);
        match running.run_out(self, body) {
            Ok(made) => running.held_against(recorded, made),
            Err(why) => running.came.lost = Some(why),
        }
        running.came.left = job.attempts.get(running.taken).cloned();
        running.came
    }
}

impl<'j> Running<'j> {
    fn new(job: &'j Job<'_>) -> Self {
        let came = Remade {
            name: format!("task {} under {}", job.task.id(), job.family.arms[job.arm].info().id),
            made: None,
            found: Vec::new(),
            asked: false,
            attempts: 0,
            left: None,
            billed: 0,
            models: Vec::new(),
            lost: None,
        };
        Self { job, taken: 0, came }
    }

    fn run_out(&mut self, rerunner: &Rerunner<'_>, body: &mut Vec<u8>) -> Result<EpisodeRecord, String> {
        let Rerunner { inputs, settings } = rerunner;
        let Job { family, task, arm, .. } = self.job;
        let mut episode = task
            .episode(family.arms[*arm].as_ref(), &inputs.catalogs, &inputs.protocol.episode)
            .map_err(|error| format!("{}: {error}", self.came.name))?;
        let system = family.system(&inputs.protocol);
        let wire = SCRIPTED.wire();
        while !episode.ended() {
            let Asked { opened, settled, .. } = self.attempt(episode.turn())?;
            let n = opened.n;
            let surface = Arc::clone(episode.surface());
            let request = Request { settings, system, surface: &surface, entries: episode.entries() };
            wire.encode(&request, body);
            let digest = wire.request_digest(&request, body).map_err(|error| format!("{}: {error}", self.came.name))?;
            let name = &self.came.name;
            if opened.surface != *surface.digest() {
                let why = format!("attempt {n}: {name} shows another surface than its arm makes");
                self.differs(Part::Surfaces, why);
            } else if opened.request != digest {
                let why = format!("attempt {n}: the request of {name} is not what was asked");
                self.differs(Part::Surfaces, why);
            }
            self.came.found.push(Finding::Shows(opened.surface.clone()));
            self.came.billed = self.came.billed.saturating_add(settled.billed);
            let response = settled.response.as_ref().ok_or_else(|| format!("attempt {n}: no response"))?;
            let reply = wire.decode(response.get().as_bytes()).map_err(|error| format!("attempt {n}: {error}"))?;
            if settled.usage != reply.usage {
                self.differs(Part::Books, format!("attempt {n}: usage differs from that in its response"));
            }
            if settled.model.as_ref() != Some(&reply.model) {
                self.differs(Part::Scores, format!("attempt {n}: its response names `{}`", reply.model));
            }
            if settled.status.is_some() || settled.error.is_some() {
                let why = format!("attempt {n}: a model in process has no status and no error");
                self.differs(Part::Schedule, why);
            }
            if self.came.models.last() != Some(&reply.model) {
                self.came.models.push(reply.model.clone());
            }
            episode.accept(reply);
        }
        Ok(episode.finish())
    }

    /// The attempt in the place of a turn.
    fn attempt(&mut self, turn: u32) -> Result<&'j Asked, String> {
        self.came.asked = true;
        let name = &self.came.name;
        let own = self.job.attempts.get(self.taken);
        let asked = match (own, &self.job.next) {
            (Some(asked), _) | (None, Next::Attempt(asked)) => asked,
            (None, Next::Odd(Some(why))) => return Err(why.clone()),
            (None, Next::Odd(None) | Next::End) => return Err(format!("an attempt of {name} is missing")),
        };
        let misbooked = asked.misbooked(self.job.before + self.came.attempts);
        self.came.found.extend(misbooked.map(|why| Finding::Differs(Part::Books, why)));
        self.came.attempts += 1;
        if own.is_none() {
            return Err(asked.instead_of(&self.came.name, turn));
        }
        self.taken += 1;
        Ok(asked)
    }

    fn held_against(&mut self, recorded: Option<Result<EpisodeRecord, String>>, made: EpisodeRecord) {
        let name = &self.came.name;
        match recorded {
            Some(Ok(recorded)) if recorded == made => {}
            Some(Ok(recorded)) if (&recorded.task, &recorded.arm) == (&made.task, &made.arm) => {
                let why = format!("{name}: {}", difference(&recorded, &made));
                self.differs(Part::Scores, why);
            }
            Some(Ok(EpisodeRecord { task, arm, .. })) => {
                self.came.lost = Some(format!("expected the episode of {name}, found task {task} under {arm}"));
            }
            Some(Err(error)) => self.came.lost = Some(error),
            None => self.came.lost = Some(format!("the episode of {name} is missing")),
        }
        self.came.made = Some(made);
    }

    fn differs(&mut self, part: Part, why: String) {
        self.came.found.push(Finding::Differs(part, why));
    }
}
