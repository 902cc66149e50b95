//! The scripts that the model can follow.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// What the model does with what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behaviour {
    /// Makes no mistake of its own; what it cannot see it still has to guess.
    Oracle,
    /// Errs at the protocol's rates; half of the errors belong to the task, half to the draw.
    Noisy,
    /// Errs at the same rates, but the tasks of a frame stand or fall together, under each arm anew.
    Clustered,
    /// As noisy, and five points worse under every arm that is no reference.
    Degraded,
    /// Has no key for the choice of a tool: picks by the words it can see, so that removing text hurts.
    Lexical,
    /// Calls hidden tools by their own name straight away and never expands a digest.
    NeverFetches,
    /// Calls through an invoking meta tool wherever there is one, without fetching a schema.
    AlwaysInvokes,
    /// Sends two calls at once; in a share of the draws the second is another one.
    Parallel,
    /// In a share of the draws sends arguments that are no object, or cut.
    Malformed,
    /// Refuses a share of the draws.
    Refuses,
    /// Answers a share of the draws in prose, without a call.
    Talks,
}

impl Behaviour {
    /// All behaviours, in the order of their documentation.
    pub const ALL: [Self; 11] = [
        Self::Oracle,
        Self::Noisy,
        Self::Clustered,
        Self::Degraded,
        Self::Lexical,
        Self::NeverFetches,
        Self::AlwaysInvokes,
        Self::Parallel,
        Self::Malformed,
        Self::Refuses,
        Self::Talks,
    ];

    /// The name that [`FromStr`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Noisy => "noisy",
            Self::Clustered => "clustered",
            Self::Degraded => "degraded",
            Self::Lexical => "lexical",
            Self::NeverFetches => "never-fetches",
            Self::AlwaysInvokes => "always-invokes",
            Self::Parallel => "parallel",
            Self::Malformed => "malformed",
            Self::Refuses => "refuses",
            Self::Talks => "talks",
        }
    }

    /// Whether the protocol's error rates apply.
    pub(crate) fn errs(self) -> bool {
        matches!(self, Self::Noisy | Self::Clustered | Self::Degraded)
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No behaviour has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no mock behaviour is called `{name}`; there are {}", Behaviour::ALL.map(Behaviour::name).join(", "))]
pub struct UnknownBehaviour {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Behaviour {
    type Err = UnknownBehaviour;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|behaviour| behaviour.name() == name)
            .ok_or_else(|| UnknownBehaviour { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_behaviour_is_read_back_from_its_name() {
        for behaviour in Behaviour::ALL {
            assert_eq!(behaviour.to_string().parse(), Ok(behaviour));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        insta::assert_snapshot!("nosy".parse::<Behaviour>().unwrap_err(), @"no mock behaviour is called `nosy`; there are oracle, noisy, clustered, degraded, lexical, never-fetches, always-invokes, parallel, malformed, refuses, talks");
    }
}
