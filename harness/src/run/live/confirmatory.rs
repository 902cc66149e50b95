//! What a live run must be to be a confirmatory one: asked of the arguments before it starts, and of its record whenever
//! that is verified.

use std::collections::BTreeMap;

use bench_protocol::spec::Protocol;
use bench_results::record::SuiteRun;

use super::schedule::Order;
use crate::{
    models::{BaseUrl, Provider, capabilities::Capabilities},
    plan,
    run::prepare::{RESULTS, TOOLS},
    wire::Settings,
};

/// What decides.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The protocol.
    pub protocol: &'a Protocol,
    /// Whether a lock covers the inputs.
    pub locked: bool,
    /// The interface that is spoken.
    pub provider: Provider,
    /// Where.
    pub base: &'a BaseUrl,
    /// Whether a scripted model answers.
    pub mock: bool,
    /// Fixed fields of every request.
    pub settings: &'a Settings,
    /// Order of episodes.
    pub order: Order,
    /// Arms, in order.
    pub arms: &'a [String],
    /// What is planned, by suite.
    pub suites: &'a BTreeMap<String, SuiteRun>,
}

/// Why such a run can never certify; empty for one that can.
pub fn exploratory(run: &Setup<'_>) -> Vec<String> {
    let protocol = run.protocol;
    let mut reasons = Vec::new();
    let mut because = |holds: bool, why: &str| {
        if holds {
            reasons.push(why.to_owned());
        }
    };
    because(run.mock, "--mock-server: a scripted model answers");
    because(run.suites.values().any(|suite| suite.dev), "a pilot: dev frames are never scored for a claim");
    because(!whole_arms(run), "--arms: arms were chosen by hand");
    because(!whole_tasks(run), "--tasks: tasks were chosen by hand");
    because(run.order != Order::Interleaved, "--order blocked: drift is confounded with the arm");
    because(!run.provider.is_official(run.base), "--base-url: the endpoint is not the provider's own");
    because(!named(run), "--model: the protocol names another");
    because(!run.suites.values().all(|suite| suite.seed == *seed(protocol, &run.settings.model)), "another seed");
    because(!own_fields(run), "the fields of its requests are not those that the protocol gives this model");
    because(!run.locked, "there is no lock");
    because(protocol.power.underpowered, "the lock is underpowered");
    reasons
}

/// The seed text of a model's run: the replication's model has one of its own.
pub fn seed<'a>(protocol: &'a Protocol, model: &str) -> &'a String {
    if model == protocol.model.replication_id { &protocol.seeds.replication } else { &protocol.seeds.primary }
}

/// Arms of the one suite of a live run, as the protocol lists them.
fn whole_arms(run: &Setup<'_>) -> bool {
    let arms = run.arms.iter().map(String::as_str);
    match run.suites.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [TOOLS] => arms.eq(plan::tool_arms(run.protocol)),
        [RESULTS] => arms.eq(plan::result_arms(run.protocol)),
        _ => false,
    }
}

fn whole_tasks(run: &Setup<'_>) -> bool {
    run.suites.iter().all(|(name, suite)| Some(suite.tasks) == plan::tasks(run.protocol, name))
}

fn named(run: &Setup<'_>) -> bool {
    let (spec, asked) = (&run.protocol.model, (run.provider.id(), run.settings.model.as_str()));
    [(&spec.provider, &spec.id), (&spec.replication_provider, &spec.replication_id)]
        .iter()
        .any(|(provider, id)| asked == (provider.as_str(), id.as_str()))
}

fn own_fields(run: &Setup<'_>) -> bool {
    let found = Capabilities::built_in().and_then(|all| all.find(run.provider, run.base, &run.settings.model));
    found.is_ok_and(|capability| capability.settings(run.protocol) == *run.settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Inputs, Overrides};

    #[test]
    fn each_condition_alone_makes_a_run_exploratory() {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let protocol = &*inputs.protocol;
        let provider = Provider::Anthropic;
        let base = BaseUrl::parse(provider.official_url()).unwrap();
        let own = Capabilities::built_in().unwrap().find(provider, &base, &protocol.model.id).unwrap();
        let settings = own.settings(protocol);
        let arms: Vec<String> = plan::tool_arms(protocol).map(str::to_owned).collect();
        let suite =
            SuiteRun { tasks: plan::tasks(protocol, TOOLS).unwrap(), seed: protocol.seeds.primary.clone(), dev: false };
        let suites = BTreeMap::from([(TOOLS.to_owned(), suite.clone())]);
        let good = Setup {
            protocol,
            locked: true,
            provider,
            base: &base,
            mock: false,
            settings: &settings,
            order: Order::Interleaved,
            arms: &arms,
            suites: &suites,
        };
        assert_eq!(exploratory(&good), [] as [String; 0]);
        let only = |run: Setup<'_>, word: &str| {
            let reasons = exploratory(&run);
            assert!(reasons.len() == 1 && reasons[0].contains(word), "{word}: {reasons:?}");
        };
        only(Setup { mock: true, ..good }, "scripted");
        only(Setup { locked: false, ..good }, "no lock");
        only(Setup { order: Order::Blocked, ..good }, "blocked");
        only(Setup { arms: &arms[1..], ..good }, "--arms");
        let fewer = BTreeMap::from([(TOOLS.to_owned(), SuiteRun { tasks: suite.tasks - 1, ..suite.clone() })]);
        only(Setup { suites: &fewer, ..good }, "--tasks");
        let reseeded = BTreeMap::from([(TOOLS.to_owned(), SuiteRun { seed: "lucky".to_owned(), ..suite })]);
        only(Setup { suites: &reseeded, ..good }, "seed");
        let warmer = Settings { max_tokens: 7, ..settings.clone() };
        only(Setup { settings: &warmer, ..good }, "fields");
        let elsewhere = BaseUrl::parse("https://example.com/v1").unwrap();
        let reasons = exploratory(&Setup { base: &elsewhere, ..good });
        assert!(reasons.iter().any(|why| why.contains("--base-url")), "{reasons:?}");
        let other = Settings { model: "claude-opus-5".to_owned(), ..settings.clone() };
        let reasons = exploratory(&Setup { settings: &other, ..good });
        assert!(reasons.iter().any(|why| why.contains("--model")), "{reasons:?}");
    }
}
