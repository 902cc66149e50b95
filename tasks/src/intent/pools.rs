//! The pools of one file: definitions that may name each other.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize as _;
use serde_json::Value;
use toml::{Spanned, Table};

use super::raw::{RawPool, json};
use crate::{
    check::nearest,
    slots::{Pool, ValueTemplate},
};

/// All pools of a file that could be built, and what is wrong with the others: `(byte offset, message)`.
pub(super) struct Pools {
    pub by_name: BTreeMap<String, Arc<Pool>>,
    pub problems: Vec<(usize, String)>,
}

pub(super) fn build(raw: &BTreeMap<String, Spanned<RawPool>>) -> Pools {
    let mut builder = Builder { raw, done: BTreeMap::new() };
    let mut pools = Pools { by_name: BTreeMap::new(), problems: Vec::new() };
    for (name, definition) in raw {
        match builder.named(name, &mut Vec::new()) {
            Ok(pool) => {
                pools.by_name.insert(name.clone(), pool);
            }
            Err(cause) => pools.problems.push((definition.span().start, format!("pool {name}: {cause}"))),
        }
    }
    pools
}

struct Builder<'a> {
    raw: &'a BTreeMap<String, Spanned<RawPool>>,
    done: BTreeMap<String, Arc<Pool>>,
}

impl Builder<'_> {
    /// Builds a pool and the pools it names; `open` are those being built, to find circles.
    fn named(&mut self, name: &str, open: &mut Vec<String>) -> Result<Arc<Pool>, String> {
        if let Some(pool) = self.done.get(name) {
            return Ok(Arc::clone(pool));
        }
        let Some(raw) = self.raw.get(name) else {
            let hint =
                nearest(name, self.raw.keys().map(String::as_str)).map(|known| format!("; did you mean {known}?"));
            return Err(format!("there is no pool {name} in this file{}", hint.unwrap_or_default()));
        };
        if open.iter().any(|other| other == name) {
            return Err(format!("its parts go in a circle through {name}"));
        }
        open.push(name.to_owned());
        let pool = Arc::new(self.pool(name, raw.get_ref(), open)?);
        open.pop();
        self.done.insert(name.to_owned(), Arc::clone(&pool));
        Ok(pool)
    }

    fn pool(&mut self, name: &str, raw: &RawPool, open: &mut Vec<String>) -> Result<Pool, String> {
        let pool = match raw {
            RawPool {
                values: Some(values),
                columns: None,
                rows: None,
                from: None,
                to: None,
                template: None,
                parts: None,
            } => values_pool(name, values)?,
            RawPool {
                values: None,
                columns: Some(columns),
                rows: Some(rows),
                from: None,
                to: None,
                template: None,
                parts: None,
            } => rows_pool(name, columns, rows)?,
            RawPool {
                values: None,
                columns: None,
                rows: None,
                from: Some(from),
                to: Some(to),
                template: None,
                parts: None,
            } => Pool::range(name, *from, *to)?,
            RawPool {
                values: None,
                columns: None,
                rows: None,
                from: None,
                to: None,
                template: Some(template),
                parts: Some(parts),
            } => self.product(name, template, parts, open)?,
            _ => {
                return Err("it needs either values, or columns and rows, or from and to, or template and parts".into());
            }
        };
        if pool.is_empty() { Err("it is empty".into()) } else { Ok(pool) }
    }

    fn product(
        &mut self,
        name: &str,
        template: &toml::Value,
        parts: &Table,
        open: &mut Vec<String>,
    ) -> Result<Pool, String> {
        let mut names = Vec::new();
        let mut pools = Vec::new();
        for (part, definition) in parts {
            let pool = match definition {
                toml::Value::String(pool) => self.named(pool, open),
                toml::Value::Array(values) => values_pool(part, values).map(Arc::new),
                table @ toml::Value::Table(_) => RawPool::deserialize(table.clone())
                    .map_err(|error| error.message().to_owned())
                    .and_then(|raw| self.pool(part, &raw, open))
                    .map(Arc::new),
                other => Err(format!("{other} is not a list, a pool's name or a table")),
            };
            pools.push(pool.map_err(|cause| format!("part {part}: {cause}"))?);
            names.push(part.as_str());
        }
        if let Some(empty) = names.iter().zip(&pools).find(|(_, pool)| pool.is_empty()) {
            return Err(format!("part {} is empty", empty.0));
        }
        let resolve = |part: &str, column: Option<&str>| match names.iter().position(|name| *name == part) {
            Some(at) => pools[at].place(at, part, column),
            None => Err(format!("there is no part {part}; the parts are {}", names.join(", "))),
        };
        let (columns, templates): (Vec<Arc<str>>, Vec<Value>) = match template {
            toml::Value::Table(columns) => columns
                .iter()
                .map(|(column, template)| Ok((column.as_str().into(), json(template)?)))
                .collect::<Result<Vec<_>, String>>()?
                .into_iter()
                .unzip(),
            single => (vec!["".into()], vec![json(single)?]),
        };
        let templates =
            templates.iter().map(|template| ValueTemplate::parse(template, &resolve)).collect::<Result<Vec<_>, _>>()?;
        for (at, part) in names.iter().enumerate() {
            if !templates.iter().flat_map(ValueTemplate::places).any(|place| place.slot == at) {
                return Err(format!("part {part} is not used, so every value would occur {} times", pools[at].len()));
            }
        }
        Pool::product(name, columns, templates, pools)
    }
}

fn values_pool(name: &str, values: &[toml::Value]) -> Result<Pool, String> {
    let rows = values.iter().map(|value| Ok(vec![json(value)?])).collect::<Result<_, String>>()?;
    Ok(Pool::rows(name, vec!["".into()], rows))
}

fn rows_pool(name: &str, columns: &[String], rows: &[Vec<toml::Value>]) -> Result<Pool, String> {
    for (at, column) in columns.iter().enumerate() {
        if column.is_empty() || columns[..at].contains(column) {
            return Err(format!("column name {column:?} is empty or occurs twice"));
        }
    }
    let rows = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            if row.len() != columns.len() {
                return Err(format!("row {} has {} of the {} columns", at + 1, row.len(), columns.len()));
            }
            row.iter().map(json).collect()
        })
        .collect::<Result<_, String>>()?;
    Ok(Pool::rows(name, columns.iter().map(|column| column.as_str().into()).collect(), rows))
}
