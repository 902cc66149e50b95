//! Single episodes, re-made: what the model was asked, did and read.

use std::collections::BTreeMap;

use bench_results::{
    record::Record,
    report::{CallText, Scenes, Step, TaskText},
};
use bench_tasks::task::TaskId;
use serde_json::{Value, value::RawValue};

use crate::{
    inputs::Inputs,
    run::{
        family::{AnyTask, Family},
        live::folder,
        prepare::Prepared,
    },
    wire::{Entry, Reply, Wire},
};

/// Finds tasks and re-runs episodes from their recorded responses.
pub(super) struct Stage<'a> {
    inputs: &'a Inputs,
    prepared: &'a Prepared,
    wire: &'static dyn Wire,
    places: BTreeMap<TaskId, (usize, u64)>,
}

impl<'a> Stage<'a> {
    /// The stage of a record.
    pub(super) fn new(record: &Record, inputs: &'a Inputs, prepared: &'a Prepared) -> anyhow::Result<Self> {
        let wire = folder::wire(record.folder())?;
        let mut places = BTreeMap::new();
        for (at, family) in prepared.families.iter().enumerate() {
            for index in 0..family.tasks.len() {
                if let Some(task) = family.tasks.task(index) {
                    places.insert(task.id().clone(), (at, index));
                }
            }
        }
        Ok(Self { inputs, prepared, wire, places })
    }

    fn find(&self, id: &TaskId) -> Option<(&'a Family, AnyTask)> {
        let &(family, index) = self.places.get(id)?;
        let family = &self.prepared.families[family];
        Some((family, family.tasks.task(index)?))
    }
}

impl Scenes for Stage<'_> {
    fn task(&self, id: &TaskId) -> Option<TaskText> {
        let (_, task) = self.find(id)?;
        let gold = match &task {
            AnyTask::Tool(task) => task
                .gold
                .iter()
                .map(|gold| format!("{}/{} {}", gold.server, gold.tool, Value::from(gold.arguments.clone())))
                .collect(),
            AnyTask::Result(task) => vec![format!("Answer: {}", task.gold.answer)],
        };
        Some(TaskText { utterance: task.utterance().to_owned(), gold })
    }

    /// Where a response no longer leads on, the steps end there: `bench verify` is who complains.
    fn steps(&self, id: &TaskId, arm: &str, responses: &[Box<RawValue>]) -> Vec<Step> {
        let Some((family, task)) = self.find(id) else { return Vec::new() };
        let Some(arm) = family.arms.iter().find(|known| known.info().id.0 == arm) else { return Vec::new() };
        let rule = &self.inputs.protocol.episode;
        let Ok(mut episode) = task.episode(arm.as_ref(), &self.inputs.catalogs, rule) else { return Vec::new() };
        let mut steps = Vec::new();
        let mut read = 0;
        let mut answers = |entries: &[Entry], steps: &mut Vec<Step>| {
            for entry in &entries[read.min(entries.len())..] {
                match entry {
                    Entry::Results(answers) => steps.extend(
                        answers
                            .iter()
                            .map(|answer| Step::Answer { text: answer.text.join("\n"), error: answer.is_error }),
                    ),
                    Entry::Call { name, arguments, .. } => steps.push(Step::Answer {
                        text: format!("the call that was made: {name} {}", Value::from(arguments.clone())),
                        error: false,
                    }),
                    Entry::User(_) | Entry::Assistant(_) => {}
                }
            }
            read = entries.len();
        };
        answers(episode.entries(), &mut steps);
        for response in responses {
            if episode.ended() {
                break;
            }
            let Ok(reply) = self.wire.decode(response.get().as_bytes()) else { break };
            steps.push(spoken(&reply));
            episode.accept(reply);
            answers(episode.entries(), &mut steps);
        }
        steps
    }
}

fn spoken(reply: &Reply) -> Step {
    let calls = reply.calls.iter().map(|call| CallText {
        name: call.name.clone(),
        arguments: match &call.arguments {
            Ok(arguments) => Value::from(arguments.clone()).to_string(),
            Err(text) => text.clone(),
        },
    });
    Step::Model { text: reply.text.clone(), calls: calls.collect() }
}
