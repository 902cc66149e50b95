//! The short cut against the executable rule, and against tables computed elsewhere.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use super::{
    Layout, Scenario, Simulator, Truths,
    nested::Code,
    pairs::{State, states},
    run::Options,
    trial::{Drawn, Scratch, judge, right},
};
use crate::{
    rng::stream,
    spec::Protocol,
    stats::ExactCache,
    verdict::{
        ArmInput, Cluster, Endpoint, EndpointInput, FamilyInput, FamilyKind, Mark, PairCells, ReferenceInput, Rule,
        Status, evaluate,
    },
};

fn mark(state: Option<State>, least: State) -> Mark {
    state.map_or(Mark::Missing, |state| if state >= least { Mark::Right } else { Mark::Wrong })
}

fn clusters(layout: &Layout, drawn: &Drawn, arm: &[Code], size: u64, least: State) -> Vec<Cluster> {
    let size = usize::try_from(size).unwrap();
    (0..usize::try_from(layout.n()).unwrap() / size)
        .map(|group| {
            let tasks = group * size..(group + 1) * size;
            let pairs = tasks.map(|task| states(drawn.raw[task], arm[task], drawn.states[task]));
            let cells: PairCells = pairs.map(|(raw, arm)| (mark(raw, least), mark(arm, least))).collect();
            Cluster { name: format!("{group:05}").into(), cells }
        })
        .collect()
}

fn arm(layout: &Layout, id: &str, drawn: &Drawn, codes: &[Code], abstain: Option<PairCells>) -> ArmInput {
    let endpoint = |least: State| {
        let frames = clusters(layout, drawn, codes, layout.tasks_per_frame.into(), least);
        let tools = clusters(layout, drawn, codes, layout.tasks_per_tool(), least);
        EndpointInput { affected_frames: frames.clone(), frames, tools }
    };
    let endpoints = [(Endpoint::Selection, endpoint(1)), (Endpoint::Arguments, endpoint(2))].into();
    ArmInput { arm: id.into(), endpoints, abstain, unattempted: 0, refused: None }
}

/// What the harness would have counted in a drawn run.
fn family(layout: &Layout, drawn: &Drawn) -> FamilyInput {
    let many = |cells: &[(Mark, Mark, u64)]| {
        let mut all = PairCells::default();
        cells.iter().for_each(|&(reference, arm, pairs)| all.count_many(reference, arm, pairs));
        all
    };
    let right = right(drawn);
    let (lost, lacking) = drawn.damage;
    let tasks = u64::from(layout.damage_tasks);
    let first_calls = many(&[
        (Mark::Right, Mark::Wrong, lost),
        (Mark::Right, Mark::Missing, lacking),
        (Mark::Right, Mark::Right, tasks - lost - lacking),
    ]);
    let levels = drawn.levels.iter().zip(&drawn.abstain).enumerate().map(|(place, (codes, &(gain, loss, lacking)))| {
        let abstain = many(&[
            (Mark::Wrong, Mark::Right, gain),
            (Mark::Right, Mark::Wrong, loss - lacking),
            (Mark::Right, Mark::Missing, lacking),
            (Mark::Right, Mark::Right, u64::from(layout.abstain_tasks) - gain - loss),
        ]);
        arm(layout, &format!("L{place}"), drawn, codes, Some(abstain))
    });
    FamilyInput {
        kind: FamilyKind::Levels,
        reference: ReferenceInput {
            arm: "raw".into(),
            right: BTreeMap::from([(Endpoint::Selection, right.0), (Endpoint::Arguments, right.1)]),
            tasks: layout.n(),
            unattempted: 0,
        },
        levels: levels.collect(),
        again: Some(arm(layout, "raw-again", drawn, &drawn.again, None)),
        must_not_certify: vec![arm(layout, "planted-loss", drawn, &drawn.planted, None)],
        must_show_damage: vec![ArmInput {
            arm: "names-only".into(),
            endpoints: BTreeMap::from([(
                Endpoint::FirstCall,
                EndpointInput {
                    frames: vec![Cluster { name: "f".into(), cells: first_calls }],
                    ..EndpointInput::default()
                },
            )]),
            abstain: None,
            unattempted: 0,
            refused: None,
        }],
        required_controls: ["raw-again", "planted-loss", "names-only"].map(Arc::from).to_vec(),
    }
}

/// Scenarios in which every status and both words of the label occur.
fn eventful() -> Vec<(Scenario, Vec<f64>)> {
    let base = |name, discordance, noise, rho_frame, rho_tool| Scenario {
        noise,
        ..Scenario::named(name, discordance, rho_frame, rho_tool)
    };
    vec![
        (base("quiet", 0.02, 0.01, 0.3, 0.0), vec![0.0, 0.0, -0.01]),
        (base("noisy", 0.12, 0.06, 0.3, 0.05), vec![0.01, 0.0, 0.0]),
        (base("losing", 0.08, 0.02, 0.5, 0.2), vec![0.02, -0.02, -0.06]),
        (Scenario { missing: 0.002, ..base("missing", 0.03, 0.01, 0.2, 0.0) }, vec![0.0, 0.0, 0.0]),
        (Scenario { accuracy: 0.71, ..base("weak", 0.03, 0.01, 0.2, 0.0) }, vec![0.0]),
        (Scenario { abstain_discordance: 0.3, ..base("talkative", 0.02, 0.01, 0.2, 0.0) }, vec![0.0, 0.0]),
    ]
}

