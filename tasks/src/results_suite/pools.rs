//! What invented records are made of.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::TasksError;

/// The word lists of `results/pools.toml`; none is empty.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pools {
    pub(super) first: Vec<String>,
    pub(super) last: Vec<String>,
    pub(super) unicode_names: Vec<String>,
    pub(super) unicode_words: Vec<String>,
    pub(super) colleagues: Vec<String>,
    pub(super) owners: Vec<String>,
    pub(super) repos: Vec<String>,
    pub(super) verbs: Vec<String>,
    pub(super) objects: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) prose: Vec<String>,
    pub(super) dirs: Vec<String>,
    pub(super) stems: Vec<String>,
    pub(super) suffixes: Vec<String>,
    pub(super) extensions: Vec<String>,
    pub(super) hosts: Vec<String>,
    pub(super) components: Vec<String>,
    pub(super) settings: Vec<String>,
    pub(super) sections: Vec<String>,
    pub(super) constants: Vec<String>,
    pub(super) warehouses: Vec<String>,
    pub(super) goods: Vec<String>,
    pub(super) checks: Vec<String>,
    pub(super) systems: Vec<String>,
    pub(super) prefixes: Vec<String>,
    pub(super) labels: Vec<String>,
    pub(super) label_notes: Vec<String>,
    pub(super) milestones: Vec<String>,
    pub(super) about: Vec<String>,
    pub(super) requests: Vec<String>,
    /// Locale to message key to text; all locales have the same keys.
    pub(super) messages: BTreeMap<String, BTreeMap<String, String>>,
}

impl Pools {
    /// The lists that are compiled in.
    pub(super) fn embedded() -> Result<Self, TasksError> {
        toml::from_str(include_str!("../../results/pools.toml"))
            .map_err(|cause| TasksError::Plan(format!("results/pools.toml: {cause}")))
    }
}
