//! One episode of a live record, re-run: the episode code with the recorded responses in the model's place.

use std::sync::Arc;

use bench_protocol::{digest::Digest, prices::Bound};
use bench_results::record::{End, EpisodeRecord, Settled};

use super::{
    live::{Live, Stage},
    log::{Attempt, Line},
    outcome::{Part, difference},
};
use crate::{
    journal::is_reply,
    models::{BaseUrl, identity},
    run::{
        family::AnyTask,
        live::{money::bound, overrun::Beyond, schedule},
    },
    surface::Surface,
    wire::{Reply, Request, Wire},
};

/// An episode to be re-run, with all that the record has of it.
pub(super) struct Job {
    /// Its number in the schedule.
    pub(super) number: u64,
    pub(super) place: schedule::Place,
    pub(super) task: Arc<AnyTask>,
    /// Its lines of the record: one, where all is well.
    pub(super) recorded: Vec<Line>,
    /// Its attempts, in the order in which they were settled.
    pub(super) attempts: Vec<Attempt>,
    /// Whether the log may hold more of it further on.
    pub(super) more: bool,
}

/// What came of an episode.
pub(super) enum Remade {
    /// It was re-run.
    Whole {
        /// Its line, scored; the error says why there is none.
        made: Result<Box<EpisodeRecord>, String>,
        /// What differs.
        found: Vec<(Part, String)>,
        /// Surfaces that its attempts show.
        surfaces: Vec<Shown>,
        /// Of an episode without an outcome: why, as the first of its attempts says that does; else its name.
        missing: Option<Result<String, String>>,
    },
    /// Its line of the record misstates how much of the log is its own.
    Short(Box<Job>),
}

/// A surface that an attempt shows.
pub(super) struct Shown {
    pub(super) digest: Digest,
    /// The same, as its arm makes it.
    pub(super) made: Option<Arc<Surface>>,
}

/// Re-runs episodes.
pub(super) struct Remaker<'a> {
    live: &'a Live<'a>,
    /// Replies of another model, tier or place were no answers.
    strict: bool,
    wire: &'static dyn Wire,
}

/// An episode that is being re-run.
struct Running<'a> {
    remaker: &'a Remaker<'a>,
    name: String,
    attempts: &'a [Attempt],
    found: Vec<(Part, String)>,
    surfaces: Vec<Shown>,
}

/// Why an episode cannot be re-run to its end.
enum Stuck {
    /// More of the log is needed.
    Short,
    /// The record does not lead on.
    Wrong(String),
}

impl From<String> for Stuck {
    fn from(why: String) -> Self {
        Self::Wrong(why)
    }
}

impl<'a> Remaker<'a> {
    pub(super) fn new(live: &'a Live<'a>) -> Self {
        // As the run itself was: see [`identity::is_strict`].
        let strict =
            BaseUrl::parse(&live.terms.base_url).map_or(true, |base| identity::is_strict(live.money.price(), &base));
        Self { live, strict, wire: live.terms.wire.wire() }
    }

    /// How an episode is called in what is said about it.
    pub(super) fn name(&self, task: &AnyTask, arm: usize) -> String {
        format!("task {} under {}", task.id(), self.live.family.arms[arm].info().id)
    }

    /// Re-runs one episode and holds it against its recorded line. `body` is overwritten.
    pub(super) fn remake(&self, job: Job, body: &mut Vec<u8>) -> Remade {
        let name = self.name(&job.task, job.place.arm);
        let mut running =
            Running { remaker: self, name, attempts: &job.attempts, found: Vec::new(), surfaces: Vec::new() };
        let made = match running.run_out(&job, body) {
            Ok(made) => running.held_against(&job.recorded, made).map(Box::new),
            Err(Stuck::Short) => return Remade::Short(Box::new(job)),
            Err(Stuck::Wrong(why)) => Err(why),
        };
        let missing = made.as_ref().is_ok_and(|made| made.end == End::Missing).then(|| running.why_missing());
        let Running { found, surfaces, .. } = running;
        Remade::Whole { made, found, surfaces, missing }
    }

