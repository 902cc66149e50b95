//! Who takes part: raw, built-in arms, compressors from outside.

use std::{path::PathBuf, sync::Arc};

use bench_protocol::spec::Protocol;
use bench_tasks::catalog::Catalogs;
use serde::Serialize;
use thiserror::Error;

use crate::{
    arms::{Arm, ArmError, registry::Registry},
    external::{Entry, ExternalArm, ExternalError, Limits, Upstream},
};

/// Arms of a family that the analysis tells apart by one bit each.
const MAX_ARMS: usize = 64;

/// Stands for all built-in arms that are no control.
const ALL: &str = "all";

/// Which arms are asked for. The reference always takes part, and so does a compressor of a command line.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Arms by name, `all` for all built-in ones that are no control. Empty: the levels beside compressors from outside,
    /// all where there are none of those.
    pub names: Vec<String>,
    /// Compressors that may take part.
    pub entries: Vec<Entry>,
    /// Catalogs other than the ones compiled in, for the replay server.
    pub catalogs: Option<PathBuf>,
    /// Bounds on compressors.
    pub limits: Limits,
}

impl Choice {
    /// Whether this compressor takes part.
    pub fn takes(&self, entry: &Entry) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == ALL) || self.names_it(entry)
    }

    /// Whether this very compressor was asked for, so that it has to be there.
    fn names_it(&self, entry: &Entry) -> bool {
        entry.typed.is_some() || self.names.contains(&entry.name)
    }

    /// The built-in arms that take part, in the order of the registry.
    fn inside(&self, protocol: &Protocol, registry: &Registry) -> Vec<String> {
        if self.names.is_empty() && !self.entries.is_empty() {
            return protocol.arms.levels.clone();
        }
        let standard = built_in(protocol, registry);
        if self.names.is_empty() {
            return standard;
        }
        let all = self.names.iter().any(|name| name == ALL);
        let known = registry.known().into_iter().map(|info| info.id.0);
        known.filter(|id| self.names.contains(id) || (all && standard.contains(id))).collect()
    }
}

/// The arms of a comparison, the reference first.
pub struct Field {
    /// All of them.
    pub arms: Vec<Arc<dyn Arm>>,
    /// Those from outside.
    pub externals: Vec<Arc<ExternalArm>>,
    /// Those that are not installed and that nobody named, and how to get them.
    pub absent: Vec<Absent>,
    /// Those that no process of came up, and why: there is nothing to measure.
    pub not_started: Vec<Absent>,
}

/// An arm that could not take part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Absent {
    /// The arm.
    pub arm: String,
    /// Why, and what to do.
    pub why: String,
}

/// Why there is no field.
#[derive(Debug, Error)]
pub enum FieldError {
    /// A built-in arm could not be built.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// A compressor that was named is not there.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// Nobody has this name.
    #[error("no arm is called `{name}`; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Names there are.
        known: String,
    },
    /// Two arms have one name.
    #[error("two arms are called `{name}`; give the one from outside another name")]
    Twice {
        /// The name.
        name: String,
    },
    /// More arms than one comparison holds.
    #[error("{found} arms are too many for one comparison, which holds {MAX_ARMS}; choose some with --arms")]
    TooMany {
        /// How many.
        found: usize,
    },
}

/// Built-in arms that are compared unless somebody chooses: those of the tool suite that are no control.
pub fn built_in(protocol: &Protocol, registry: &Registry) -> Vec<String> {
    let arms = &protocol.arms;
    let apart = |id: &String| {
        *id == arms.reference
            || *id == arms.results_reference
            || [&arms.controls, &arms.results, &arms.results_controls].iter().any(|list| list.contains(id))
    };
    registry.known().into_iter().map(|info| info.id.0).filter(|id| !apart(id)).collect()
}

impl Field {
    /// Builds and starts the arms of a choice. A compressor that nobody named and that is not installed is absent; one that
    /// was named must be there. One that is there and does not start takes no part either, and is told apart.
    ///
    /// # Errors
    /// An unknown name, a named compressor that is not installed, too many arms.
    pub fn gather(
        protocol: &Protocol,
        registry: &Registry,
        catalogs: &Arc<Catalogs>,
        choice: &Choice,
    ) -> Result<Self, FieldError> {
        let reference = &protocol.arms.reference;
        let all: Vec<String> = registry.known().into_iter().map(|info| info.id.0).collect();
        let outside: Vec<String> = choice.entries.iter().map(|entry| entry.name.clone()).collect();
        if let Some(name) = outside.iter().find(|name| all.contains(name)) {
            return Err(FieldError::Twice { name: name.clone() });
        }
        if let Some(name) =
            choice.names.iter().find(|name| *name != ALL && !all.contains(name) && !outside.contains(name))
        {
            let known = [all, outside, vec![ALL.to_owned()]].concat().join(", ");
            return Err(FieldError::Unknown { name: name.clone(), known });
        }
        let mut arms = vec![registry.build(reference)?];
        for name in choice.inside(protocol, registry).iter().filter(|name| *name != reference) {
            arms.push(registry.build(name)?);
        }
        let upstream = Arc::new(Upstream {
            program: std::env::current_exe().map_err(ExternalError::OwnProgram)?,
            catalogs: choice.catalogs.clone(),
        });
        let (mut externals, mut absent, mut not_started) = (Vec::new(), Vec::new(), Vec::new());
        for entry in choice.entries.iter().filter(|entry| choice.takes(entry)) {
            let arm = entry.name.clone();
            match ExternalArm::start(entry.clone(), catalogs, &upstream, &choice.limits) {
                Ok(started) if started.never_started() => {
                    let why = started.not_started().first().map_or_else(String::new, |first| first.why(entry));
                    not_started.push(Absent { arm, why });
                }
                Ok(started) => externals.push(Arc::new(started)),
                Err(error) if !choice.names_it(entry) => absent.push(Absent { arm, why: error.to_string() }),
                Err(error) => return Err(error.into()),
            }
        }
        arms.extend(externals.iter().map(|arm| Arc::clone(arm) as Arc<dyn Arm>));
        if arms.len() > MAX_ARMS {
            return Err(FieldError::TooMany { found: arms.len() });
        }
        Ok(Self { arms, externals, absent, not_started })
    }
}
