//! The faults that the server can play, and what each means for the bill.

use std::{fmt, time::Duration};

use serde::Deserialize;

/// A kind of fault, by the name that a script uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// 401.
    Unauthorized,
    /// 400.
    InvalidRequest,
    /// 404.
    NotFound,
    /// 413, with a page of the edge's instead of JSON.
    TooLarge,
    /// 429 with `retry-after`.
    RateLimited,
    /// 429 without `retry-after`: the spend cap, or an empty quota.
    SpendCap,
    /// 500.
    ServerError,
    /// 503.
    Unavailable,
    /// 504.
    Timeout,
    /// 529; for chat 503, which has no 529.
    Overloaded,
    /// The status comes late.
    SlowHeaders,
    /// The body comes in pieces.
    SlowBody,
    /// The body ends half-way.
    CutBody,
    /// 200 and `application/json`, but the JSON ends half-way.
    WrongJson,
    /// 200 with a page in place of JSON.
    WrongContentType,
    /// 200 with a body said to be compressed, which it is not.
    WrongEncoding,
    /// A whole reply that states no usage.
    NoUsage,
    /// The connection is reset before any byte of a response.
    Reset,
    /// No response at all.
    Hang,
    /// Two calls under one id.
    DuplicateIds,
    /// The call comes twice, under ids of its own.
    ParallelCalls,
    /// A refusal, without content.
    Refusal,
    /// The output limit falls into the content.
    MaxTokens,
    /// A usage larger than any bound on the request allows.
    ExcessUsage,
}

/// What a kind means for the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bill {
    /// Nothing was processed, and the client can know it.
    Never,
    /// The script says, and the client cannot know.
    Stated,
    /// Billed as the reply says; a refusal is waived.
    Always,
}

/// Whether a kind takes a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// It has none.
    None,
    /// It has one where the script says.
    Optional,
    /// It has one; this, where the script does not say.
    Default(Duration),
}

impl FaultKind {
    pub(super) fn bill(self) -> Bill {
        match self {
            Self::Unauthorized
            | Self::InvalidRequest
            | Self::NotFound
            | Self::TooLarge
            | Self::RateLimited
            | Self::SpendCap => Bill::Never,
            Self::ServerError
            | Self::Unavailable
            | Self::Timeout
            | Self::Overloaded
            | Self::CutBody
            | Self::WrongJson
            | Self::WrongContentType
            | Self::WrongEncoding
            | Self::NoUsage
            | Self::Reset
            | Self::Hang => Bill::Stated,
            Self::SlowHeaders
            | Self::SlowBody
            | Self::DuplicateIds
            | Self::ParallelCalls
            | Self::Refusal
            | Self::MaxTokens
            | Self::ExcessUsage => Bill::Always,
        }
    }

    /// True where the reply says something else than it would have: every try of a draw is then hit or none, so that what
    /// a draw ends with does not depend on how often it was asked.
    pub(super) fn alters_content(self) -> bool {
        matches!(self, Self::DuplicateIds | Self::ParallelCalls | Self::Refusal | Self::MaxTokens)
    }

    /// Whether it takes a wait: of a late status, between two pieces of a body, of a silent connection, or until the next
    /// request may come.
    pub(super) fn wait(self) -> Wait {
        match self {
            Self::SlowHeaders => Wait::Default(Duration::from_secs(2)),
            Self::SlowBody => Wait::Default(Duration::from_millis(200)),
            Self::Hang => Wait::Default(Duration::from_secs(3_600)),
            Self::RateLimited => Wait::Default(Duration::from_secs(1)),
            Self::Unavailable | Self::Overloaded => Wait::Optional,
            _ => Wait::None,
        }
    }
}

/// A fault that strikes one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What happens.
    pub kind: FaultKind,
    /// Whether the request is billed.
    pub billed: bool,
    /// How long, where it waits or tells the client to.
    pub wait: Option<Duration>,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Unauthorized => "unauthorized",
            Self::InvalidRequest => "invalid-request",
            Self::NotFound => "not-found",
            Self::TooLarge => "too-large",
            Self::RateLimited => "rate-limited",
            Self::SpendCap => "spend-cap",
            Self::ServerError => "server-error",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::SlowHeaders => "slow-headers",
            Self::SlowBody => "slow-body",
            Self::CutBody => "cut-body",
            Self::WrongJson => "wrong-json",
            Self::WrongContentType => "wrong-content-type",
            Self::WrongEncoding => "wrong-encoding",
            Self::NoUsage => "no-usage",
            Self::Reset => "reset",
            Self::Hang => "hang",
            Self::DuplicateIds => "duplicate-ids",
            Self::ParallelCalls => "parallel-calls",
            Self::Refusal => "refusal",
            Self::MaxTokens => "max-tokens",
            Self::ExcessUsage => "excess-usage",
        };
        f.write_str(name)
    }
}
