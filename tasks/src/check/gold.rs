//! Golds against the catalogs: tool, arguments, schema.

use serde_json::Value;

use super::{CheckOptions, Finding, FindingKind, matchers, nearest};
use crate::{catalog::Catalogs, generate::Sampler, intent::Frame, slots::Row};

pub(super) fn check(frame: &Frame, catalogs: &Catalogs, options: &CheckOptions, findings: &mut Vec<Finding>) {
    let mut error =
        |kind, message| findings.push(Finding::error(kind, &frame.file, Some(frame.line), Some(&frame.id), message));
    let fillings = fillings(frame, options);
    for gold in &frame.gold {
        let Some(catalog) = catalogs.get(&gold.server) else {
            let known = catalogs.catalogs.iter().map(|catalog| &*catalog.server);
            error(
                FindingKind::UnknownServer,
                format!("there is no catalog {}{}", gold.server, hint(&gold.server, known)),
            );
            continue;
        };
        let Some(tool) = catalog.tool(&gold.tool) else {
            let known = catalog.tools.iter().map(|tool| &*tool.name);
            error(
                FindingKind::UnknownTool,
                format!("catalog {} lists no tool {}{}", gold.server, gold.tool, hint(&gold.tool, known)),
            );
            continue;
        };
        if let Some(properties) = tool.input_schema.get("properties").and_then(Value::as_object) {
            for (argument, _) in &gold.arguments {
                if !properties.contains_key(argument) {
                    let hint = hint(argument, properties.keys().map(String::as_str));
                    error(FindingKind::UnknownArgument, format!("{} has no argument {argument}{hint}", gold.tool));
                }
            }
        }
        // One broken filling per gold says enough.
        let broken = fillings.iter().find_map(|rows| {
            let arguments = gold.fill(rows);
            let why = tool.validate(&arguments).err()?;
            Some(format!("gold {} breaks the schema of {}: {why}", Value::from(arguments), gold.tool))
        });
        if let Some(message) = broken {
            error(FindingKind::InvalidGold, message);
        } else if let Some(rows) = fillings.first() {
            matchers::check(gold, rows, tool, &mut |message| error(FindingKind::Matcher, message));
        }
    }
}

/// The corners of the pools (all first, all last entries) and a seeded sample.
fn fillings<'a>(frame: &'a Frame, options: &CheckOptions) -> Vec<Vec<Row<'a>>> {
    let corner =
        |last: bool| frame.slots.iter().map(|slot| slot.pool.get(if last { slot.pool.len() - 1 } else { 0 })).collect();
    let sampler = Sampler::new(frame, &options.seed);
    let sample = (0..options.fillings).map(|item| {
        let draw = sampler.draw(item);
        frame.slots.iter().zip(draw.indices).map(|(slot, index)| slot.pool.get(index)).collect()
    });
    [corner(false), corner(true)].into_iter().chain(sample).collect()
}

fn hint<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(unknown, known).map(|known| format!("; did you mean {known}?")).unwrap_or_default()
}
