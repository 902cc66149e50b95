//! Made-up counts for tests.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ArmInput, Cluster, Endpoint, EndpointInput, FamilyInput, FamilyKind, Mark, PairCells, ReferenceInput, Rule,
};
use crate::spec::Protocol;

pub(crate) fn rule() -> Rule {
    Rule::of(&Protocol::built_in().unwrap()).unwrap()
}

pub(crate) fn cells(both: u64, loss: u64, gain: u64, neither: u64) -> PairCells {
    let mut cells = PairCells::default();
    cells.count_many(Mark::Right, Mark::Right, both);
    cells.count_many(Mark::Right, Mark::Wrong, loss);
    cells.count_many(Mark::Wrong, Mark::Right, gain);
    cells.count_many(Mark::Wrong, Mark::Wrong, neither);
    cells
}

pub(crate) fn cluster(name: &str, cells: PairCells) -> Cluster {
    Cluster { name: name.into(), cells }
}

/// Spreads the pairs of a table evenly over clusters: every kind of pair in turn.
pub(crate) fn spread(prefix: &str, clusters: u64, table: &PairCells) -> Vec<Cluster> {
    let marks = [Mark::Right, Mark::Wrong, Mark::Missing];
    let mut out: Vec<Cluster> =
        (0..clusters).map(|i| cluster(&format!("{prefix}{i:04}"), PairCells::default())).collect();
    let mut next = 0;
    // The rare kinds first, so that they land in different clusters.
    let mut kinds: Vec<(Mark, Mark)> = marks.into_iter().flat_map(|a| marks.map(|b| (a, b))).collect();
    kinds.sort_by_key(|&(a, b)| table.of(a, b));
    for (reference, arm) in kinds {
        for _ in 0..table.of(reference, arm) {
            let place = usize::try_from(next % clusters).unwrap();
            out[place].cells.count(reference, arm);
            next += 1;
        }
    }
    out
}

/// A table of about `n` pairs (scaled up from `table` where that holds fewer), one frame per five pairs, over tools.
pub(crate) fn endpoint(n: u64, tools: u64, table: PairCells) -> EndpointInput {
    let mut whole = table;
    while whole.n() < n {
        whole.add(&table);
    }
    let frames = spread("f", n.div_ceil(5).max(2), &whole);
    EndpointInput { affected_frames: frames.clone(), frames, tools: spread("s/t", tools, &whole) }
}

/// An arm with the same counts on every endpoint.
pub(crate) fn arm(id: &str, input: &EndpointInput) -> ArmInput {
    let endpoints = [Endpoint::Selection, Endpoint::Arguments, Endpoint::FirstCall, Endpoint::Answer];
    ArmInput {
        arm: id.into(),
        endpoints: endpoints.into_iter().map(|endpoint| (endpoint, input.clone())).collect(),
        abstain: Some(cells(60, 1, 1, 0)),
        unattempted: 0,
        refused: None,
    }
}

/// A complete, sensitive run in which both levels are harmless.
pub(crate) fn healthy() -> FamilyInput {
    let table = |both, loss, gain, neither| endpoint(1_000, 20, cells(both, loss, gain, neither));
    let right: BTreeMap<Endpoint, u64> = [(Endpoint::Selection, 980), (Endpoint::Arguments, 980)].into();
    let harmless = table(970, 5, 5, 20);
    FamilyInput {
        kind: FamilyKind::Levels,
        reference: ReferenceInput { arm: "raw".into(), right, tasks: 1_000, unattempted: 0 },
        levels: vec![arm("L0", &harmless), arm("L1", &harmless)],
        again: Some(arm("raw-again", &harmless)),
        must_not_certify: vec![arm("planted-loss", &table(905, 70, 5, 20))],
        must_show_damage: vec![arm("names-only", &table(480, 500, 0, 20))],
        required_controls: ["raw-again", "planted-loss", "names-only"].map(Arc::from).to_vec(),
    }
}
