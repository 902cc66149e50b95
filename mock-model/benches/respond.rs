//! Cost of one response to a request that shows all vendored tools.

use std::{hint::black_box, sync::Arc};

use bench_mock_model::{AnswerKey, Behaviour, Draw, Noise, Rates, ScriptedModel};
use bench_tasks::{Catalogs, task::Task};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

const TEXT: &str = "Show me the last 3 commits of /srv/app";

fn body() -> Vec<u8> {
    let catalogs = Catalogs::vendored().unwrap_or_else(|error| panic!("{error}"));
    let tools: Vec<Value> = catalogs
        .tools()
        .map(|(catalog, tool)| {
            json!({
                "name": format!("{}__{}", catalog.server, tool.name),
                "description": tool.description,
                "input_schema": tool.input_schema,
            })
        })
        .collect();
    let system =
        json!([{"type": "text", "text": "You are an assistant. ".repeat(20), "cache_control": {"type": "ephemeral"}}]);
    let messages = json!([{"role": "user", "content": TEXT}]);
    json!({"model": "m", "max_tokens": 1024, "tools": tools, "system": system, "messages": messages})
        .to_string()
        .into_bytes()
}

fn key() -> Arc<AnswerKey> {
    let task: Task = serde_json::from_value(json!({
        "id": "t1", "suite": "tools", "server": "git", "tool": "git_log", "frame": "git/git_log/f", "stratum": "plain",
        "utterance": TEXT,
        "gold": [{"server": "git", "tool": "git_log", "arguments": {"repo_path": "/srv/app", "max_count": 3}, "match": {}}],
    }))
    .unwrap_or_else(|error| panic!("{error}"));
    Arc::new(AnswerKey::of_tasks(&[task]))
}

fn respond(c: &mut Criterion) {
    let body = body();
    let key = key();
    let noise = Noise::new(Rates { wrong_tool_ppm: 8_000, wrong_arguments_ppm: 12_000, ..Rates::default() }, [1; 32]);
    let draw = Draw { task: "t1", arm: "raw", turn: 1 };
    let known = ScriptedModel::new(Behaviour::Noisy, Arc::clone(&key), noise.clone());
    c.bench_function(&format!("respond/known tool list, {} bytes", body.len()), |b| {
        b.iter(|| known.respond(black_box(&body), &draw));
    });
    c.bench_function("respond/new tool list", |b| {
        b.iter(|| {
            ScriptedModel::new(Behaviour::Noisy, Arc::clone(&key), noise.clone()).respond(black_box(&body), &draw)
        });
    });
}

criterion_group!(benches, respond);
criterion_main!(benches);
