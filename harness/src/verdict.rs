//! The default rule over published runs: which level a product may turn on.
//!
//! Pure: certificates that were verified go in, an answer goes out. A run is the primary or the replication by its seed;
//! each may be several runs, one for each family.

use std::sync::Arc;

use bench_protocol::{
    digest::Digest,
    spec::Protocol,
    verdict::{
        FamilyKind,
        default_level::{DefaultLevel, Standing, certified, default_of},
    },
};
use bench_results::certificate::Certificate;
use serde::Serialize;
use thiserror::Error;

/// Which run it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// On the primary seed.
    Primary,
    /// On the replication seed, on another model.
    Replication,
}

/// A run that was verified.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Its id.
    pub run: String,
    /// Its certificate.
    pub certificate: Certificate,
    /// Whether the published ledger, against which it was verified, has it as a confirmatory run that finished.
    pub entered: bool,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum VerdictError {
    /// Runs of two protocols.
    #[error("run {run} ran under another protocol than the first ({protocol}); one rule judges one protocol")]
    Protocol {
        /// The run.
        run: String,
        /// Its protocol.
        protocol: Digest,
    },
    /// Runs of two locks.
    #[error("run {run} ran under another lock than run {first}; a verdict rests on one lock")]
    Lock {
        /// The run.
        run: String,
        /// The run that it was held against.
        first: String,
    },
    /// A run that could certify, on a model that the protocol does not name for its role.
    #[error("run {run} is the {role} on {model}, the protocol names {expected}")]
    Model {
        /// The run.
        run: String,
        /// Its role.
        role: &'static str,
        /// Its model.
        model: String,
        /// The protocol's model for the role.
        expected: String,
    },
    /// Neither primary nor replication.
    #[error("run {run} ran on seed `{seed}`, which is neither the primary nor the replication seed of its protocol")]
    Seed {
        /// The run.
        run: String,
        /// Its seed.
        seed: String,
    },
    /// Two runs in one place.
    #[error("runs {first} and {second} are both the {role} of the same family; give one of them")]
    Twice {
        /// One run.
        first: String,
        /// The other.
        second: String,
        /// Their role.
        role: &'static str,
    },
    /// Models that are not those they must be.
    #[error("run {run} replicates on {model}, the model of the primary run; a replication is another model")]
    SameModel {
        /// The run.
        run: String,
        /// The model.
        model: String,
    },
    /// No run on the primary seed.
    #[error("none of the runs is on the primary seed; the rule starts from the primary run")]
    NoPrimary,
}

/// One run, as the answer lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// Its id.
    pub run: String,
    /// Its role.
    pub role: Role,
    /// Its model.
    pub model: String,
    /// Whether it can certify: live, confirmatory, finished in the published ledger, and of sizes that reach the planned power.
    pub can_certify: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// What a product may turn on.
    pub level: Arc<str>,
    /// Whether it was earned, or is the fallback.
    pub earned: bool,
    /// What the rule would answer if every run could certify; the same where all can.
    pub would_be: Arc<str>,
    /// Arms of the result suite that may be turned on.
    pub results: Vec<Arc<str>>,
    /// The same, if every run could certify.
    pub results_would_be: Vec<Arc<str>>,
    /// The runs, in the order given.
    pub runs: Vec<Placed>,
    /// Why it is not more.
    pub because: Vec<String>,
}

/// Applies the rule.
///
/// # Errors
/// Runs that don't belong together, or no primary run.
pub fn answer(protocol: &Protocol, runs: &[Verified]) -> Result<Answer, VerdictError> {
    let placed = place(protocol, runs)?;
    let rule = &protocol.default_rule;
    let of = |role, family, real| standings(runs, &placed, role, family, real);
    let levels = |real| match of(Role::Primary, FamilyKind::Levels, real) {
        Some(primary) => default_of(rule, &primary, of(Role::Replication, FamilyKind::Levels, real).as_deref()),
        None => DefaultLevel { level: rule.fallback.as_str().into(), earned: false },
    };
    let results = |real| {
        let replication = of(Role::Replication, FamilyKind::Results, real);
        let primary = of(Role::Primary, FamilyKind::Results, real);
        let both = |arm: &str| {
            certified(primary.as_deref(), arm) && (!rule.require_replication || certified(replication.as_deref(), arm))
        };
        protocol.arms.results.iter().filter(|arm| both(arm)).map(|arm| Arc::from(arm.as_str())).collect()
    };
    let (now, would) = (levels(true), levels(false));
    Ok(Answer {
        level: now.level,
        earned: now.earned,
        would_be: would.level,
        results: results(true),
        results_would_be: results(false),
        because: because(protocol, runs, &placed),
        runs: placed,
    })
}

