//! Re-running a live record: the episode code with the recorded responses in the model's place, whatever the order in which
//! they came. A live run closes with it, so that its scores are those that anybody recomputes.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::digest::Digest;
use bench_results::record::{DrawId, End, EpisodeRecord, Record, Settled, Tail};

use super::{
    index::{Index, Indexed},
    replay::{Differences, Replayed, difference},
};
use crate::{
    conclude::Judge,
    inputs::Inputs,
    journal::{EpisodeKey, is_reply},
    meter::Refusal,
    models::{BaseUrl, identity},
    run::{
        family::{AnyTask, Family},
        live::{
            money::{Money, bound},
            overrun::accepted,
            schedule::Planned,
            terms::Terms,
        },
    },
    wire::{Reply, Request, Wire},
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
    pub(crate) index: &'a Index,
    pub(crate) stage: Stage,
}

struct Replay<'a> {
    live: &'a Live<'a>,
    /// Replies of another model, tier or place were no answers.
    strict: bool,
    wire: &'static dyn Wire,
    recorded: BTreeMap<EpisodeKey, EpisodeRecord>,
    body: Vec<u8>,
    seen: BTreeSet<Digest>,
    draws: usize,
    replayed: u64,
    schedule: Differences,
    surfaces: Differences,
    scores: Differences,
    books: Differences,
}

/// Replays a record in the order of its schedule, and hands every re-made, scored episode to judge and sink.
pub(crate) fn replay(live: &Live<'_>, judge: &mut Judge<'_>, sink: &mut dyn FnMut(EpisodeRecord)) -> Replayed {
    let mut replay = Replay {
        live,
        strict: strict(live),
        wire: live.terms.wire.wire(),
        recorded: BTreeMap::new(),
        body: Vec::new(),
        seen: BTreeSet::new(),
        draws: 0,
        replayed: 0,
        schedule: Differences::default(),
        surfaces: Differences::default(),
        scores: Differences::default(),
        books: Differences::default(),
    };
    if let Err(error) = replay.read_episodes() {
        replay.schedule.add(|| error);
        return replay.finish();
    }
    for place in live.planned.schedule(live.family, live.terms.order) {
        let Some(task) = live.family.tasks.task(place.task) else { continue };
        match replay.episode(&task, place.arm) {
            Ok(made) => {
                if let Err(error) = judge.push(&made) {
                    replay.scores.add(|| error.to_string());
                }
                sink(made);
            }
            Err(why) => replay.schedule.add(|| why),
        }
    }
    replay.finish()
}

/// As the run itself was: see [`identity::is_strict`].
fn strict(live: &Live<'_>) -> bool {
    BaseUrl::parse(&live.terms.base_url).map_or(true, |base| identity::is_strict(live.money.price(), &base))
}

