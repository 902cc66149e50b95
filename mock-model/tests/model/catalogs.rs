//! Over the vendored catalogs: right calls are right, and the controls hurt.

use std::sync::Arc;

use bench_mock_model::{AnswerKey, Behaviour, ScriptedModel};
use bench_tasks::{
    Catalogs, FrameSet, Generator, Intents, Plan, Task,
    results_suite::ResultGenerator,
    score::{UpstreamCall, score},
};
use serde_json::{Map, Value, json};

use crate::support::{ask_bytes, draw, noise, request, user};

struct World {
    catalogs: Catalogs,
    tasks: Vec<Task>,
    key: Arc<AnswerKey>,
}

impl World {
    fn new() -> Self {
        let catalogs = Catalogs::vendored().unwrap();
        let plan = Plan {
            tool_tasks: 312,
            abstain_tasks: 0,
            frames_per_tool: 2,
            abstain_frames: 1,
            frames: FrameSet::Scored,
            allow_incomplete: true,
        };
        let generator = Generator::new(&Intents::embedded(), &catalogs, [3; 32], plan).unwrap();
        let tasks: Vec<Task> = generator.iter().collect();
        let key = Arc::new(AnswerKey::of_tasks(&tasks));
        Self { catalogs, tasks, key }
    }

    /// Share of tasks whose first call is right, with each tool shown as `show` says.
    fn share_right(&self, behaviour: Behaviour, arm: &str, show: impl Fn(Value) -> Value) -> f64 {
        let model = ScriptedModel::new(behaviour, Arc::clone(&self.key), noise());
        let tools: Vec<Value> = self
            .catalogs
            .tools()
            .map(|(catalog, tool)| {
                show(json!({
                    "name": format!("{}__{}", catalog.server, tool.name),
                    "description": tool.description,
                    "input_schema": tool.input_schema,
                }))
            })
            .collect();
        let whole = request(&tools, &user("%")).to_string();
        let (head, tail) = whole.split_once(r#""%""#).unwrap();
        let right = |task: &&Task| {
            let body = format!("{head}{}{tail}", json!(task.utterance));
            let response = ask_bytes(&model, body.as_bytes(), &draw(&task.id.0, arm));
            let calls: Vec<UpstreamCall> =
                response["content"].as_array().unwrap().iter().filter_map(upstream).collect();
            score(task, &self.catalogs, &calls).arguments
        };
        self.tasks.iter().filter(right).count() as f64 / self.tasks.len() as f64
    }
}

fn upstream(block: &Value) -> Option<UpstreamCall> {
    let (server, tool) = block["name"].as_str()?.split_once("__")?;
    let arguments: Map<String, Value> = block["input"].as_object()?.clone();
    Some(UpstreamCall { server: server.to_owned(), tool: tool.to_owned(), arguments })
}

#[test]
fn an_oracle_is_always_right_noisy_mostly_and_names_alone_ruin_both() {
    let world = World::new();
    let whole = |tool| tool;
    let names = |tool: Value| json!({"name": tool["name"], "input_schema": {"type": "object"}});
    let shares = [
        world.share_right(Behaviour::Oracle, "raw", whole),
        world.share_right(Behaviour::Noisy, "raw", whole),
        world.share_right(Behaviour::Noisy, "names-only", names),
        world.share_right(Behaviour::Lexical, "raw", whole),
        world.share_right(Behaviour::Lexical, "names-only", names),
    ];
    assert!((shares[0] - 1.0).abs() < f64::EPSILON, "{shares:?}");
    assert!((0.95..0.998).contains(&shares[1]), "{shares:?}");
    assert!(shares[2] < 0.4, "{shares:?}");
    assert!(shares[3] > shares[4] + 0.1, "{shares:?}");
}

#[test]
fn no_two_questions_of_the_result_suite_have_one_text() {
    let catalogs = Catalogs::vendored().unwrap();
    let generator = ResultGenerator::new(&catalogs, [3; 32], 630).unwrap();
    let tasks: Vec<_> = generator.iter().collect();
    assert_eq!(AnswerKey::of_results(&tasks).len(), tasks.len());
}
