//! Ctrl-C in offline work: once asks it to stop, twice ends the program.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::exit;

/// A flag that the first Ctrl-C sets; the second one ends the program. Where no handler can be set, Ctrl-C ends the
/// program at once: what is on disk by then is readable but for its last lines.
pub(super) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&flag);
    let _ = ctrlc::set_handler(move || {
        if watched.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    });
    flag
}
