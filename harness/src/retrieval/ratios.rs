//! How much smaller an arm's list is: not one number, but one per server and tokenizer.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde::Serialize;

use super::tokenizer::Tokenizer;
use crate::{
    arms::{Arm, ArmError, Scope, definitions::Definitions, names::Named},
    helper::HelperError,
    surface::Surface,
};

/// One arm under one tokenizer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatioRow {
    /// The arm.
    pub arm: String,
    /// The tokenizer.
    pub tokenizer: String,
    /// Raw tokens over the arm's, all servers together.
    pub whole: f64,
    /// The same with each server alone, in rising order: where every server's list is the arm's own.
    pub by_server: Vec<f64>,
}

impl RatioRow {
    /// The quantile of the servers' ratios, by linear interpolation between order statistics (type 7 of Hyndman and Fan
    /// 1996).
    pub fn quantile(&self, p: f64) -> f64 {
        let Some(last) = self.by_server.len().checked_sub(1) else { return 0.0 };
        let at = p * last as f64;
        let below = (0..=last).rev().find(|&index| index as f64 <= at).unwrap_or(0);
        let above = (below + 1).min(last);
        let share = at - below as f64;
        self.by_server[below] * (1.0 - share) + self.by_server[above] * share
    }
}

/// What a session shows at its start: one list, or one for each thing that the user may say where the arm hears it.
fn surfaces(arm: &dyn Arm, said: &[String]) -> Result<Vec<Arc<Surface>>, ArmError> {
    let shown = |text: Option<&String>| {
        let mut session = arm.open(Scope::Catalogs)?;
        if let Some(text) = text {
            session.hear(text);
        }
        Ok(Arc::clone(session.surface()))
    };
    if !arm.info().hears || said.is_empty() {
        return Ok(vec![shown(None)?]);
    }
    said.iter().map(|text| shown(Some(text))).collect()
}

/// Tokens of definitions under one tokenizer. Arms share most of theirs, and counting is what costs.
struct Counted<'t> {
    tokenizer: &'t Tokenizer,
    /// By text. Only looked up, never iterated.
    known: HashMap<String, usize>,
}

impl Counted<'_> {
    /// Tokens of every text.
    fn count(&mut self, texts: &[&str]) -> Result<Vec<usize>, RatioError> {
        let new: Vec<&str> = texts.iter().copied().filter(|text| !self.known.contains_key(*text)).collect();
        let counts = self.tokenizer.count(&new)?;
        self.known.extend(new.into_iter().map(str::to_owned).zip(counts));
        Ok(texts.iter().map(|text| self.known.get(*text).copied().unwrap_or(0)).collect())
    }
}

/// Tokens of every server's part of a list, the mean over lists; tools of no single server weigh on each.
fn by_server(
    surfaces: &[Arc<Surface>],
    definitions: &Definitions,
    counted: &mut Counted<'_>,
) -> Result<Counts, RatioError> {
    // Lists of one arm share most of their tools: each is counted once.
    let mut times: BTreeMap<&str, (&str, u32)> = BTreeMap::new();
    for tool in surfaces.iter().flat_map(|surface| surface.tools()) {
        times.entry(tool.json()).or_insert((tool.name(), 0)).1 += 1;
    }
    let texts: Vec<&str> = times.keys().copied().collect();
    let mut counts = Counts { servers: vec![0.0; definitions.servers.len()], shared: 0.0 };
    for ((name, times), tokens) in times.values().zip(counted.count(&texts)?) {
        let tokens = tokens as f64 * f64::from(*times) / surfaces.len() as f64;
        match definitions.names.get(name) {
            Some(Named::Tool(place)) => counts.servers[place.server] += tokens,
            Some(Named::Meta(server, _)) => counts.servers[server] += tokens,
            None => counts.shared += tokens,
        }
    }
    Ok(counts)
}

