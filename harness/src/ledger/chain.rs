//! The chain of entries and its rules, without a file.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::digest::Digest;

use super::{ChainError, Entry, Event, Kind, RecordDigests, Run, RunId};

/// A chain of entries that holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    entries: Vec<Entry>,
    head: Option<Digest>,
    /// Where each run was started, and where it was last heard of.
    runs: BTreeMap<RunId, (usize, usize)>,
}

impl Chain {
    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Digest of the last entry: what is published to bind all of them.
    pub fn head(&self) -> Option<&Digest> {
        self.head.as_ref()
    }

    /// Every run with its first entry and its last event, in order of ids.
    pub fn runs(&self) -> impl Iterator<Item = (&Entry, Event)> {
        self.runs.values().map(|&(start, last)| (&self.entries[start], self.entries[last].event))
    }

    /// The confirmatory run of this model and family under this lock, or on this task list under another one, however it
    /// went.
    pub fn second_look(&self, lock: &Digest, tasks: Option<&Digest>, model: &str, family: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            entry.event == Event::Started
                && entry.kind == Kind::Confirmatory
                && entry.looks_at(lock, tasks)
                && entry.model == model
                && entry.family == family
        })
    }

    /// The first exploratory look at this lock or this task list by another run than this.
    pub fn seen(&self, lock: &Digest, tasks: Option<&Digest>, run: &str) -> Option<&Entry> {
        let others = self.entries.iter().filter(|entry| entry.run.as_str() != run);
        others.into_iter().find(|entry| entry.event == Event::Seen && entry.looks_at(lock, tasks))
    }

    /// As [`Self::seen`], before this run finished.
    pub fn seen_in_time(&self, run: &Run) -> Option<&Entry> {
        let goes_on = |entry: &&Entry| entry.event != Event::Finished || entry.run != run.id;
        self.entries.iter().take_while(goes_on).find(|entry| {
            entry.event == Event::Seen && entry.run != run.id && entry.looks_at(&run.lock, run.tasks.as_ref())
        })
    }

    /// The first run, of whatever kind, that was started or showed results under one of these locks or on one of these
    /// task lists.
    pub fn first_look(&self, locks: &BTreeSet<&Digest>, tasks: &BTreeSet<&Digest>) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            matches!(entry.event, Event::Started | Event::Seen)
                && (locks.contains(&entry.lock) || entry.tasks.as_ref().is_some_and(|own| tasks.contains(own)))
        })
    }

    /// The entry that would follow, if the rules permit it.
    pub fn next(&self, at: &str, event: Event, run: &Run, record: Option<&RecordDigests>) -> Result<Entry, ChainError> {
        let mut entry = Entry::new(self.entries.len() as u64, self.head.clone(), at, event, run);
        entry.record = record.cloned();
        self.check(&entry)?;
        Ok(entry)
    }

    /// What was last heard of a run.
    pub fn last(&self, run: &str) -> Option<&Entry> {
        self.runs.iter().find(|(id, _)| id.as_str() == run).map(|(_, &(_, last))| &self.entries[last])
    }

    /// Adds an entry, if it belongs here.
    pub fn push(&mut self, entry: Entry) -> Result<(), ChainError> {
        self.check(&entry)?;
        self.head = Some(entry.digest().map_err(|error| ChainError::Serialise(error.to_string()))?);
        let at = self.entries.len();
        // An exploratory look says nothing of how far its run has come.
        match self.runs.get_mut(&entry.run) {
            Some(_) if entry.event == Event::Seen => {}
            Some((_, last)) => *last = at,
            None => {
                self.runs.insert(entry.run.clone(), (at, at));
            }
        }
        self.entries.push(entry);
        Ok(())
    }

    fn check(&self, entry: &Entry) -> Result<(), ChainError> {
        let expected = self.entries.len() as u64;
        if entry.n != expected {
            return Err(ChainError::Number { found: entry.n, expected });
        }
        if entry.prev != self.head {
            return Err(ChainError::Broken { n: entry.n });
        }
        if !is_time(&entry.at) {
            return Err(ChainError::Time { at: entry.at.clone() });
        }
        let run = entry.run.clone();
        if entry.record.is_some() && entry.event != Event::Finished {
            return Err(ChainError::Early { n: entry.n, run, event: entry.event });
        }
        match (entry.event, self.runs.get(&run)) {
            (Event::Started, Some(_)) => Err(ChainError::Reused { run }),
            (Event::Started, None) => match entry.kind {
                Kind::Exploratory => Ok(()),
                Kind::Confirmatory => {
                    match self.second_look(&entry.lock, entry.tasks.as_ref(), &entry.model, &entry.family) {
                        Some(earlier) => {
                            Err(ChainError::SecondLook { earlier: earlier.run.clone(), at: earlier.at.clone() })
                        }
                        None => Ok(()),
                    }
                }
            },
            (event, None) => Err(ChainError::NotStarted { run, event }),
            (event, Some(&(start, last))) => {
                let before = self.entries[last].event;
                if !self.entries[start].same_run(entry) {
                    Err(ChainError::Differs { run })
                } else if event != Event::Seen && matches!(before, Event::Finished | Event::Abandoned) {
                    Err(ChainError::Ended { run, event, before })
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// `YYYY-MM-DDTHH:MM:SSZ`, by shape.
fn is_time(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00Z";
    text.len() == SHAPE.len()
        && text
            .bytes()
            .zip(SHAPE)
            .all(|(byte, &shape)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-11-29T12:00:00Z";

    fn run(id: &str, kind: Kind) -> Run {
        Run {
            id: RunId::parse(id).unwrap(),
            lock: Digest::of(b"lock"),
            tasks: None,
            model: "claude-haiku-4-5-20251001".to_owned(),
            family: "levels".to_owned(),
            kind,
            arms: vec!["raw".to_owned(), "L0".to_owned()],
            budget: 80_000_000_000_000,
            prices: Digest::of(b"prices"),
        }
    }

    fn append(chain: &mut Chain, event: Event, run: &Run) -> Result<(), ChainError> {
        let entry = chain.next(AT, event, run, None)?;
        chain.push(entry)
    }

    #[test]
    fn the_second_confirmatory_look_is_refused_and_names_the_first() {
        let mut chain = Chain::default();
        let first = run("r00000000", Kind::Confirmatory);
        append(&mut chain, Event::Started, &first).unwrap();
        append(&mut chain, Event::Abandoned, &first).unwrap();
        let second = run("r11111111", Kind::Confirmatory);
        let refused = append(&mut chain, Event::Started, &second).unwrap_err();
        insta::assert_snapshot!(refused);
        for other in [
            Run { model: "gpt-5-mini".to_owned(), ..second.clone() },
            Run { lock: Digest::of(b"another lock"), ..second.clone() },
            Run { family: "results".to_owned(), ..second.clone() },
            Run { kind: Kind::Exploratory, ..second.clone() },
        ] {
            assert!(chain.next(AT, Event::Started, &other, None).is_ok());
        }
        assert_eq!(chain.second_look(&first.lock, None, &first.model, "levels").unwrap().run, first.id);
        assert!(chain.second_look(&first.lock, None, &first.model, "results").is_none());
    }

    #[test]
    fn the_same_tasks_under_another_lock_are_a_second_look() {
        let tasks = Digest::of(b"tasks");
        let mut chain = Chain::default();
        let first = Run { tasks: Some(tasks.clone()), ..run("r00000000", Kind::Confirmatory) };
        append(&mut chain, Event::Started, &first).unwrap();
        let frozen_anew =
            Run { id: RunId::parse("r11111111").unwrap(), lock: Digest::of(b"another lock"), ..first.clone() };
        let refused = append(&mut chain, Event::Started, &frozen_anew).unwrap_err();
        assert!(matches!(refused, ChainError::SecondLook { earlier, .. } if earlier == first.id));
        let fresh = Run { tasks: Some(Digest::of(b"other tasks")), ..frozen_anew };
        append(&mut chain, Event::Started, &fresh).unwrap();
        let look = |lock: &[u8], tasks: &Digest| {
            chain.first_look(&[&Digest::of(lock)].into(), &[tasks].into()).map(|entry| entry.run.clone())
        };
        assert_eq!(look(b"a third lock", &tasks), Some(first.id));
        assert_eq!(look(b"another lock", &Digest::of(b"newest")), Some(fresh.id));
        assert_eq!(look(b"a third lock", &Digest::of(b"newest")), None);
    }

    #[test]
    fn a_stopped_run_goes_on_with_a_raised_budget_and_a_finished_one_does_not() {
        let mut chain = Chain::default();
        let mut undertaking = run("r00000000", Kind::Confirmatory);
        append(&mut chain, Event::Started, &undertaking).unwrap();
        append(&mut chain, Event::Stopped, &undertaking).unwrap();
        undertaking.budget *= 2;
        append(&mut chain, Event::Stopped, &undertaking).unwrap();
        append(&mut chain, Event::Finished, &undertaking).unwrap();
        let again = append(&mut chain, Event::Stopped, &undertaking).unwrap_err();
        assert_eq!(
            again,
            ChainError::Ended { run: undertaking.id.clone(), event: Event::Stopped, before: Event::Finished }
        );
        assert_eq!(chain.runs().map(|(_, event)| event).collect::<Vec<_>>(), [Event::Finished]);
    }

    #[test]
    fn an_exploratory_look_marks_the_lock_as_seen() {
        let mut chain = Chain::default();
        let look = run("r00000000", Kind::Exploratory);
        append(&mut chain, Event::Started, &look).unwrap();
        let [early, late] = ["r11111111", "r22222222"].map(|id| run(id, Kind::Exploratory));
        append(&mut chain, Event::Started, &early).unwrap();
        append(&mut chain, Event::Finished, &early).unwrap();
        append(&mut chain, Event::Started, &late).unwrap();
        assert!(chain.seen(&look.lock, None, "").is_none());
        append(&mut chain, Event::Seen, &look).unwrap();
        append(&mut chain, Event::Finished, &look).unwrap();
        assert_eq!(chain.seen(&look.lock, None, "").unwrap().run, look.id);
        assert!(chain.seen(&look.lock, None, look.id.as_str()).is_none(), "a run does not take itself by surprise");
        let seen = |run: &Run| chain.seen_in_time(run).is_some();
        assert!(seen(&late) && !seen(&early) && !seen(&look));
    }

    #[test]
    fn nothing_happens_to_a_run_that_was_not_started_or_is_another() {
        let mut chain = Chain::default();
        let first = run("r00000000", Kind::Exploratory);
        assert!(matches!(append(&mut chain, Event::Finished, &first), Err(ChainError::NotStarted { .. })));
        append(&mut chain, Event::Started, &first).unwrap();
        assert!(matches!(append(&mut chain, Event::Started, &first), Err(ChainError::Reused { .. })));
        let other = Run { arms: vec!["raw".to_owned()], ..first };
        assert!(matches!(append(&mut chain, Event::Finished, &other), Err(ChainError::Differs { .. })));
    }

    #[test]
    fn an_entry_that_was_changed_taken_out_or_swapped_breaks_the_chain() {
        let mut chain = Chain::default();
        for id in ["r00000000", "r11111111", "r22222222"] {
            append(&mut chain, Event::Started, &run(id, Kind::Exploratory)).unwrap();
        }
        let load = |entries: Vec<Entry>| {
            entries.into_iter().try_fold(Chain::default(), |mut chain, entry| chain.push(entry).map(|()| chain))
        };
        assert_eq!(load(chain.entries().to_vec()).unwrap(), chain);
        let mut changed = chain.entries().to_vec();
        changed[1].budget += 1;
        assert_eq!(load(changed), Err(ChainError::Broken { n: 2 }));
        let mut short = chain.entries().to_vec();
        short.remove(1);
        assert_eq!(load(short), Err(ChainError::Number { found: 2, expected: 1 }));
        let mut swapped = chain.entries().to_vec();
        swapped.swap(0, 1);
        assert!(load(swapped).is_err());
    }

    #[test]
    fn only_a_finished_run_leaves_digests_and_its_entry_is_bound_by_them() {
        let mut chain = Chain::default();
        let run = run("r00000000", Kind::Confirmatory);
        let record = RecordDigests { attempts: Digest::of(b"attempts"), certificate: Digest::of(b"certificate") };
        let early = chain.next(AT, Event::Started, &run, Some(&record)).unwrap_err();
        assert!(matches!(early, ChainError::Early { n: 0, event: Event::Started, .. }), "{early}");
        append(&mut chain, Event::Started, &run).unwrap();
        let plain = chain.next(AT, Event::Finished, &run, None).unwrap();
        let bound = chain.next(AT, Event::Finished, &run, Some(&record)).unwrap();
        assert_ne!(plain.digest().unwrap(), bound.digest().unwrap());
        chain.push(bound.clone()).unwrap();
        assert_eq!(chain.last("r00000000"), Some(&bound));
        assert_eq!(bound.differs(&run), [] as [&str; 0]);
        let other = Run { kind: Kind::Exploratory, budget: 1, ..run };
        assert_eq!(bound.differs(&other), ["kind", "budget"]);
    }

    #[test]
    fn the_hashed_bytes_are_canonical_json() {
        let mut chain = Chain::default();
        append(&mut chain, Event::Started, &run("r00000000", Kind::Confirmatory)).unwrap();
        insta::assert_snapshot!(String::from_utf8(chain.entries()[0].canonical().unwrap()).unwrap());
        insta::assert_snapshot!(chain.head().unwrap());
    }
}
