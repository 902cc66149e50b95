//! Exit codes, documented and stable.

use bench_protocol::verdict::Status;

/// Complete, and the controls behaved; with `--require`: certified.
pub const OK: u8 = 0;
/// Usage, or refused before any call.
pub const USAGE: u8 = 2;
/// `--require`: the level failed.
pub const FAILED: u8 = 10;
/// `--require`: the level is inconclusive.
pub const INCONCLUSIVE: u8 = 11;
/// `--require`: no verdict, not evaluated, not tested, or stopped by the budget.
pub const NO_VERDICT: u8 = 12;
/// The offline plumbing check failed.
pub const PLUMBING: u8 = 13;
/// Inputs drifted from the lock.
pub const LOCK_DRIFT: u8 = 20;
/// A second confirmatory look was refused.
pub const SECOND_LOOK: u8 = 21;
/// The provider could not be used, or refused the key.
pub const PROVIDER: u8 = 22;
/// Malformed input.
pub const INPUT: u8 = 30;
/// A runtime that is needed is missing, or a compressor did not start.
pub const RUNTIME: u8 = 31;
/// Verification: a file of the record is missing or malformed.
pub const VERIFY_RECORD: u8 = 40;
/// Verification: protocol, lock, catalogs or intents differ from what the record says.
pub const VERIFY_INPUTS: u8 = 41;
/// Verification: tasks re-made from the seed differ.
pub const VERIFY_TASKS: u8 = 42;
/// Verification: a surface re-made from its arm differs.
pub const VERIFY_SURFACES: u8 = 43;
/// Verification: an attempt or its response does not lead to the recorded episode.
pub const VERIFY_EPISODES: u8 = 44;
/// Verification: episodes are missing, double or out of schedule.
pub const VERIFY_SCHEDULE: u8 = 45;
/// Verification: the books don't add up.
pub const VERIFY_BOOKS: u8 = 46;
/// Verification: statistics, verdict or certificate differ.
pub const VERIFY_CERTIFICATE: u8 = 47;
/// Verification: ledger chain, one look, or signature.
pub const VERIFY_LEDGER: u8 = 48;
/// Verification: the record needs another version of this program.
pub const VERIFY_VERSION: u8 = 49;
/// A bug of ours.
pub const BUG: u8 = 70;
/// Interrupted.
pub const INTERRUPTED: u8 = 130;

/// The code of what was said of a required arm; [`NO_VERDICT`] where nothing was.
pub fn of_status(status: Option<Status>) -> u8 {
    match status {
        Some(Status::Certified) => OK,
        Some(Status::Failed) => FAILED,
        Some(Status::Inconclusive) => INCONCLUSIVE,
        _ => NO_VERDICT,
    }
}
