//! The ledger: an append-only, hash-chained list of live runs, so that a run cannot be repeated until it pleases.
//!
//! The chain and its rules are pure ([`Chain`]); [`Ledger`] is the file. The ledger binds only once its head is published.

mod chain;
mod entry;
mod error;
mod file;
mod run_id;

pub use chain::Chain;
pub use entry::{Entry, Event, Kind, RecordDigests, Run};
pub use error::{ChainError, LedgerError};
pub use file::Ledger;
pub use run_id::{ResolveError, RunId};
