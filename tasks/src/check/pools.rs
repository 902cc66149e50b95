//! Pool values: twice the same, or the same as a word of the schema.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::{Finding, FindingKind};
use crate::{
    catalog::Catalogs,
    generate::Permutation,
    intent::{Frame, Intents},
    slots::Pool,
};

/// Pools up to this size are read through; of larger ones as many entries are drawn.
const READ_LIMIT: u64 = 10_000;

/// File and name of a pool.
type PoolKey = (Arc<str>, Arc<str>);

pub(super) fn check(intents: &Intents, catalogs: &Catalogs, findings: &mut Vec<Finding>) {
    let mut users: BTreeMap<PoolKey, Vec<(&Frame, &Arc<Pool>)>> = BTreeMap::new();
    for frame in intents.frames() {
        for slot in &frame.slots {
            users.entry((Arc::clone(&frame.file), Arc::clone(&slot.pool.name))).or_default().push((frame, &slot.pool));
        }
    }
    for ((file, name), users) in &users {
        // The first frame that draws from a pool stands for it in messages.
        let Some(&(first, pool)) = users.first() else {
            continue;
        };
        for (part, value) in duplicates(pool) {
            let message = format!("pool {part} holds {value} twice; drop one");
            findings.push(Finding::error(FindingKind::DuplicateValue, file, None, None, message));
        }
        let strings = strings(pool);
        let mut tools = BTreeSet::new();
        for (frame, _) in users {
            let Some(tool) =
                frame.server.as_ref().zip(frame.tool.as_ref()).and_then(|(server, tool)| catalogs.tool(server, tool))
            else {
                continue;
            };
            if !tools.insert(Arc::clone(&tool.name)) {
                continue;
            }
            let mut words = Words::default();
            words.collect(&tool.input_schema);
            for column in &strings {
                let enums: Vec<&String> = column.values.iter().filter(|value| words.enums.contains(*value)).collect();
                // A pool of nothing but enum words is that enumeration.
                if !enums.is_empty() && enums.len() < column.values.len() {
                    let message = format!(
                        "pool {name} holds {:?}, which is an enum word of {}; replace the value",
                        enums[0], tool.name
                    );
                    findings.push(Finding::error(
                        FindingKind::Collision,
                        file,
                        Some(frame.line),
                        Some(&frame.id),
                        message,
                    ));
                }
                if let Some(value) = column.values.iter().find(|value| words.arguments.contains(*value)) {
                    let message =
                        format!("pool {name} holds {value:?}, which is also an argument's name in {}", tool.name);
                    findings.push(Finding::warning(
                        FindingKind::Collision,
                        file,
                        Some(frame.line),
                        Some(&frame.id),
                        message,
                    ));
                }
            }
        }
        if let Some((slot, value)) = first
            .slots
            .iter()
            .find_map(|slot| strings.iter().find_map(|column| Some((slot, column.values.get(&*slot.name)?))))
        {
            let message = format!("pool {name} holds {value:?}, which is also the name of slot {}", slot.name);
            findings.push(Finding::warning(FindingKind::Collision, file, Some(first.line), Some(&first.id), message));
        }
    }
}

/// Values that occur twice: in the pool itself, or in a part of it. At most one per pool.
fn duplicates(pool: &Pool) -> Vec<(String, String)> {
    let mut seen = HashMap::new();
    let whole = indices(pool).find_map(|index| {
        let row = pool.get(index);
        let text = Value::from(row.to_vec()).to_string();
        seen.insert(text.clone(), index).map(|_| (pool.name.to_string(), text))
    });
    whole
        .into_iter()
        .chain(
            pool.parts()
                .iter()
                .flat_map(|part| duplicates(part))
                .map(|(part, value)| (format!("{} (part {part})", pool.name), value)),
        )
        .collect()
}

fn indices(pool: &Pool) -> impl Iterator<Item = u64> {
    let permutation = Permutation::new(pool.len(), &mut ChaCha8Rng::from_seed([0; 32]));
    (0..pool.len().min(READ_LIMIT)).map(move |at| permutation.apply(at))
}

struct Column {
    values: BTreeSet<String>,
}

/// The string values of each column.
fn strings(pool: &Pool) -> Vec<Column> {
    let mut columns: Vec<Column> = pool.columns.iter().map(|_| Column { values: BTreeSet::new() }).collect();
    for index in indices(pool) {
        for (column, value) in columns.iter_mut().zip(pool.get(index).iter()) {
            if let Value::String(text) = value {
                column.values.insert(text.clone());
            }
        }
    }
    columns
}

/// What a schema calls things.
#[derive(Default)]
struct Words {
    enums: BTreeSet<String>,
    arguments: BTreeSet<String>,
}

impl Words {
    fn collect(&mut self, schema: &Value) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Array(words)) = members.get("enum") {
                    self.enums.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                if let Some(Value::Object(properties)) = members.get("properties") {
                    self.arguments.extend(properties.keys().cloned());
                    properties.values().for_each(|property| self.collect(property));
                }
                for (key, value) in members {
                    if !matches!(key.as_str(), "properties" | "enum" | "default" | "const" | "examples") {
                        self.collect(value);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            _ => {}
        }
    }
}
