use std::sync::Arc;

use bench_mock_model::{AnswerKey, Behaviour, Noise, Rates, ScriptedModel};
use bench_tasks::{
    generate::{FrameSet, Generator, Plan},
    sessions::SessionPlan,
};

use super::*;
use crate::{
    arms::{fixtures::context, registry::Registry},
    inputs::{Inputs, Overrides},
    run::mock::Mock,
    wire::Settings,
};

fn sums(ids: &[&str]) -> Vec<ArmSums> {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let plan = Plan {
        tool_tasks: 468,
        abstain_tasks: 0,
        frames_per_tool: 6,
        abstain_frames: 0,
        frames: FrameSet::Scored,
        allow_incomplete: true,
    };
    let generator = Generator::new(&inputs.intents, &inputs.catalogs, [1; 32], plan).unwrap();
    let sessions = Sessions::new(&generator, [2; 32], SessionPlan::default()).unwrap();
    let count = 6;
    let tasks: Vec<_> = (0..count).flat_map(|index| sessions.session(index).steps).map(|step| step.task).collect();
    let key = Arc::new(AnswerKey::of_tasks(&tasks));
    let model = Mock::scripted(ScriptedModel::new(Behaviour::Oracle, key, Noise::new(Rates::default(), [3; 32])));
    let settings = Settings::of(&inputs.protocol);
    let setting = Setting::scripted(&inputs, &settings);
    let results = CannedResults::new(&inputs.catalogs, [4; 32]);
    let shared = SessionSetting { setting, results: &results, cache_minimum: 0 };
    let registry = Registry::new(&context()).unwrap();
    let run = |id: &&str| run(registry.build(id).unwrap().as_ref(), &sessions, count, &shared, &model).unwrap();
    ids.iter().map(run).collect()
}

#[test]
fn an_oracle_is_right_throughout_and_unlocked_tools_save_turns_later() {
    let [raw, lazy, stacked] = &sums(&["raw", "L2", "L2+R"])[..] else { panic!() };
    for arm in [raw, lazy, stacked] {
        let all = arm.over(0..20);
        assert_eq!((all.requests, all.arguments), (120, 120), "{}", arm.arm);
    }
    assert_eq!(raw.over(0..20).turns, 120);
    assert_eq!(raw.over(0..20).breaks, 0);
    // Every first use fetches; what comes back is there.
    assert_eq!(lazy.over(0..1).turns, 12);
    assert!(lazy.over(10..20).turns < 2 * 60, "{:?}", lazy.over(10..20));
    assert!(lazy.over(0..20).breaks > 0);
    // Long results stay in the conversation: digested ones weigh less.
    assert!(stacked.over(10..20).classes.prompt() < lazy.over(10..20).classes.prompt());
}

#[test]
fn history_driven_arms_run_through_a_session() {
    for arm in sums(&["uimcp-reimpl", "mcpdiet-reimpl", "L3"]) {
        let all = arm.over(0..20);
        assert!(all.selection * 10 >= all.requests * 7, "{}: {all:?}", arm.arm);
    }
}
