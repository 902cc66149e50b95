//! What the arguments of a live run, or of a plan for one, come to: checked once, before anything is asked or spent.

use std::{fs, sync::Arc, time::Duration};

use bench_protocol::prices::{Price, PriceTable};

use super::{
    args::{LiveArgs, LiveSuite},
    clock,
};
use crate::{
    cli::{args::GlobalArgs, failure::Failure},
    exit,
    inputs::Inputs,
    models::{
        BaseUrl, Endpoint, Key, Provider, Timeouts,
        capabilities::{Capabilities, Capability},
    },
    plan,
    run::{
        live::{confirmatory, money::Money, schedule::Order},
        prepare::{Prepared, RESULTS, RunSpec, TOOLS},
    },
    wire::Settings,
};

/// The part of a suite that is asked for; by default all of it.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) arms: &'a [String],
    pub(super) tasks: Option<u64>,
}

/// What is asked for.
pub(super) enum Asked<'a> {
    /// A suite, or a part of it.
    Part(Part<'a>),
    /// A pilot: tasks of dev frames, which are under no lock.
    Pilot(RunSpec),
}

/// A live run that could be started.
pub(in crate::cli) struct Undertaking {
    pub(super) provider: Provider,
    pub(super) base: BaseUrl,
    pub(super) settings: Settings,
    pub(super) capability: Capability,
    pub(super) prices: PriceTable,
    pub(super) price: Price,
    pub(super) spec: RunSpec,
    pub(super) prepared: Arc<Prepared>,
    pub(super) order: Order,
    /// Why the run can never certify; empty for a confirmatory one.
    pub(super) exploratory: Vec<String>,
}

impl Undertaking {
    /// Checks the arguments against inputs, capabilities and prices.
    pub(super) fn new(
        asked: Asked<'_>,
        live: &LiveArgs,
        global: &GlobalArgs,
        inputs: &Inputs,
    ) -> Result<Self, Failure> {
        let protocol = &inputs.protocol;
        let (provider, model) = provider_and_model(live, inputs)?;
        let refused = |error| Failure::new(exit::USAGE, error);
        let base = BaseUrl::parse(live.base_url.as_deref().unwrap_or(provider.official_url())).map_err(refused)?;
        let prices = price_table(live)?;
        let today = clock::today().map_err(|why| Failure::usage(format!("the clock of this machine: {why}")))?;
        let price = prices.quote(&model, &today).map_err(|error| Failure::new(exit::USAGE, error))?.clone();
        if price.is_free() && provider.is_official(&base) {
            return Err(Failure::usage(format!(
                "the price row of `{model}` says that it is free, and {} is not; correct the row in --prices",
                base.as_str()
            )));
        }
        let capabilities = Capabilities::built_in().map_err(|error| Failure::new(exit::BUG, error))?;
        let capability = capabilities.find(provider, &base, &model).map_err(refused)?;
        let settings = capability.settings(protocol);
        let seed = confirmatory::seed(protocol, &model);
        let spec = match asked {
            Asked::Part(part) => spec(part, live.suite, inputs, seed)?,
            Asked::Pilot(_) if live.suite != LiveSuite::Tools => {
                return Err(Failure::usage("a pilot is of the suite `tools`: only that one has dev frames"));
            }
            Asked::Pilot(spec) => spec,
        };
        let prepared = Prepared::new(inputs, &spec).map_err(|error| Failure::new(exit::INPUT, error))?;
        prepared.require_two_frames().map_err(|error| Failure::new(exit::USAGE, error))?;
        for arm in &prepared.families[0].arms {
            if live.suite == LiveSuite::Tools {
                let session = arm.open(crate::arms::Scope::Catalogs)?;
                capability.check_surface(&arm.info().id.0, session.surface()).map_err(refused)?;
            }
        }
        let mut exploratory = Vec::new();
        if live.exploratory {
            exploratory.push("--exploratory".to_owned());
        }
        if global.overrides().any() {
            exploratory.push("--catalogs, --intents or --protocol: the inputs are not the locked ones".to_owned());
        }
        let order = live.order.into();
        exploratory.extend(confirmatory::exploratory(&confirmatory::Setup {
            protocol,
            locked: inputs.chain.current().is_some(),
            provider,
            base: &base,
            mock: live.mock_server,
            settings: &settings,
            order,
            arms: &spec.arms,
            suites: &spec.suites,
        }));
        Ok(Self {
            provider,
            base,
            settings,
            capability,
            prices,
            price,
            spec,
            prepared: Arc::new(prepared),
            order,
            exploratory,
        })
    }

    pub(super) fn confirmatory(&self) -> bool {
        self.exploratory.is_empty()
    }

    pub(super) fn money(&self) -> Money {
        Money::new(self.price.clone(), self.provider, &self.settings)
    }

    /// Whether it is a pilot.
    pub(super) fn is_pilot(&self) -> bool {
        self.spec.suites.values().any(|suite| suite.dev)
    }

