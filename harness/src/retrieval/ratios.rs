//! How much smaller an arm's list is: not one number, but one per server and tokenizer.

use serde::Serialize;

use super::tokenizer::Tokenizer;
use crate::{
    arms::{Arm, ArmError, Scope, definitions::Definitions, names::Named},
    helper::HelperError,
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

/// Tokens of every server's part of a list; tools of no single server weigh on each.
fn by_server(arm: &dyn Arm, definitions: &Definitions, tokenizer: &Tokenizer) -> Result<Counts, RatioError> {
    let session = arm.open(Scope::Catalogs)?;
    let tools = session.surface().tools();
    let texts: Vec<&str> = tools.iter().map(|tool| tool.json()).collect();
    let mut counts = Counts { servers: vec![0; definitions.servers.len()], shared: 0 };
    for (tool, tokens) in tools.iter().zip(tokenizer.count(&texts)?) {
        match definitions.names.get(tool.name()) {
            Some(Named::Tool(place)) => counts.servers[place.server] += tokens,
            Some(Named::Meta(server, _)) => counts.servers[server] += tokens,
            None => counts.shared += tokens,
        }
    }
    Ok(counts)
}

struct Counts {
    servers: Vec<usize>,
    shared: usize,
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

/// Every arm's ratios to raw under every tokenizer.
pub fn measure(
    raw: &dyn Arm,
    arms: &[std::sync::Arc<dyn Arm>],
    definitions: &Definitions,
    tokenizers: &[Tokenizer],
) -> Result<Vec<RatioRow>, RatioError> {
    let mut rows = Vec::with_capacity(arms.len() * tokenizers.len());
    for tokenizer in tokenizers {
        let reference = by_server(raw, definitions, tokenizer)?;
        let whole = |counts: &Counts| (counts.servers.iter().sum::<usize>() + counts.shared) as f64;
        for arm in arms {
            let counts = by_server(arm.as_ref(), definitions, tokenizer)?;
            let mut ratios: Vec<f64> = reference
                .servers
                .iter()
                .zip(&counts.servers)
                .filter(|(reference, _)| **reference > 0)
                .map(|(reference, own)| *reference as f64 / (own + counts.shared).max(1) as f64)
                .collect();
            ratios.sort_by(f64::total_cmp);
            rows.push(RatioRow {
                arm: arm.info().id.0.clone(),
                tokenizer: tokenizer.name.clone(),
                whole: whole(&reference) / whole(&counts).max(1.0),
                by_server: ratios,
            });
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
        let rows = measure(raw.as_ref(), &arms, registry.definitions(), &Tokenizer::built_in()).unwrap();
        assert_eq!(rows.len(), 4);
        assert!(rows[0].by_server.iter().all(|ratio| (ratio - 1.0).abs() < 1e-12) && rows[0].by_server.len() == 8);
        assert!(rows[1].quantile(1.0) > 10.0 * rows[1].quantile(0.0), "{rows:?}");
        assert_eq!(rows[2].tokenizer, "cl100k_base");
    }
}
