//! What can go wrong with a price table, and why a price is refused.

use thiserror::Error;

use super::{Day, Status};

/// Errors of a price table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PriceError {
    /// A row, or the file around it, is malformed.
    #[error("{file}: line {line}{row}: {message}")]
    Malformed {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The row in words, empty outside of rows.
        row: String,
        /// What is wrong.
        message: String,
    },
    /// Two rows of one file have the same model.
    #[error("{file}: line {line}, row {row}: model `{model}` already has a row at line {first}; keep one of the two")]
    Double {
        /// The file.
        file: String,
        /// Line of the second row, from 1.
        line: usize,
        /// Number of the second row, from 1.
        row: usize,
        /// The model.
        model: String,
        /// Line of the first row.
        first: usize,
    },
    /// The table cannot be written.
    #[error("writing the price table: {0}")]
    Write(String),
}

/// Why a model cannot be priced today.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unpriced {
    /// There is no row of exactly this id.
    #[error("model `{model}` has no price row{}; name it exactly, or add a row with `--prices FILE`",
        nearest.as_ref().map(|id| format!(" (did you mean `{id}`?)")).unwrap_or_default())]
    Unknown {
        /// The id as asked for.
        model: String,
        /// The id that begins most like it.
        nearest: Option<String>,
    },
    /// The provider no longer serves it.
    #[error("model `{model}` is {status} ({source_note}, as of {as_of}); choose a model that is served")]
    Retired {
        /// The id.
        model: String,
        /// Its status.
        status: Status,
        /// The row's source.
        source_note: String,
        /// When the row was read.
        as_of: Day,
    },
    /// The row starts to hold on a later day.
    #[error(
        "the price row of model `{model}` holds from {valid_from} on, after {today}; bring a current one with `--prices FILE`"
    )]
    NotYet {
        /// The id.
        model: String,
        /// First day of the row.
        valid_from: Day,
        /// The day asked about.
        today: Day,
    },
}

/// Why a cost cannot be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CostError {
    /// The amount does not fit into 64 bits of pico-dollars, about 18 million dollars.
    #[error("a cost of more than 18 million dollars for one request: the token counts cannot be right")]
    Overflow,
}