/// Mean tokens.
struct Counts {
    servers: Vec<f64>,
    shared: f64,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum RatioError {
    /// The arm.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// The tokenizer.
    #[error(transparent)]
    Tokenizer(#[from] HelperError),
}

/// Every arm's ratios to raw under every tokenizer. `said` is what users say: an arm that hears it shows what it makes of
/// it, and is measured by the mean. `measured` is told of every row.
pub fn measure(
    raw: &dyn Arm,
    arms: &[Arc<dyn Arm>],
    said: &[String],
    definitions: &Definitions,
    tokenizers: &[Tokenizer],
    measured: &dyn Fn(),
) -> Result<Vec<RatioRow>, RatioError> {
    let mut rows = Vec::with_capacity(arms.len() * tokenizers.len());
    let of_raw = surfaces(raw, said)?;
    let shown: Vec<_> = arms.iter().map(|arm| surfaces(arm.as_ref(), said)).collect::<Result<_, _>>()?;
    for tokenizer in tokenizers {
        let mut counted = Counted { tokenizer, known: HashMap::new() };
        let reference = by_server(&of_raw, definitions, &mut counted)?;
        let whole = |counts: &Counts| counts.servers.iter().sum::<f64>() + counts.shared;
        for (arm, shown) in arms.iter().zip(&shown) {
            let counts = by_server(shown, definitions, &mut counted)?;
            let mut ratios: Vec<f64> = reference
                .servers
                .iter()
                .zip(&counts.servers)
                .filter(|(reference, _)| **reference > 0.0)
                .map(|(reference, own)| *reference / (own + counts.shared).max(1.0))
                .collect();
            ratios.sort_by(f64::total_cmp);
            rows.push(RatioRow {
                arm: arm.info().id.0.clone(),
                tokenizer: tokenizer.name.clone(),
                whole: whole(&reference) / whole(&counts).max(1.0),
                by_server: ratios,
            });
            measured();
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{fixtures::context, registry::Registry};

    #[test]
    fn a_quantile_lies_between_order_statistics() {
        let row = RatioRow { arm: String::new(), tokenizer: String::new(), whole: 1.0, by_server: vec![1.0, 2.0, 4.0] };
        assert!((row.quantile(0.0) - 1.0).abs() < 1e-12);
        assert!((row.quantile(0.5) - 2.0).abs() < 1e-12);
        assert!((row.quantile(0.75) - 3.0).abs() < 1e-12);
        assert!((row.quantile(1.0) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn raw_over_itself_is_one_for_every_server_and_a_gateway_saves_most_on_large_ones() {
        let registry = Registry::new(&context()).unwrap();
        let raw = registry.build("raw").unwrap();
        let arms = [registry.build("raw-again").unwrap(), registry.build("search-invoke").unwrap()];
        let rows = measure(raw.as_ref(), &arms, &[], registry.definitions(), &Tokenizer::built_in(), &|| {}).unwrap();
        assert_eq!(rows.len(), 4);
        assert!(rows[0].by_server.iter().all(|ratio| (ratio - 1.0).abs() < 1e-12) && rows[0].by_server.len() == 8);
        assert!(rows[1].quantile(1.0) > 10.0 * rows[1].quantile(0.0), "{rows:?}");
        assert_eq!(rows[2].tokenizer, "cl100k_base");
    }

    #[test]
    fn an_arm_that_hears_is_measured_by_what_it_shows_then() {
        let registry = Registry::new(&context()).unwrap();
        let raw = registry.build("raw").unwrap();
        let whole = |id: &str, said: &[&str]| {
            let arms = [registry.build(id).unwrap()];
            let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
            let tokenizers = &Tokenizer::built_in()[..1];
            measure(raw.as_ref(), &arms, &said, registry.definitions(), tokenizers, &|| {}).unwrap()[0].whole
        };
        let (deaf, one) =
            (whole("uimcp-pre-reimpl", &[]), whole("uimcp-pre-reimpl", &["convert time between timezones"]));
        let two = whole("uimcp-pre-reimpl", &["convert time between timezones", "zzz"]);
        assert!(one < two && two < deaf, "{one} {two} {deaf}");
        // The mean is of tokens, and raw's over it.
        assert!((2.0 / two - 1.0 / one - 1.0 / deaf).abs() < 1e-9);
        assert!((whole("L2", &["convert time"]) - whole("L2", &[])).abs() < 1e-12);
    }
}
