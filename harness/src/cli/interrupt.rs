//! Ctrl-C in work that is not live: at first it ends the program, and what it started; later once asks, twice ends.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{exit, stdio::leftovers};

/// Ctrl-C, watched. Where no handler can be set, it ends the program at once: what is on disk by then is readable but for
/// its last lines.
pub(super) struct Interrupts {
    /// The next one ends the program.
    last: Arc<AtomicBool>,
}

/// From here on Ctrl-C ends the program and what it started. Compressors and servers run in process groups of their own,
/// which no terminal's Ctrl-C reaches.
pub(super) fn ends() -> Interrupts {
    let last = Arc::new(AtomicBool::new(true));
    let watched = Arc::clone(&last);
    let _ = ctrlc::set_handler(move || {
        if watched.swap(true, Ordering::Relaxed) {
            leftovers::clear();
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    });
    Interrupts { last }
}

impl Interrupts {
    /// From here on the first Ctrl-C sets this flag, and the second one ends the program.
    pub(super) fn asks(self) -> Arc<AtomicBool> {
        self.last.store(false, Ordering::Relaxed);
        self.last
    }
}