#[test]
fn the_short_cut_says_what_the_executable_rule_says() {
    let protocol = Protocol::built_in().unwrap();
    let rule = Rule::of(&protocol).unwrap();
    let layout = Layout { tools: 20, frames_per_tool: 6, tasks_per_frame: 4, abstain_tasks: 40, damage_tasks: 60 };
    let simulator = Simulator::new(&protocol, layout, "test").unwrap();
    let exact = ExactCache::new();
    let mut seen: BTreeMap<Status, u32> = BTreeMap::new();
    let mut robust = [0, 0];
    for (scenario, truths) in eventful() {
        let passes = simulator.passes(&scenario, &Truths(truths), scenario.selection_share).unwrap();
        let mut scratch = Scratch::default();
        for trial in 0..12 {
            passes.draw(&mut stream(simulator.seed(&scenario.name), trial), &mut scratch.drawn);
            let short = judge(simulator.decision(), &layout, &mut scratch);
            let long = evaluate(&rule, &family(&layout, &scratch.drawn), &exact).unwrap();
            assert_eq!(short.sensitive, long.assay.sensitive(), "{} {trial}: {:?}", scenario.name, long.assay.reasons);
            for (short, long) in short.levels.iter().zip(&long.levels) {
                let place = format!("{} {trial} {}: {:?}", scenario.name, long.arm, long.reasons);
                assert_eq!(short.status, long.status, "{place}");
                assert_eq!(short.tool_robust, long.tool_robust, "{place}");
                *seen.entry(long.status).or_default() += 1;
                robust[usize::from(long.tool_robust)] += u32::from(long.status == Status::Certified);
            }
        }
    }
    let expected = [Status::Certified, Status::Failed, Status::Inconclusive, Status::NotTested, Status::NoVerdict];
    assert!(expected.iter().all(|status| seen.contains_key(status)), "{seen:?}");
    assert!(robust[0] > 0 && robust[1] > 0, "{robust:?}");
}

#[test]
fn size_and_power_agree_with_the_tables_simulated_elsewhere() {
    // Nested tasks, 78 × 6 × 3, δ = 0.02, α = 0.05 (statistics, simulated with 20,000 replicates): size of T_deff over
    // frames, then its power, in percent. G1 and G2 are in the rule too and cost little.
    let published = [
        (0.02, 0.0, 0.5, 5.04, 95.7),
        (0.05, 0.0, 0.0, 4.85, 94.8),
        (0.05, 0.0, 0.5, 5.21, 74.4),
        (0.05, 0.05, 0.5, 8.19, 70.9),
    ];
    let protocol = Protocol::built_in().unwrap();
    let layout = Layout { tools: 78, frames_per_tool: 6, tasks_per_frame: 3, abstain_tasks: 66, damage_tasks: 400 };
    let simulator = Simulator::new(&protocol, layout, "test").unwrap();
    let replicates = 2_000;
    let options = Options { replicates, threads: NonZeroUsize::MIN, replicated: false, selection_share: Some(0.0) };
    for (discordance, rho_tool, rho_frame, size, power) in published {
        let scenario = Scenario::named("published", discordance, rho_frame, rho_tool);
        let gates = |truth: f64| {
            let rates = simulator.rates(&scenario, &Truths(vec![truth]), "published", &options).unwrap();
            100.0 * rates.spread(rates.endpoints[0][1]).rate
        };
        // Four standard errors of the difference, and half a point for G1 and G2.
        let close = |seen: f64, other: f64| {
            let variance = other * (100.0 - other) * (1.0 / replicates as f64 + 1.0 / 20_000.0);
            (seen - other).abs() <= 4.0 * variance.sqrt() + 0.5
        };
        let (at_margin, at_null) = (gates(-0.02), gates(0.0));
        assert!(close(at_margin, size), "{discordance} {rho_tool} {rho_frame}: size {at_margin}, elsewhere {size}");
        assert!(close(at_null, power), "{discordance} {rho_tool} {rho_frame}: power {at_null}, elsewhere {power}");
    }
}

#[test]
fn counts_do_not_depend_on_the_number_of_threads_and_do_on_the_seed() {
    let protocol = Protocol::built_in().unwrap();
    let layout = Layout { tools: 10, frames_per_tool: 6, tasks_per_frame: 5, abstain_tasks: 10, damage_tasks: 50 };
    let scenario = Scenario { noise: 0.01, ..Scenario::named("threads", 0.05, 0.3, 0.05) };
    let rates = |seed: &str, threads: usize| {
        let options = Options {
            replicates: 301,
            threads: NonZeroUsize::new(threads).unwrap(),
            replicated: true,
            selection_share: None,
        };
        let simulator = Simulator::new(&protocol, layout, seed).unwrap();
        simulator.rates(&scenario, &Truths(vec![0.0, -0.004]), "threads", &options).unwrap()
    };
    let one = rates("a", 1);
    assert_eq!(one.replicates, 301);
    assert_eq!(one, rates("a", 4));
    assert_eq!(one, rates("a", 7));
    assert_ne!(one, rates("b", 1));
}