impl Replay<'_> {
    fn read_episodes(&mut self) -> Result<(), String> {
        for line in self.live.reader.episodes(Tail::Report).map_err(|error| error.to_string())? {
            let record = line.map_err(|error| error.to_string())?;
            let key = EpisodeKey { task: record.task.clone(), arm: record.arm.clone() };
            let name = || format!("the episode of task {} under {} is recorded twice", key.task, key.arm);
            if self.recorded.contains_key(&key) {
                self.schedule.add(name);
            }
            self.recorded.insert(key, record);
        }
        Ok(())
    }

    /// Re-runs one episode and holds it against its recorded line. Returns the re-made line.
    fn episode(&mut self, task: &AnyTask, place: usize) -> Result<EpisodeRecord, String> {
        let Live { inputs, family, .. } = *self.live;
        let arm = &family.arms[place];
        let id = arm.info().id.0.as_str();
        let name = format!("task {} under {id}", task.id());
        let rule = &inputs.protocol.episode;
        let mut episode =
            task.episode(arm.as_ref(), &inputs.catalogs, rule).map_err(|error| format!("{name}: {error}"))?;
        let system = family.system(&inputs.protocol);
        while !episode.ended() {
            let draw = DrawId { task: task.id().clone(), arm: id.into(), turn: episode.turn() };
            let surface = episode.surface().clone();
            let settings = &self.live.terms.settings;
            let request = Request { settings, system, surface: &surface, entries: episode.entries() };
            self.wire.encode(&request, &mut self.body);
            let (reply, billed) = self.draw(&name, &draw, &request)?;
            episode.book(billed);
            match reply {
                Some(reply) => episode.accept(reply),
                None => episode.abort(End::Missing),
            }
        }
        let made = episode.finish();
        let key = EpisodeKey { task: made.task.clone(), arm: made.arm.clone() };
        let recorded = self.recorded.remove(&key).ok_or_else(|| format!("the episode of {name} is missing"))?;
        if !self.same(recorded.clone(), made.clone()) {
            self.scores.add(|| format!("{name}: {}", difference(&recorded, &made)));
        }
        self.replayed += 1;
        Ok(made)
    }

    /// While a record is being closed its lines have no scores yet; lines of an interrupted close have them already.
    fn same(&self, mut recorded: EpisodeRecord, mut made: EpisodeRecord) -> bool {
        if self.live.stage == Stage::Closing {
            recorded.set_score(None);
            made.set_score(None);
        }
        recorded == made
    }

    /// The reply to a draw, where it has one, and what all its tries cost. Every try must ask for what is re-made here.
    fn draw(&mut self, name: &str, draw: &DrawId, request: &Request<'_>) -> Result<(Option<Reply>, u64), String> {
        let index = self.live.index;
        let tries = index.tries(draw);
        if tries.is_empty() {
            return Err(format!("{name}: turn {} was never asked for", draw.turn));
        }
        self.draws += 1;
        let digest = self.wire.request_digest(request, &self.body).map_err(|error| format!("{name}: {error}"))?;
        let reserve =
            self.live.money.reserve(bound(request, &self.body)).map_err(|error| format!("{name}: {error}"))?;
        let (mut reply, mut billed) = (None, 0_u64);
        for (one, number) in tries.iter().zip(1..) {
            let opened = &one.opened;
            let n = opened.n;
            if opened.surface != *request.surface.digest() {
                self.surfaces.add(|| format!("attempt {n}: {name} shows another surface than its arm makes"));
            } else if opened.request != digest {
                self.surfaces.add(|| format!("attempt {n}: the request of {name} is not what was asked"));
            }
            if opened.attempt != number {
                self.schedule
                    .add(|| format!("attempt {n}: try {} of {name} stands where {number} belongs", opened.attempt));
            }
            if opened.reserve != reserve {
                self.books.add(|| format!("attempt {n} reserves {}, its worst case is {reserve}", opened.reserve));
            }
            self.keep_surface(&opened.surface.clone());
            let settled = index.outcome(one)?;
            billed = billed.saturating_add(settled.billed);
            if reply.is_some() {
                self.schedule.add(|| format!("attempt {n}: {name} asks again for what was answered"));
            }
            if let Some(read) = self.outcome(one, &settled)?
                && reply.is_none()
            {
                reply = Some(read);
            }
        }
        Ok((reply, billed))
    }

    /// Reads an outcome and checks what was booked for it.
    fn outcome(&mut self, one: &Indexed, settled: &Settled) -> Result<Option<Reply>, String> {
        let n = one.opened.n;
        let read = settled.response.as_ref().map(|response| self.wire.decode(response.get().as_bytes())).transpose();
        let read = read.map_err(|error| format!("attempt {n}: {error}"))?;
        if let Some(reply) = &read {
            self.answered(n, settled, reply);
        }
        // An attempt of a free model that states no usage is booked like one that was not processed; usage beyond what can
        // be counted in money is booked like none.
        if let Some(reply) = &read
            && settled.usage != reply.usage.filter(|usage| self.live.money.settle(usage).is_ok())
        {
            self.books.add(|| format!("attempt {n}: usage differs from that in its response"));
        }
        if let Some(usage) = &settled.usage {
            let due = self.live.money.settle(usage).map_err(|error| format!("attempt {n}: {error}"))?;
            if due != settled.billed {
                self.books.add(|| format!("attempt {n}: billed {}, its usage comes to {due}", settled.billed));
            }
        }
        Ok(read.filter(|_| is_reply(settled)))
    }

    /// A response that reads is the answer: it names its model itself, and only one of another model, tier or place is
    /// set aside. Else whoever dislikes an answer could call it an error and ask again.
    fn answered(&mut self, n: u64, settled: &Settled, reply: &Reply) {
        if settled.model.as_deref().unwrap_or_default() != reply.model {
            self.scores.add(|| format!("attempt {n}: its response names the model `{}`", reply.model));
        }
        if settled.status.is_none_or(|status| !(200..300).contains(&status)) {
            self.schedule.add(|| format!("attempt {n}: a response is kept under a status that is no success"));
        }
        let surprise = identity::check(&self.live.terms.settings.model, reply).err().filter(|_| self.strict);
        match (&settled.error, surprise) {
            (Some(error), None) => {
                self.schedule.add(|| format!("attempt {n}: its response reads, and is set aside for `{error}`"));
            }
            (None, Some(surprise)) => self.schedule.add(|| format!("attempt {n}: {surprise}; it is no answer")),
            (None, None) | (Some(_), Some(_)) => {}
        }
    }

    fn keep_surface(&mut self, digest: &Digest) {
        if self.seen.insert(digest.clone())
            && let Err(error) = self.live.reader.surface(digest)
        {
            self.surfaces.add(|| error.to_string());
        }
    }

    fn finish(mut self) -> Replayed {
        let index = self.live.index;
        for key in self.recorded.keys() {
            self.schedule.add(|| format!("the episode of task {} under {} was not planned", key.task, key.arm));
        }
        if self.draws < index.draws() {
            let stray = index.draws() - self.draws;
            self.schedule.add(|| format!("{stray} draws were asked for that no episode needs"));
        }
        match self.live.reader.surfaces() {
            Ok(kept) => {
                for stray in kept.iter().filter(|name| !self.seen.iter().any(|digest| digest.as_str() == name.as_str()))
                {
                    self.surfaces.add(|| format!("surface {stray} is kept, but no attempt shows it"));
                }
            }
            Err(error) => self.surfaces.add(|| error.to_string()),
        }
        let manifest = self.live.reader.manifest();
        for &overrun in &index.overruns {
            if !manifest.deviations.contains(&accepted(overrun)) {
                self.books.add(|| format!("{}; the manifest does not accept it", Refusal::Overrun(overrun)));
            }
        }
        let budget = manifest.budget;
        let books = index.books;
        match budget {
            Some(budget) if books.spent <= budget => {}
            Some(budget) => {
                self.books.add(|| format!("{} pico-dollars were spent, the budget is {budget}", books.spent));
            }
            None => self.books.add(|| "the manifest states no budget".to_owned()),
        }
        let (episodes, surfaces) = (self.replayed, self.seen.len());
        Replayed {
            schedule: self.schedule.outcome(|| format!("{episodes} episodes, each once, as planned")),
            surfaces: self
                .surfaces
                .outcome(|| format!("{} requests rebuilt, {surfaces} surfaces re-made from their arms", books.attempts)),
            episodes: self.scores.outcome(|| format!("{episodes} episodes re-run from their responses and re-scored")),
            books: self.books.outcome(|| {
                format!(
                    "{} attempts numbered without a gap; {} pico-dollars spent: {} by usage, {} kept for unknown outcomes",
                    books.attempts,
                    books.spent,
                    books.settled,
                    books.kept + books.suspect
                )
            }),
            attempts: books.attempts,
            models: index.models.clone(),
        }
    }
}
