//! The certificate: recomputed byte for byte, and, where the record is withheld, at least added up.

use bench_protocol::{
    stats::{ExactCache, Margin, PairedTable, bootstrap::bootstrap_p, score::score_test},
    verdict::Status,
};
use bench_results::{
    certificate::{Certificate, CertificateError, EndpointReport, LevelReport, number::p_value},
    record::Record,
};

use super::provenance;
use crate::checks::Found;
use crate::conclude::{Facts, Judge};
use crate::told::told;

/// Recomputes the certificate; hands it back beside the finding. The error says whether another version of this program
/// is needed.
pub(super) fn recompute(
    reader: &Record,
    judge: &Judge<'_>,
    facts: &Facts,
) -> (Result<String, (bool, String)>, Option<Certificate>) {
    let conclusion = match judge.conclude(reader.manifest(), facts) {
        Ok(conclusion) => conclusion.certificate,
        Err(error) => return (Err((false, told(&error))), None),
    };
    (compare(reader, &conclusion), Some(conclusion))
}

fn compare(reader: &Record, conclusion: &Certificate) -> Result<String, (bool, String)> {
    let recorded = reader.certificate().map_err(|error| (false, error.to_string()))?;
    let computed = match Certificate::parse(&recorded) {
        Err(error @ CertificateError::Method { .. }) => return Err((true, error.to_string())),
        // What it does not bind is a note of its own, and no difference.
        Ok(stated) if provenance::is_older(&stated) => provenance::unbound(conclusion.clone()).bytes(),
        _ => conclusion.bytes(),
    };
    let computed = computed.map_err(|error| (false, error.to_string()))?;
    if computed == recorded {
        Ok(format!("{} bytes recomputed, equal byte for byte", recorded.len()))
    } else {
        Err((false, difference(&recorded, &computed)))
    }
}

/// Names the first place where two canonical documents differ.
fn difference(recorded: &[u8], computed: &[u8]) -> String {
    let values = serde_json::from_slice::<serde_json::Value>(recorded)
        .ok()
        .zip(serde_json::from_slice::<serde_json::Value>(computed).ok());
    let Some((recorded, computed)) = values else {
        return "the recorded certificate is no JSON document".to_owned();
    };
    first_difference("", &recorded, &computed)
        .unwrap_or_else(|| "the values agree, but the recorded bytes are not canonical".to_owned())
}

/// Names the first place where two documents differ, and both values there.
pub(super) fn first_difference(
    path: &str,
    recorded: &serde_json::Value,
    computed: &serde_json::Value,
) -> Option<String> {
    use serde_json::Value::{Array, Object};
    match (recorded, computed) {
        (Object(left), Object(right)) => {
            let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            keys.into_iter().find_map(|key| {
                let null = serde_json::Value::Null;
                let at = |map: &serde_json::Map<_, _>| map.get(key).cloned().unwrap_or(null.clone());
                first_difference(&format!("{path}/{key}"), &at(left), &at(right))
            })
        }
        (Array(left), Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(place, (left, right))| first_difference(&format!("{path}/{place}"), left, right)),
        (left, right) if left == right => None,
        (left, right) => Some(format!("at {path}: recorded {}, recomputed {}", short(left), short(right))),
    }
}

fn short(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 80 { format!("{}…", text.chars().take(80).collect::<String>()) } else { text }
}

/// What a certificate must hold to whatever its record says: cells that add up, p-values that follow from them, and no
/// level certified on gates that do not pass. All that is left where the record itself is withheld.
pub(super) fn adds_up(bytes: &[u8]) -> Result<String, (bool, String)> {
    let certificate = Certificate::parse(bytes)
        .map_err(|error| (matches!(error, CertificateError::Method { .. }), error.to_string()))?;
    let canonical = certificate.bytes().map_err(|error| (false, error.to_string()))?;
    if canonical != bytes {
        return Err((false, "its bytes are not canonical".to_owned()));
    }
    let margin: Margin = certificate.rule.margin.parse().map_err(|_| (false, "its margin is no number".to_owned()))?;
    let exact = ExactCache::new();
    let mut tables = 0;
    for level in &certificate.levels {
        for (endpoint, seen) in &level.endpoints {
            let name = format!("{} on {endpoint}", level.arm);
            endpoint_adds_up(&name, seen, margin, &exact).map_err(|why| (false, why))?;
            tables += 1;
        }
        if level.status == Status::Certified && !gates_pass(level) {
            return Err((false, format!("{} is certified on gates that do not pass", level.arm)));
        }
    }
    Ok(format!("{tables} tables add up and their score, exact and bootstrap p follow from them"))
}

fn gates_pass(level: &LevelReport) -> bool {
    !level.endpoints.is_empty() && level.endpoints.values().all(|seen| seen.gates.pass())
}

fn endpoint_adds_up(name: &str, seen: &EndpointReport, margin: Margin, exact: &ExactCache) -> Found {
    let table =
        PairedTable::new(seen.both, seen.loss, seen.gain, seen.neither).map_err(|error| format!("{name}: {error}"))?;
    if table.n() != seen.n || table.counts().net() != seen.difference.num || seen.difference.den != seen.n {
        return Err(format!("{name}: its four cells do not add up to its n and difference"));
    }
    let counts = table.counts();
    let expected = [
        ("p_tango", p_value(score_test(counts, margin).p_lower), &seen.gates.p_tango),
        ("p_exact", p_value(exact.p(counts, margin)), &seen.gates.p_exact),
        ("p_boot", p_value(bootstrap_p(counts, margin)), &seen.gates.p_boot),
    ];
    match expected.into_iter().find(|(_, computed, stated)| computed != *stated) {
        Some((what, computed, stated)) => {
            Err(format!("{name}: {what} is stated as {stated}, its cells give {computed}"))
        }
        None => Ok(String::new()),
    }
}
