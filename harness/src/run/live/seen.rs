//! A run under a lock whose tasks another run showed before it ended: whoever goes on with it may know what to expect.

use bench_results::record::{Deviation, Manifest};

use super::terms::Terms;
use crate::ledger::Chain;

/// How the deviation is called.
const WHAT: &str = "the lock had been seen";

/// Notes, once, that another run has shown results on the tasks of this one's lock; true where that was new.
pub fn note(manifest: &mut Manifest, terms: &Terms, chain: &Chain) -> bool {
    let Some(lock) = &manifest.lock else { return false };
    if stated(manifest) {
        return false;
    }
    let Some(seen) = chain.seen(lock, terms.tasks(), &manifest.id) else { return false };
    let why = format!("run {} showed results on this lock's tasks, {}", seen.run, seen.at);
    manifest.deviations.push(Deviation { what: WHAT.to_owned(), why });
    true
}

/// Whether a record says so.
pub fn stated(manifest: &Manifest) -> bool {
    manifest.deviations.iter().any(|one| one.what == WHAT)
}
