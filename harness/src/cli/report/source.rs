//! What a report needs beside the record, re-made from the record's own inputs.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{prices::PriceTable, verdict::FamilyKind};
use bench_results::{
    record::Record,
    report::{MetaTexts, PlannedArm, Pricing, ServerSize, Sources, TaskFacts, ToolTexts},
};

use crate::{
    arms::{
        Scope,
        definitions::Definitions,
        names::{Named, Place},
    },
    inputs::Inputs,
    run::{
        family::{AnyTask, Family},
        live::{folder, schedule::Planned},
        prepare::Prepared,
    },
    sizes::ArmSizes,
    surface::ShownTool,
};

/// Re-makes everything but the checks.
pub(super) fn sources(record: &Record, inputs: &Inputs, prepared: &Prepared) -> anyhow::Result<Sources> {
    let terms = folder::terms(record.folder())?;
    let planned = |family: &Family| match &terms {
        Some(terms) => terms.planned(inputs, family),
        None => Planned::default(),
    };
    let mut all = Sources {
        protocol: Arc::clone(&inputs.protocol),
        protocol_text: Arc::clone(&inputs.protocol_text),
        planned: Vec::new(),
        tasks: Vec::new(),
        tools: Vec::new(),
        meta: Vec::new(),
        sizes: BTreeMap::new(),
        pricing: pricing(record, inputs)?,
        seed: prepared.seeds.bootstrap,
        checks: Vec::new(),
        not_shown: String::new(),
    };
    for family in &prepared.families {
        let planned = planned(family);
        all.planned.extend(family.arms.iter().map(|arm| {
            let id = arm.info().id.0.as_str();
            let episodes = match planned.subsets.get(id) {
                _ if planned.refused.contains_key(id) => 0,
                Some(subset) => subset.len() as u64,
                None => family.tasks.len(),
            };
            PlannedArm { arm: id.into(), family: family.kind, episodes }
        }));
        all.tasks.extend((0..family.tasks.len()).filter_map(|index| family.tasks.task(index)).map(|task| facts(&task)));
        if family.kind != FamilyKind::Results {
            definitions(prepared, family, &mut all)?;
        }
    }
    Ok(all)
}

fn facts(task: &AnyTask) -> TaskFacts {
    match task {
        AnyTask::Tool(task) => TaskFacts {
            id: task.id.clone(),
            server: task.server.clone(),
            tool: task.tool.clone(),
            stratum: task.stratum.name().into(),
        },
        AnyTask::Result(task) => TaskFacts {
            id: task.id.clone(),
            server: Some(Arc::clone(&task.server)),
            tool: Some(Arc::clone(&task.tool)),
            stratum: Arc::clone(&task.kind),
        },
    }
}

/// A live run has prices of its own. For a scripted model those of the protocol's model are an example.
fn pricing(record: &Record, inputs: &Inputs) -> anyhow::Result<Option<Pricing>> {
    let manifest = record.manifest();
    if manifest.prices.is_some() {
        let table = folder::prices(record.folder())?;
        let row = table.row(&manifest.model.asked).cloned();
        return Ok(row.map(|price| Pricing { price, billed: true }));
    }
    let row = PriceTable::built_in()?.row(&inputs.protocol.model.id).cloned();
    Ok(row.map(|price| Pricing { price, billed: false }))
}

fn definitions(prepared: &Prepared, family: &Family, all: &mut Sources) -> anyhow::Result<()> {
    let definitions: &Definitions = prepared.registry.definitions();
    let sessions = family.arms.iter().map(|arm| arm.open(Scope::Catalogs)).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<Arc<str>> = family.arms.iter().map(|arm| Arc::from(arm.info().id.0.as_str())).collect();
    for (server, at) in definitions.servers.iter().zip(0..) {
        for (tool, place) in server.tools.iter().zip(0..) {
            let name = definitions.names.tool(Place { server: at, tool: place });
            // The reference stands first, and is what the others are compared with.
            let shown = ids.iter().zip(&sessions).skip(1);
            all.tools.push(ToolTexts {
                server: Arc::clone(&server.name),
                tool: Arc::clone(&tool.upstream.name),
                original: lines(&tool.raw),
                shown: shown
                    .map(|(id, open)| (Arc::clone(id), open.surface().tool(name).map(|tool| lines(tool))))
                    .collect(),
            });
        }
    }
    for (id, session) in ids.iter().zip(&sessions) {
        let added = session
            .surface()
            .tools()
            .iter()
            .filter(|tool| !matches!(definitions.names.get(tool.name()), Some(Named::Tool(_))));
        all.meta.extend(added.map(|tool| MetaTexts {
            arm: Arc::clone(id),
            name: tool.name().to_owned(),
            text: lines(tool),
        }));
    }
    for arm in &family.arms {
        let sizes = ArmSizes::of(arm.as_ref(), definitions)?;
        let size = |(server, size): (String, crate::sizes::Size)| ServerSize {
            server,
            tools: size.tools as u64,
            bytes: size.bytes as u64,
            tokens: size.tokens as u64,
        };
        all.sizes.insert(sizes.arm, sizes.servers.into_iter().map(size).collect());
    }
    Ok(())
}

/// A definition in lines, so that a difference points at what changed.
fn lines(tool: &ShownTool) -> String {
    let schema: serde_json::Value = serde_json::from_str(tool.schema().get()).unwrap_or_default();
    let schema = serde_json::to_string_pretty(&schema).unwrap_or_default();
    let description = tool.description().unwrap_or_default();
    format!("{}\n\n{description}\n\n{schema}\n", tool.name())
}
