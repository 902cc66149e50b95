//! The scripted model as a model of an offline run.

use std::sync::Arc;

use anyhow::Context as _;
use bench_mock_model::{AnswerKey, Behaviour, Draw, Noise, Rates, ScriptedModel};
use bench_protocol::{rng::Seed, spec::MockNoise};
use bench_results::record::DrawId;

use super::{
    family::{AnyTask, Family, TaskSource},
    offline::InProcessModel,
    prepare::Prepared,
};

/// The scripted model, with the answer key of a run.
pub struct Mock(ScriptedModel);

impl Mock {
    /// A model of this behaviour that knows the tasks of these families.
    pub fn new(behaviour: Behaviour, rates: &MockNoise, prepared: &Prepared) -> Self {
        Self::with_noise(behaviour, Noise::new(self::rates(rates), prepared.seeds.mock), prepared)
    }

    /// Any scripted model.
    pub fn scripted(model: ScriptedModel) -> Self {
        Self(model)
    }

    /// As [`Self::new`], with noise of one's own: planted losses, for instance.
    pub fn with_noise(behaviour: Behaviour, noise: Noise, prepared: &Prepared) -> Self {
        Self::knowing(behaviour, noise, &prepared.families)
    }

    /// As [`Self::new`], for families that no protocol describes.
    pub fn of_families(behaviour: Behaviour, rates: &MockNoise, families: &[Family], seed: Seed) -> Self {
        Self::knowing(behaviour, Noise::new(self::rates(rates), seed), families)
    }

    fn knowing(behaviour: Behaviour, noise: Noise, families: &[Family]) -> Self {
        let key = families.iter().map(|family| answer_key(&family.tasks)).fold(AnswerKey::default(), AnswerKey::merge);
        Self(ScriptedModel::new(behaviour, Arc::new(key), noise))
    }
}

impl InProcessModel for Mock {
    fn respond(&self, body: &[u8], draw: &DrawId) -> anyhow::Result<Vec<u8>> {
        let place = Draw { task: &draw.task.0, arm: &draw.arm, turn: draw.turn };
        self.0
            .respond(body, &place)
            .with_context(|| format!("the scripted model refused the request of task {} under {}", draw.task, draw.arm))
    }
}

/// The protocol's rates.
pub fn rates(noise: &MockNoise) -> Rates {
    Rates {
        wrong_tool_ppm: noise.wrong_tool_ppm,
        wrong_arguments_ppm: noise.wrong_arguments_ppm,
        blind_argument_ppm: noise.blind_argument_ppm,
        abstain_call_ppm: noise.abstain_call_ppm,
        misread_result_ppm: noise.misread_result_ppm,
        skips_expand_ppm: noise.skips_expand_ppm,
    }
}

/// The answer key to these tasks.
pub fn answer_key(tasks: &TaskSource) -> AnswerKey {
    let tasks: Vec<AnyTask> = (0..tasks.len()).filter_map(|index| tasks.task(index)).collect();
    let tools = AnswerKey::of_tasks(tasks.iter().filter_map(|task| match task {
        AnyTask::Tool(task) => Some(task),
        AnyTask::Result(_) => None,
    }));
    let results = AnswerKey::of_results(tasks.iter().filter_map(|task| match task {
        AnyTask::Tool(_) => None,
        AnyTask::Result(task) => Some(task),
    }));
    tools.merge(results)
}