fn because(protocol: &Protocol, runs: &[Verified], placed: &[Placed]) -> Vec<String> {
    let mut all = Vec::new();
    if protocol.default_rule.require_replication && !placed.iter().any(|run| run.role == Role::Replication) {
        all.push(format!(
            "the rule asks for a replication on {} with seed `{}`, and none is given",
            protocol.model.replication_id, protocol.seeds.replication
        ));
    }
    for (run, one) in placed.iter().zip(runs).filter(|(run, _)| !run.can_certify) {
        let why = if one.certificate.can_certify() && !one.certificate.underpowered {
            "is not in the ledger as a confirmatory run that finished; give the published ledger with --ledger"
        } else {
            "is exploratory, underpowered or answered by a scripted model"
        };
        all.push(format!("run {} {why}: it certifies nothing", run.run));
    }
    all
}

fn place(protocol: &Protocol, runs: &[Verified]) -> Result<Vec<Placed>, VerdictError> {
    let mut placed: Vec<Placed> = Vec::new();
    for (at, one) in runs.iter().enumerate() {
        let certificate = &one.certificate;
        if certificate.protocol != runs[0].certificate.protocol {
            return Err(VerdictError::Protocol { run: one.run.clone(), protocol: certificate.protocol.clone() });
        }
        let seed = certificate.tasks.values().next().map_or("", |tasks| tasks.seed.as_str());
        let role = if seed == protocol.seeds.primary {
            Role::Primary
        } else if seed == protocol.seeds.replication {
            Role::Replication
        } else {
            return Err(VerdictError::Seed { run: one.run.clone(), seed: seed.to_owned() });
        };
        let lock = |one: &Verified| one.certificate.locks.first().map(|lock| lock.id.clone());
        if lock(one) != lock(&runs[0]) {
            return Err(VerdictError::Lock { run: one.run.clone(), first: runs[0].run.clone() });
        }
        let (word, expected) = match role {
            Role::Primary => ("primary", &protocol.model.id),
            Role::Replication => ("replication", &protocol.model.replication_id),
        };
        let real = certificate.can_certify() && !certificate.underpowered;
        let asked = &certificate.model.asked;
        if real && asked != expected {
            let (model, expected) = (asked.clone(), expected.clone());
            return Err(VerdictError::Model { run: one.run.clone(), role: word, model, expected });
        }
        let twin = placed.iter().zip(runs).find(|(other, run)| {
            other.role == role && run.certificate.families.keys().any(|kind| certificate.families.contains_key(kind))
        });
        if let Some((other, _)) = twin {
            return Err(VerdictError::Twice { first: other.run.clone(), second: runs[at].run.clone(), role: word });
        }
        placed.push(Placed {
            run: one.run.clone(),
            role,
            model: certificate.model.asked.clone(),
            can_certify: real && one.entered,
        });
    }
    let primary = placed.iter().find(|run| run.role == Role::Primary).ok_or(VerdictError::NoPrimary)?;
    let same = placed.iter().find(|run| run.role == Role::Replication && run.model == primary.model);
    match same {
        Some(run) => Err(VerdictError::SameModel { run: run.run.clone(), model: run.model.clone() }),
        None => Ok(placed),
    }
}

/// Where the levels of a family stand in a role; none where no such run is given, or, with `real`, none that can certify.
fn standings(
    runs: &[Verified],
    placed: &[Placed],
    role: Role,
    family: FamilyKind,
    real: bool,
) -> Option<Vec<Standing>> {
    let (one, _) = runs.iter().zip(placed).find(|(one, place)| {
        place.role == role && (place.can_certify || !real) && one.certificate.families.contains_key(&family)
    })?;
    let levels = one.certificate.levels.iter().filter(|level| level.family == family);
    let of = |level: &bench_results::certificate::LevelReport| Standing {
        arm: Arc::clone(&level.arm),
        status: level.status,
        tool_robust: level.tool_robust,
    };
    Some(levels.map(of).collect())
}

#[cfg(test)]
pub(crate) mod tests;
