//! The run's books beside the server's.

use std::collections::BTreeMap;

use bench_results::record::{AttemptLine, Opened, Record, Settled, Tail};

use crate::{
    run::{Api, Run},
    server::{Line, MockServer},
};

/// Both sides of the bill.
pub(crate) struct Books {
    opened: BTreeMap<u64, Opened>,
    settled: BTreeMap<u64, Settled>,
    billed: Vec<Line>,
    api: Api,
}

impl Books {
    /// Reads both.
    pub(crate) fn of(run: &Run, server: &MockServer) -> Self {
        let mut books =
            Self { opened: BTreeMap::new(), settled: BTreeMap::new(), billed: server.ledger(), api: server.api() };
        let Some(record) = run.record() else { return books };
        for line in Record::open(&record).unwrap().attempts(Tail::Report).unwrap() {
            match line.unwrap() {
                AttemptLine::Opened(line) => assert!(books.opened.insert(line.n, line).is_none(), "opened twice"),
                AttemptLine::Settled(line) => assert!(books.settled.insert(line.n, line).is_none(), "settled twice"),
            }
        }
        books
    }

    /// What the run has booked: what is settled, and the whole reservation of what is open.
    pub(crate) fn booked(&self) -> u64 {
        let booked =
            self.opened.iter().map(|(n, opened)| self.settled.get(n).map_or(opened.reserve, |line| line.billed));
        booked.sum()
    }

    /// Holds at every moment: neither side is above the budget, the run's books cover the server's, and wherever the
    /// outcome is known both say the same.
    #[track_caller]
    pub(crate) fn check(&self, budget: u64) {
        let billed: u64 = self.billed.iter().map(|line| line.billed).sum();
        assert!(billed <= budget, "billed {billed}, budget {budget}");
        assert!(self.booked() <= budget, "booked {}, budget {budget}", self.booked());
        assert!(billed <= self.booked(), "billed {billed}, booked {}", self.booked());
        assert!(self.billed.len() <= self.opened.len(), "more requests came than were opened");
        let by_id: BTreeMap<&str, &Line> = self.billed.iter().map(|line| (&*line.request_id, line)).collect();
        for (n, settled) in &self.settled {
            let Some(id) = &settled.request_id else { continue };
            let line = by_id[&**id];
            match (line.client.as_str(), line.stated) {
                ("usage", Some(stated)) => assert_eq!(settled.billed, self.due(stated), "attempt {n}, {id}"),
                ("free", None) => assert_eq!(settled.billed, 0, "attempt {n}, {id}"),
                ("nothing", None) => assert_eq!(settled.billed, self.opened[n].reserve, "attempt {n}, {id}"),
                other => panic!("{other:?}"),
            }
        }
    }

    /// What the run books for a stated amount. Where a row knows a surcharge of a tenth for a region, it always counts:
    /// nothing in an answer rules it out, and the server does not raise it.
    fn due(&self, stated: u64) -> u64 {
        match self.api {
            Api::Messages => stated,
            Api::Chat => stated / 10 * 11,
        }
    }

    /// Holds at the end: no attempt is open.
    #[track_caller]
    pub(crate) fn check_complete(&self) {
        assert!(self.opened.keys().eq(self.settled.keys()), "an attempt is open");
    }
}