    /// The family of tests that the run belongs to, as the ledger names it.
    pub(super) fn family(&self) -> &'static str {
        if self.spec.suites.contains_key(RESULTS) { "results" } else { "levels" }
    }
}

/// The key to send, and the variable it came from. The usual variables hold keys of the providers: they are looked at for
/// the providers' own addresses alone, so that no key goes to a stranger by default.
pub(super) fn key(
    variable: Option<&str>,
    file: Option<&std::path::Path>,
    provider: Provider,
    base: &BaseUrl,
) -> Result<(Option<Key>, Option<String>), Failure> {
    let refused = |error| Failure::new(exit::USAGE, error);
    if let Some(file) = file {
        return Ok((Some(Key::from_file(file).map_err(refused)?), None));
    }
    let official = provider.is_official(base).then(|| provider.key_variable());
    let Some(variable) = variable.or(official) else { return Ok((None, None)) };
    Ok((Some(Key::from_env(variable).map_err(refused)?), Some(variable.to_owned())))
}

/// The endpoint of a run.
pub(super) fn endpoint(
    provider: Provider,
    base: BaseUrl,
    key: Option<Key>,
    inputs: &Inputs,
    settings: &Settings,
    timeout: u64,
    mock: bool,
) -> Endpoint {
    let total = Duration::from_secs(timeout);
    let defaults = Timeouts::default();
    // A server that computes the whole answer before its first byte is silent for as long as it takes.
    let timeouts = Timeouts { connect: defaults.connect.min(total), read: total, total };
    Endpoint {
        provider,
        base,
        key,
        model: settings.model.clone(),
        api_version: inputs.protocol.model.api_version.clone(),
        timeouts,
        mock,
    }
}

fn provider_and_model(live: &LiveArgs, inputs: &Inputs) -> Result<(Provider, String), Failure> {
    let spec = &inputs.protocol.model;
    let named = |id: &str| {
        Provider::of(id)
            .map_err(|error| Failure::new(exit::INPUT, anyhow::Error::new(error).context("protocol.toml, [model]")))
    };
    let (primary, second) = (named(&spec.provider)?, named(&spec.replication_provider)?);
    let asked = live.provider;
    Ok(match (asked, &live.model) {
        (None, None) => (primary, spec.id.clone()),
        (None, Some(model)) if *model == spec.replication_id => (second, model.clone()),
        (None, Some(model)) => (primary, model.clone()),
        (Some(provider), Some(model)) => (provider, model.clone()),
        (Some(provider), None) if provider == primary => (primary, spec.id.clone()),
        (Some(provider), None) if provider == second && live.base_url.is_none() => {
            (second, spec.replication_id.clone())
        }
        (Some(provider), None) => {
            return Err(Failure::usage(format!("name the model to ask {} for with --model", provider.id())));
        }
    })
}

/// The built-in prices, overlaid with somebody's own.
fn price_table(live: &LiveArgs) -> Result<PriceTable, Failure> {
    let built_in = PriceTable::built_in().map_err(|error| Failure::new(exit::BUG, error))?;
    let Some(path) = &live.prices else { return Ok(built_in) };
    let malformed = |error: anyhow::Error| Failure::new(exit::INPUT, error);
    let text = fs::read_to_string(path).map_err(|error| malformed(anyhow::anyhow!("{}: {error}", path.display())))?;
    let own = PriceTable::parse(&text, &path.display().to_string()).map_err(|error| malformed(error.into()))?;
    Ok(built_in.overlaid_with(own))
}

/// The part of the protocol's run that one suite is.
fn spec(part: Part<'_>, suite: LiveSuite, inputs: &Inputs, seed: &str) -> Result<RunSpec, Failure> {
    let protocol = &inputs.protocol;
    let (name, of_suite): (_, Vec<&str>) = match suite {
        LiveSuite::Tools => (TOOLS, plan::tool_arms(protocol).collect()),
        LiveSuite::Results => (RESULTS, plan::result_arms(protocol).collect()),
    };
    let arms: Vec<String> =
        if part.arms.is_empty() { of_suite.iter().map(|&arm| arm.to_owned()).collect() } else { part.arms.to_vec() };
    let mut spec = RunSpec::of(inputs, seed, &arms, part.tasks).map_err(|error| Failure::new(exit::USAGE, error))?;
    if let (LiveSuite::Results, Some(n), Some(results)) = (suite, part.tasks, spec.suites.get_mut(name)) {
        results.tasks = n.clamp(1, protocol.suites.results.tasks);
    }
    if let Some(stranger) = spec.arms.iter().find(|arm| !of_suite.contains(&arm.as_str())) {
        return Err(Failure::usage(format!(
            "arm `{stranger}` is not of the suite `{name}`; a live run has one, see --suite"
        )));
    }
    if !spec.suites.contains_key(name) {
        return Err(Failure::usage(format!("these catalogs hold nothing that the suite `{name}` asks about")));
    }
    Ok(spec)
}
