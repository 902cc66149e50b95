//! One draw: attempts, each reserved on disk before it leaves and booked when its fate is known, until there is a reply,
//! the retry rule gives it up, or the run stops.

use bench_protocol::prices::Bound;
use bench_results::record::{DrawId, Settled};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Shared, Stop, events::Event, money::bound, overrun::Beyond, past::PastTurn};
use crate::{
    journal::{Asked, JournalError},
    meter::{Booking, Refusal, Settlement},
    models::{
        Answered, Attempt, Billing, Outcome, identity,
        retry::{Next, Tries},
    },
    wire::{Reply, Request},
};

/// What came of a draw.
pub(super) enum Drawn {
    /// Its reply.
    Reply(Box<Reply>),
    /// Given up for now.
    Missing,
    /// The run stops; the draw is open.
    Stopped,
}

impl Shared {
    /// Asks for a draw. `turn` takes in tries and costs.
    pub(super) async fn draw(&self, request: &Request<'_>, body: &[u8], draw: &DrawId, turn: &mut PastTurn) -> Drawn {
        let bound = bound(request, body);
        let Ok(reserve) = self.money.reserve(bound) else {
            self.brake.pull(Stop::Fault(format!(
                "the worst case of task {} under {} is beyond counting",
                draw.task, draw.arm
            )));
            return Drawn::Stopped;
        };
        self.keep_surface(request.surface);
        let digest = match self.model.wire().request_digest(request, body) {
            Ok(digest) => digest,
            Err(error) => {
                self.brake.pull(Stop::Fault(format!("task {} under {}: {error}", draw.task, draw.arm)));
                return Drawn::Stopped;
            }
        };
        let mut tries = Tries::default();
        loop {
            let asked = Asked {
                draw: draw.clone(),
                attempt: turn.tries + 1,
                reserve,
                request: digest.clone(),
                surface: request.surface.digest().clone(),
            };
            let Some((outcome, sent)) = self.attempt(asked, body, bound, turn).await else { return Drawn::Stopped };
            if let Some(reply) = sent {
                return Drawn::Reply(reply);
            }
            let next = self.retry.next(draw, &mut tries, &outcome);
            let given_up = next == Next::Missing;
            let why = outcome.error().unwrap_or_else(|| "the response cannot be used".to_owned());
            let again = if let Next::Again(wait) = next { Some(wait) } else { None };
            self.breaker.noted(&why);
            self.tell(Event::Failed { draw: draw.clone(), why: why.clone(), again });
            if !matches!(outcome, Outcome::Reply(_))
                && let Some(failures) = self.breaker.failed(&outcome, &draw.arm, given_up, Instant::now())
            {
                self.brake.pull(Stop::Breaker { failures, last: why.clone() });
            }
            match next {
                Next::Again(wait) => {
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.brake.heard() => return Drawn::Stopped,
                    }
                }
                Next::Stop => {
                    self.brake.pull(Stop::provider(why, outcome.status()));
                    return Drawn::Stopped;
                }
                // A reply of another model than the one asked for has pulled the brake; one that does not read has not.
                Next::Done if self.brake.is_pulled() => return Drawn::Stopped,
                Next::Done | Next::Missing => return Drawn::Missing,
            }
        }
    }

    /// One request. `None` where it did not leave because the run stops.
    async fn attempt(
        &self,
        asked: Asked,
        body: &[u8],
        bound: Bound,
        turn: &mut PastTurn,
    ) -> Option<(Outcome, Option<Box<Reply>>)> {
        let (draw, reserve) = (asked.draw.clone(), asked.reserve);
        let lead = tokio::select! {
            lead = self.prefixes.enter(&asked.surface) => lead,
            () = self.brake.heard() => return None,
        };
        let pass = tokio::select! {
            pass = self.gate.enter() => pass,
            () = self.brake.heard() => return None,
        };
        let n = self.admit(asked).await?;
        let outcome = self.model.complete(Attempt { body, draw: &draw }).await;
        pass.done(&outcome);
        let Booked { settled, booking, reply, stop } = self.book(n, &outcome, bound);
        turn.tries += 1;
        turn.billed = turn.billed.saturating_add(booking.amount(reserve));
        turn.reply = reply.as_ref().and(settled.response.clone());
        let usage = settled.usage;
        // Before the books say the same in money: tokens beyond the bound are the cause of an overrun.
        if let Some(stop) = stop {
            self.brake.pull(stop);
        }
        match self.journal.close(settled, booking) {
            Ok(Settlement::Booked | Settlement::Repeated) => {}
            Ok(Settlement::Overrun(overrun)) => self.brake.pull(Stop::Overrun(overrun)),
            Err(error) => self.brake.pull(error.into()),
        }
        self.settled.notify_waiters();
        if let (Some(_), Outcome::Reply(answered)) = (&reply, &outcome) {
            lead.answered();
            self.breaker.answered(Instant::now());
            self.tell(Event::Answered { arm: draw.arm, elapsed: answered.elapsed, usage });
        }
        Some((outcome, reply))
    }

    /// Reserves. Near the ceiling, where only reservations of others stand in the way, it waits for them to be settled: a
    /// loose bound costs concurrency, not money.
    async fn admit(&self, asked: Asked) -> Option<u64> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // Listens before asking, so that a settlement between the two is not missed.
            settled.as_mut().enable();
            if self.brake.is_pulled() {
                return None;
            }
            match self.journal.admit(asked.clone()).await {
                Ok(n) => return Some(n),
                Err(JournalError::Refused(Refusal::Budget { reserved, .. })) if reserved > 0 => {
                    tokio::select! {
                        () = settled => {}
                        () = self.brake.heard() => return None,
                    }
                }
                Err(error) => {
                    self.brake.pull(match (error.into(), self.breaker.last_failure()) {
                        (Stop::Meter(refusal @ Refusal::Budget { .. }), Some(last)) => Stop::Wasted { refusal, last },
                        (stop, _) => stop,
                    });
                    return None;
                }
            }
        }
    }

    /// The record line of an outcome and what it does to the books.
    fn book(&self, n: u64, outcome: &Outcome, bound: Bound) -> Booked {
        let settled = Settled {
            n,
            status: outcome.status(),
            request_id: outcome.facts().and_then(|facts| facts.request_id.clone()),
            model: None,
            usage: None,
            billed: 0,
            ms: None,
            error: outcome.error(),
            response: None,
        };
        let kept = |settled| Booked { settled, booking: Booking::Kept, reply: None, stop: None };
        match outcome {
            Outcome::Reply(answered) => self.book_reply(settled, answered, bound),
            _ => match outcome.billing() {
                Billing::None => Booked { booking: Booking::Released, ..kept(settled) },
                Billing::Suspect => Booked { booking: Booking::Suspect, ..kept(settled) },
                Billing::Metered | Billing::Unknown => kept(settled),
            },
        }
    }

    fn book_reply(&self, mut settled: Settled, answered: &Answered, bound: Bound) -> Booked {
        settled.ms = u64::try_from(answered.elapsed.as_millis()).ok();
        let Some((response, reply)) = self.one_line(answered) else {
            settled.error = Some("the response is not UTF-8".to_owned());
            return Booked { settled, booking: Booking::Kept, reply: None, stop: None };
        };
        settled.model = (!reply.model.is_empty()).then(|| reply.model.clone());
        settled.usage = reply.usage;
        settled.response = Some(response);
        let mut stop = None;
        if self.strict
            && let Err(surprise) = identity::check(&self.settings.model, &reply)
        {
            settled.error = Some(surprise.to_string());
            stop = Some(Stop::Surprise(surprise));
        }
        let mut booking = Booking::Kept;
        if let Some(usage) = &reply.usage {
            if let Some(beyond) = Beyond::of(settled.n, usage, bound) {
                stop.get_or_insert(Stop::Bound(beyond));
            }
            // A sum beyond counting is no usage; the bound has stopped the run already.
            if let Ok(billed) = self.money.settle(usage) {
                booking = Booking::Settled(billed);
            }
        }
        let reply = settled.error.is_none().then(|| Box::new(reply));
        Booked { settled, booking, reply, stop }
    }

    /// The response as one line of the record, and the reply as it reads from there. Line breaks between the tokens of a
    /// JSON text mean nothing; inside of its strings there are none.
    fn one_line(&self, answered: &Answered) -> Option<(Box<RawValue>, Reply)> {
        let text = String::from_utf8(answered.body.clone()).ok()?;
        if !text.contains(['\n', '\r']) {
            return Some((RawValue::from_string(text).ok()?, answered.reply.clone()));
        }
        // The turn that is sent back is part of the text, so it must be the recorded one.
        let line = text.replace(['\n', '\r'], " ");
        let reply = self.model.wire().decode(line.as_bytes()).ok()?;
        Some((RawValue::from_string(line).ok()?, reply))
    }
}

/// An outcome, ready for the journal.
struct Booked {
    settled: Settled,
    booking: Booking,
    reply: Option<Box<Reply>>,
    stop: Option<Stop>,
}