    /// While a record is being closed its lines have no scores yet; lines of an interrupted close have them already.
    fn same(&self, recorded: &EpisodeRecord, made: &EpisodeRecord) -> bool {
        if self.live.stage == Stage::Closed {
            return recorded == made;
        }
        let unscored = |line: &EpisodeRecord| {
            let mut line = line.clone();
            line.set_score(None);
            line
        };
        unscored(recorded) == unscored(made)
    }
}

impl Running<'_> {
    fn run_out(&mut self, job: &Job, body: &mut Vec<u8>) -> Result<EpisodeRecord, Stuck> {
        let Live { inputs, family, terms, .. } = *self.remaker.live;
        let arm = &family.arms[job.place.arm];
        let rule = &inputs.protocol.episode;
        let mut episode = job
            .task
            .episode(arm.as_ref(), &inputs.catalogs, rule)
            .map_err(|error| format!("{}: {error}", self.name))?;
        let system = family.system(&inputs.protocol);
        let mut last = 0;
        while !episode.ended() {
            last = episode.turn();
            let surface = Arc::clone(episode.surface());
            let request = Request { settings: &terms.settings, system, surface: &surface, entries: episode.entries() };
            self.remaker.wire.encode(&request, body);
            let before = self.surfaces.len();
            let (reply, billed) = self.draw(last, &request, body, job.more)?;
            for shown in self.surfaces[before..].iter_mut().filter(|shown| shown.digest == *surface.digest()) {
                shown.made = Some(Arc::clone(&surface));
            }
            episode.book(billed);
            match reply {
                Some(reply) => episode.accept(reply),
                None => episode.abort(End::Missing),
            }
        }
        let beyond = self.attempts.iter().map(|one| &one.opened).find(|opened| !(1..=last).contains(&opened.draw.turn));
        if let Some(opened) = beyond {
            let why = format!(
                "attempt {}: turn {} of {} was asked for, and none is due",
                opened.n, opened.draw.turn, self.name
            );
            self.found.push((Part::Schedule, why));
        }
        Ok(episode.finish())
    }

    fn held_against(&mut self, recorded: &[Line], made: EpisodeRecord) -> Result<EpisodeRecord, String> {
        let [line, others @ ..] = recorded else { return Err(format!("the episode of {} is missing", self.name)) };
        if !others.is_empty() {
            self.found.push((Part::Schedule, format!("the episode of {} is recorded twice", self.name)));
        }
        if !self.remaker.same(&line.record, &made) {
            self.found.push((Part::Scores, format!("{}: {}", self.name, difference(&line.record, &made))));
        }
        Ok(made)
    }

    /// What the first attempt says that failed; else the name of the episode.
    fn why_missing(&self) -> Result<String, String> {
        let failure = |settled: &Settled| {
            let bad = settled.status.filter(|status| !(200..300).contains(status));
            settled.error.clone().or_else(|| bad.map(|status| format!("status {status}")))
        };
        self.attempts.iter().find_map(|one| failure(&one.settled)).ok_or_else(|| self.name.clone())
    }

    /// The reply to a draw, where it has one, and what all its tries cost. Every try must ask for what is re-made here.
    fn draw(
        &mut self,
        turn: u32,
        request: &Request<'_>,
        body: &[u8],
        more: bool,
    ) -> Result<(Option<Reply>, u64), Stuck> {
        let mut tries: Vec<&Attempt> = self.attempts.iter().filter(|one| one.opened.draw.turn == turn).collect();
        tries.sort_by_key(|one| one.opened.n);
        if more && !tries.iter().any(|one| is_reply(&one.settled)) {
            return Err(Stuck::Short);
        }
        let name = &self.name;
        if tries.is_empty() {
            return Err(format!("{name}: turn {turn} was never asked for").into());
        }
        let Remaker { live, wire, .. } = self.remaker;
        let digest = wire.request_digest(request, body).map_err(|error| format!("{name}: {error}"))?;
        let most = bound(request, body);
        let reserve = live.money.reserve(most).map_err(|error| format!("{name}: {error}"))?;
        let (mut reply, mut billed) = (None, 0_u64);
        for (one, number) in tries.into_iter().zip(1..) {
            let Attempt { opened, settled, .. } = one;
            let (n, name) = (opened.n, &self.name);
            if opened.surface != *request.surface.digest() {
                self.found
                    .push((Part::Surfaces, format!("attempt {n}: {name} shows another surface than its arm makes")));
            } else if opened.request != digest {
                self.found.push((Part::Surfaces, format!("attempt {n}: the request of {name} is not what was asked")));
            }
            if opened.attempt != number {
                self.found.push((
                    Part::Schedule,
                    format!("attempt {n}: try {} of {name} stands where {number} belongs", opened.attempt),
                ));
            }
            if opened.reserve != reserve {
                self.found.push((
                    Part::Books,
                    format!("attempt {n} reserves {}, its worst case is {reserve}", opened.reserve),
                ));
            }
            if self.surfaces.last().is_none_or(|last| last.digest != opened.surface) {
                self.surfaces.push(Shown { digest: opened.surface.clone(), made: None });
            }
            billed = billed.saturating_add(settled.billed);
            if reply.is_some() {
                self.found
                    .push((Part::Schedule, format!("attempt {n}: {} asks again for what was answered", self.name)));
            }
            if let Some(read) = self.outcome(n, settled, most)?
                && reply.is_none()
            {
                reply = Some(read);
            }
        }
        Ok((reply, billed))
    }

    /// Reads an outcome and checks what was booked for it.
    fn outcome(&mut self, n: u64, settled: &Settled, most: Bound) -> Result<Option<Reply>, String> {
        let Remaker { live, wire, .. } = self.remaker;
        let read = settled.response.as_ref().map(|response| wire.decode(response.get().as_bytes())).transpose();
        let read = read.map_err(|error| format!("attempt {n}: {error}"))?;
        if let Some(reply) = &read {
            self.answered(n, settled, reply);
        }
        // An attempt of a free model that states no usage is booked like one that was not processed; usage beyond what can
        // be counted in money is booked like none.
        if let Some(reply) = &read
            && settled.usage != reply.usage.filter(|usage| live.money.settle(usage).is_ok())
        {
            self.found.push((Part::Books, format!("attempt {n}: usage differs from that in its response")));
        }
        if let Some(beyond) = settled.usage.as_ref().and_then(|usage| Beyond::of(n, usage, most))
            && !live.reader.manifest().deviations.contains(&beyond.accepted())
        {
            self.found.push((Part::Books, format!("{beyond}; the manifest does not accept it")));
        }
        if let Some(usage) = &settled.usage {
            let due = live.money.settle(usage).map_err(|error| format!("attempt {n}: {error}"))?;
            if due != settled.billed {
                self.found
                    .push((Part::Books, format!("attempt {n}: billed {}, its usage comes to {due}", settled.billed)));
            }
        }
        Ok(read.filter(|_| is_reply(settled)))
    }

    /// A response that reads is the answer: it names its model itself, and only one of another model, tier or place is
    /// set aside. Else whoever dislikes an answer could call it an error and ask again.
    fn answered(&mut self, n: u64, settled: &Settled, reply: &Reply) {
        if settled.model.as_deref().unwrap_or_default() != reply.model {
            self.found.push((Part::Scores, format!("attempt {n}: its response names the model `{}`", reply.model)));
        }
        if settled.status.is_none_or(|status| !(200..300).contains(&status)) {
            let why = format!("attempt {n}: a response is kept under a status that is no success");
            self.found.push((Part::Schedule, why));
        }
        let asked = &self.remaker.live.terms.settings.model;
        let surprise = identity::check(asked, reply).err().filter(|_| self.remaker.strict);
        match (&settled.error, surprise) {
            (Some(error), None) => {
                let why = format!("attempt {n}: its response reads, and is set aside for `{error}`");
                self.found.push((Part::Schedule, why));
            }
            (None, Some(surprise)) => {
                self.found.push((Part::Schedule, format!("attempt {n}: {surprise}; it is no answer")));
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
}
