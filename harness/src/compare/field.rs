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

/// Which arms are asked for.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Arms by name; empty for all.
    pub names: Vec<String>,
    /// Compressors that may take part.
    pub entries: Vec<Entry>,
    /// Catalogs other than the ones compiled in, for the replay server.
    pub catalogs: Option<PathBuf>,
    /// Bounds on compressors.
    pub limits: Limits,
}

/// The arms of a comparison, the reference first.
pub struct Field {
    /// All of them.
    pub arms: Vec<Arc<dyn Arm>>,
    /// Those from outside.
    pub externals: Vec<Arc<ExternalArm>>,
    /// Those that could not take part, and why.
    pub absent: Vec<Absent>,
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
    /// was named must be there.
    ///
    /// # Errors
    /// An unknown name, a named compressor that is not installed, too many arms.
    pub fn gather(
        protocol: &Protocol,
        registry: &Registry,
        catalogs: &Arc<Catalogs>,
        choice: Choice,
    ) -> Result<Self, FieldError> {
        let reference = &protocol.arms.reference;
        let standard = built_in(protocol, registry);
        let all: Vec<String> = registry.known().into_iter().map(|info| info.id.0).collect();
        let outside: Vec<String> = choice.entries.iter().map(|entry| entry.name.clone()).collect();
        if let Some(name) = outside.iter().find(|name| all.contains(name)) {
            return Err(FieldError::Twice { name: name.clone() });
        }
        if let Some(name) = choice.names.iter().find(|name| !all.contains(name) && !outside.contains(name)) {
            let known = [all, outside].concat().join(", ");
            return Err(FieldError::Unknown { name: name.clone(), known });
        }
        let is_chosen = |name: &String| choice.names.is_empty() || choice.names.contains(name);
        let inside = if choice.names.is_empty() { standard } else { all };
        let mut arms = vec![registry.build(reference)?];
        for name in inside.iter().filter(|name| *name != reference && is_chosen(name)) {
            arms.push(registry.build(name)?);
        }
        let upstream = Arc::new(Upstream {
            program: std::env::current_exe().map_err(ExternalError::OwnProgram)?,
            catalogs: choice.catalogs,
        });
        let (mut externals, mut absent) = (Vec::new(), Vec::new());
        for entry in choice.entries.into_iter().filter(|entry| is_chosen(&entry.name)) {
            let name = entry.name.clone();
            match ExternalArm::start(entry, catalogs, &upstream, &choice.limits) {
                Ok(arm) => externals.push(Arc::new(arm)),
                Err(error) if choice.names.is_empty() => absent.push(Absent { arm: name, why: error.to_string() }),
                Err(error) => return Err(error.into()),
            }
        }
        arms.extend(externals.iter().map(|arm| Arc::clone(arm) as Arc<dyn Arm>));
        if arms.len() > MAX_ARMS {
            return Err(FieldError::TooMany { found: arms.len() });
        }
        Ok(Self { arms, externals, absent })
    }
}
