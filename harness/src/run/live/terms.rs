//! What a live run was started on, beside its inputs: kept as `inputs/live.json`, so that it can be resumed and verified
//! exactly. A key is not among it, only the name of the variable that holds it.

use std::collections::BTreeMap;

use bench_protocol::digest::Digest;
use bench_results::record::Deviation;
use serde::{Deserialize, Serialize};

use super::schedule::{Order, Planned};
use crate::{inputs::Inputs, locking::surface_digest, models::Provider, run::family::Family, wire::Settings};

/// Name of the file below `inputs/`.
pub const TERMS: &str = "live.json";
/// Name of the price table below `inputs/`.
pub const PRICES: &str = "prices.toml";

/// The terms of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Version of this format.
    pub schema: u32,
    /// Wire format: `anthropic` or `openai`.
    pub wire: Provider,
    /// Base URL of the endpoint. It holds no secret.
    pub base_url: String,
    /// Environment variable that holds the key; none where no key is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The endpoint is `bench mock-server`, which is told the draw of each request: the run is plumbing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mock_server: bool,
    /// The lock whose tasks the run looks at, under whatever other inputs; none where it shares no task with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks_at: Option<Digest>,
    /// Order of episodes.
    pub order: Order,
    /// Requests in flight at most.
    pub concurrency: u32,
    /// Seconds that an attempt may take.
    pub timeout: u64,
    /// Fixed fields of every request.
    pub settings: Settings,
    /// By arm: why the provider refused its surface before the run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, String>,
    /// Digests of everything that decides what is asked and how it is scored, by what they are of.
    pub digests: BTreeMap<String, Digest>,
}

/// Version of [`Terms`] that this binary reads and writes.
pub const SCHEMA: u32 = 1;

/// Something that is no longer what the run was started on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: started on {}, now {}", shown(.started.as_ref()), shown(.now.as_ref()))]
pub struct Drifted {
    /// What.
    pub what: String,
    /// Its digest at the start; none where it was not there.
    pub started: Option<Digest>,
    /// Its digest now.
    pub now: Option<Digest>,
}

fn shown(digest: Option<&Digest>) -> String {
    digest.map_or_else(|| "not there".to_owned(), |digest| digest.hex().chars().take(12).collect())
}

/// What the digest of the task list is called among a run's digests.
const TASKS: &str = "tasks";

impl Terms {
    /// Digest of the run's task list.
    pub fn tasks(&self) -> Option<&Digest> {
        self.digests.get(TASKS)
    }

    /// What the run's ledger entries name where it states no lock: the lock whose tasks it looks at, or else its protocol,
    /// so that it can be no second look at anything.
    pub fn looked_at<'a>(&'a self, protocol: &'a Digest) -> &'a Digest {
        self.looks_at.as_ref().unwrap_or(protocol)
    }

    /// The plan of a family under these terms.
    pub fn planned(&self, inputs: &Inputs, family: &Family) -> Planned {
        Planned::of(&inputs.protocol, family, self.refused.clone())
    }

    /// Arms that the provider refused, as deviations.
    pub fn not_run(&self) -> impl Iterator<Item = Deviation> + '_ {
        self.refused.iter().map(|(arm, why)| Deviation {
            what: format!("`{arm}` was not run"),
            why: format!("the provider refused its surface before the run: {why}"),
        })
    }

    /// What differs between the digests of the start and those of now.
    pub fn drift(&self, now: &BTreeMap<String, Digest>) -> Vec<Drifted> {
        let names: std::collections::BTreeSet<&String> = self.digests.keys().chain(now.keys()).collect();
        names
            .into_iter()
            .map(|what| Drifted {
                what: what.clone(),
                started: self.digests.get(what).cloned(),
                now: now.get(what).cloned(),
            })
            .filter(|one| one.started != one.now)
            .collect()
    }
}

/// Digests of a run's inputs, tasks, first surfaces and settings.
pub fn digests(
    inputs: &Inputs,
    family: &Family,
    settings: &Settings,
    prices: &Digest,
) -> anyhow::Result<BTreeMap<String, Digest>> {
    let mut all = BTreeMap::from([
        ("protocol".to_owned(), inputs.protocol.digest()?),
        ("intents".to_owned(), inputs.intents_digest()),
        (TASKS.to_owned(), family.tasks_digest()?),
        ("request fields".to_owned(), Digest::of(&serde_json::to_vec(settings)?)),
        ("prices".to_owned(), prices.clone()),
    ]);
    all.extend(inputs.catalog_digests().into_iter().map(|(server, digest)| (format!("catalog {server}"), digest)));
    let sources = family.tasks.sources();
    let sources = (!sources.is_empty()).then_some(&sources);
    for arm in &family.arms {
        all.insert(format!("surface of {}", arm.info().id.0), surface_digest(arm.as_ref(), sources)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        inputs::Overrides,
        run::prepare::{Prepared, RunSpec},
    };

    #[test]
    fn drift_names_what_changed_and_nothing_else() {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let spec = RunSpec::of(&inputs, "seed", &["L0".to_owned()], Some(20)).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        let settings = Settings::of(&inputs.protocol);
        let digests = digests(&inputs, &prepared.families[0], &settings, &Digest::of(b"prices")).unwrap();
        let terms = Terms {
            schema: SCHEMA,
            wire: Provider::Anthropic,
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            key_variable: None,
            mock_server: false,
            looks_at: None,
            order: Order::Interleaved,
            concurrency: 8,
            timeout: 600,
            settings,
            refused: BTreeMap::new(),
            digests: digests.clone(),
        };
        assert_eq!(terms.drift(&digests), []);
        let mut now = digests;
        now.insert("tasks".to_owned(), Digest::of(b"others"));
        now.remove("catalog git");
        let drift: Vec<String> = terms.drift(&now).iter().map(|one| one.what.clone()).collect();
        assert_eq!(drift, ["catalog git", "tasks"]);
        let text = serde_json::to_string(&terms).unwrap();
        assert_eq!(serde_json::from_str::<Terms>(&text).unwrap(), terms);
    }
}
