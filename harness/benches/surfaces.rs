//! How long it takes to build arms, to open sessions, and to digest a result.

use std::{fmt::Write as _, hint::black_box, sync::Arc, time::Duration};

use bench_harness::arms::{
    ArmContext, Scope, ToolCall, WarmUp,
    registry::{self, Registry},
};
use bench_tasks::{
    catalog::{Catalog, Catalogs},
    result::ToolResult,
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

fn context(catalogs: Catalogs) -> ArmContext {
    ArmContext {
        catalogs: Arc::new(catalogs),
        warm_up: WarmUp::default(),
        pins: (8, 3),
        seed: [0; 32],
        planted_loss_ppm: 60_000,
    }
}

/// The reference catalogs' tools, repeated up to 1,600 tools on 20 servers with other names.
fn many(reference: &Catalogs) -> Catalogs {
    let tools: Vec<Value> =
        reference.tools().filter_map(|(_, tool)| serde_json::from_str(tool.raw.get()).ok()).collect();
    let catalogs = (0..20).filter_map(|server| {
        let own: Vec<Value> = (0..80)
            .map(|number| {
                let mut tool = tools[(server * 80 + number) % tools.len()].clone();
                tool["name"] = json!(format!("tool_{server}_{number}"));
                tool
            })
            .collect();
        let file = json!({ "tools_list_pages": [{ "tools": own }] }).to_string();
        Catalog::parse(&format!("server{server:02}"), "many", file.into_bytes().into()).ok()
    });
    Catalogs { catalogs: catalogs.collect() }
}

fn benches(c: &mut Criterion) {
    let Ok(reference) = Catalogs::vendored() else { return };
    let many = context(many(&reference));
    let reference = context(reference);
    let ids: Vec<String> = registry::all().into_iter().map(|info| info.id.0).collect();

    c.bench_function("build all arms, 8 servers", |b| {
        b.iter(|| {
            let Ok(registry) = Registry::new(&reference) else { return 0 };
            ids.iter().filter(|id| registry.build(id).is_ok()).count()
        });
    });
    c.bench_function("definitions, 1,600 tools", |b| b.iter(|| Registry::new(&many).is_ok()));
    // What arms share is built anew each time and not counted: nothing that an arm counts or indexes is left over. Few
    // samples: there are many arms, and each takes milliseconds.
    let mut builds = c.benchmark_group("1,600 tools");
    builds.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    for id in &ids {
        builds.bench_function(format!("build {id}"), |b| {
            // What comes out is dropped outside of what is timed.
            b.iter_batched(
                || Registry::new(&many),
                |registry| {
                    let arm = registry.as_ref().ok().and_then(|registry| registry.build(id).ok());
                    (registry, arm)
                },
                BatchSize::PerIteration,
            );
        });
    }
    builds.finish();

    if let Ok(arm) = registry::build("L2", &reference) {
        let fetch = ToolCall {
            name: "git__get_tool_schema".to_owned(),
            arguments: json!({ "tool_name": "git_log" }).as_object().cloned().unwrap_or_default(),
        };
        c.bench_function("open L2, fetch one schema", |b| {
            b.iter(|| arm.open(Scope::Catalogs).map(|mut session| black_box(session.call(&fetch))).is_ok());
        });
    }

    let mut log = String::from("Commit history:\n");
    for n in 0..40 {
        let hash = n * 7_919 % 65_536;
        let _ = write!(
            log,
            "Commit: {hash:040x}\nAuthor: Wren Okafor\nDate: 2026-03-01 10:00:00+00:00\nMessage: change {n}\n\n"
        );
    }
    let result = ToolResult::text(log);
    if let Ok(arm) = registry::build("R", &reference) {
        c.bench_function("digest a log of 40 commits", |b| {
            b.iter_batched(
                || arm.open(Scope::Tool { server: "git", tool: "git_log" }),
                |session| session.map(|mut session| black_box(session.digest("git", "git_log", &result))).is_ok(),
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(surfaces, benches);
criterion_main!(surfaces);
