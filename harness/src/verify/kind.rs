//! What a run may call itself: derived from the terms that it was started on, never believed.

use bench_mock_model::Behaviour;
use bench_protocol::spec::Protocol;
use bench_results::record::{Manifest, RunKind};

use crate::checks::Found;
use crate::{
    models::BaseUrl,
    plan,
    run::{
        live::{
            confirmatory::{self, Setup},
            terms::Terms,
        },
        prepare::{RESULTS, TOOLS},
    },
};

/// Holds kind, claim and model of a manifest against the record's terms; without terms a scripted model answered in
/// process.
pub(super) fn check(manifest: &Manifest, protocol: &Protocol, terms: Option<&Terms>) -> Found {
    if manifest.confirmatory && manifest.lock.is_none() {
        return Err("the manifest says confirmatory and states no lock; there is no such run".to_owned());
    }
    match terms {
        None => in_process(manifest, protocol),
        Some(terms) => behind_a_socket(manifest, protocol, terms),
    }
}

fn in_process(manifest: &Manifest, protocol: &Protocol) -> Found {
    let model = &manifest.model;
    let stated = [
        ("kind", manifest.kind == RunKind::Plumbing),
        ("confirmatory", !manifest.confirmatory),
        ("model.provider", model.provider == "mock"),
        ("model.asked", model.asked.parse::<Behaviour>().is_ok()),
        ("model.host", model.host.is_none()),
        ("prices", manifest.prices.is_none()),
        ("budget", manifest.budget.is_none()),
        ("started", manifest.started.is_none() && manifest.finished.is_none()),
        ("seed", manifest.suites.values().all(|suite| suite.seed == protocol.seeds.primary)),
    ];
    if let Some((field, _)) = stated.iter().find(|(_, fits)| !fits) {
        let why = "the record has no terms of a live run, so that a scripted model answered in this process";
        return Err(format!("{why}; `{field}` in the manifest says otherwise"));
    }
    if !whole(manifest, protocol) && manifest.deviations.is_empty() {
        return Err("arms or tasks are a part of the protocol's, and no deviation says so".to_owned());
    }
    Ok(format!("plumbing: the scripted model `{}` answered in process", model.asked))
}

/// True where every suite that runs is whole.
fn whole(manifest: &Manifest, protocol: &Protocol) -> bool {
    let mut arms: Vec<&str> = Vec::new();
    if manifest.suites.contains_key(TOOLS) {
        arms.extend(plan::tool_arms(protocol));
    }
    if manifest.suites.contains_key(RESULTS) {
        arms.extend(plan::result_arms(protocol));
    }
    arms.iter().eq(manifest.arms.iter())
        && manifest.suites.iter().all(|(name, suite)| Some(suite.tasks) == plan::tasks(protocol, name))
}

fn behind_a_socket(manifest: &Manifest, protocol: &Protocol, terms: &Terms) -> Found {
    let base = BaseUrl::parse(&terms.base_url).map_err(|error| format!("inputs/live.json: {error}"))?;
    let kind = if terms.mock_server { RunKind::Plumbing } else { RunKind::Live };
    let model = &manifest.model;
    let stated = [
        ("kind", manifest.kind == kind),
        ("model.provider", model.provider == terms.wire.id()),
        ("model.asked", model.asked == terms.settings.model),
        ("model.host", model.host.as_deref() == base.host()),
    ];
    if let Some((field, _)) = stated.iter().find(|(_, fits)| !fits) {
        return Err(format!("`{field}` in the manifest is not what the run was started on (inputs/live.json)"));
    }
    let reasons = confirmatory::exploratory(&Setup {
        protocol,
        locked: manifest.lock.is_some(),
        provider: terms.wire,
        base: &base,
        mock: terms.mock_server,
        settings: &terms.settings,
        order: terms.order,
        arms: &manifest.arms,
        suites: &manifest.suites,
    });
    if let Some(silent) = terms.not_run().find(|one| !manifest.deviations.contains(one)) {
        return Err(format!("{}: the terms say so, and no deviation does", silent.what));
    }
    let said = manifest.deviations.iter().any(|one| one.what == "exploratory");
    let (what, on) = (if terms.mock_server { "plumbing" } else { "live" }, &terms.settings.model);
    match (manifest.confirmatory, reasons.is_empty()) {
        (true, false) => Err(format!("the manifest says confirmatory, its terms don't: {}", reasons.join("; "))),
        (true, true) => {
            Ok(format!("{what}, confirmatory: {on} at the provider's own address, the whole suite, its seed"))
        }
        (false, _) if !said => Err("the run is exploratory, and no deviation says why".to_owned()),
        (false, true) => Ok(format!("{what}, exploratory by choice: {on}")),
        (false, false) => Ok(format!("{what}, exploratory: {on}; {}", reasons.join("; "))),
    }
}
