//! Matchers as intents write them: values in `any-of` and `allow` may hold slots.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toml::Table;

use super::raw::json;
use crate::{
    matcher::{ArgumentPath, Matcher, Matchers},
    slots::{Place, Resolve, Row, Template, ValueTemplate},
};

/// A matcher whose values may hold slots.
#[derive(Debug, Clone, PartialEq)]
pub enum MatcherTemplate {
    /// No slots.
    Fixed(Matcher),
    /// `any-of` with slots.
    AnyOf(ValueTemplate),
    /// `allow` with slots, and how its values are compared.
    Allow(ValueTemplate, Matcher),
}

/// The matchers of a gold template.
#[derive(Debug, Clone, PartialEq)]
pub enum MatchersTemplate {
    /// Without slots: one value for all tasks.
    Fixed(Arc<Matchers>),
    /// With slots: made for each task.
    Filled(Vec<(String, ArgumentPath, MatcherTemplate)>),
}

impl MatchersTemplate {
    pub(super) fn new(entries: Vec<(String, ArgumentPath, MatcherTemplate)>) -> Self {
        let fixed: Option<Vec<_>> = entries
            .iter()
            .map(|(text, path, matcher)| match matcher {
                MatcherTemplate::Fixed(matcher) => Some((text.clone(), path.clone(), matcher.clone())),
                _ => None,
            })
            .collect();
        match fixed {
            Some(fixed) => Self::Fixed(Arc::new(Matchers::from_parsed(fixed))),
            None => Self::Filled(entries),
        }
    }

    pub(super) fn fill(&self, rows: &[Row<'_>]) -> Arc<Matchers> {
        match self {
            Self::Fixed(matchers) => Arc::clone(matchers),
            Self::Filled(entries) => Arc::new(Matchers::from_parsed(
                entries.iter().map(|(text, path, matcher)| (text.clone(), path.clone(), matcher.fill(rows))).collect(),
            )),
        }
    }
}

impl MatcherTemplate {
    fn fill(&self, rows: &[Row<'_>]) -> Matcher {
        let values = |template: &ValueTemplate| match template.fill(rows) {
            Value::Array(values) => values,
            single => vec![single],
        };
        match self {
            Self::Fixed(matcher) => matcher.clone(),
            Self::AnyOf(template) => Matcher::AnyOf(values(template)),
            Self::Allow(template, by) => Matcher::Allow { values: values(template), by: Box::new(by.clone()) },
        }
    }

    /// Places of slots inside.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::AnyOf(template) | Self::Allow(template, _) => template.places(),
        }
    }
}

/// Merges `match` tables, later ones over earlier ones, with an `allow` table. Problems go to `problem`.
pub(super) fn read(
    tables: &[&Table],
    allow: &Table,
    resolve: &Resolve<'_>,
    problem: &mut dyn FnMut(String),
) -> Vec<(String, ArgumentPath, MatcherTemplate)> {
    let mut merged: BTreeMap<String, (ArgumentPath, MatcherTemplate)> = BTreeMap::new();
    for (text, value) in tables.iter().flat_map(|table| table.iter()) {
        let read = ArgumentPath::parse(text).and_then(|path| Ok((path, matcher(&json(value)?, resolve)?)));
        match read {
            Ok(entry) => {
                merged.insert(text.clone(), entry);
            }
            Err(cause) => problem(format!("match, {text}: {cause}")),
        }
    }
    for (text, value) in allow {
        // An argument that the intent has a matcher for is compared by it where it is allowed as well.
        let by = match merged.get(text) {
            Some((_, MatcherTemplate::Fixed(by))) => by.clone(),
            _ => Matcher::Exact,
        };
        let read = ArgumentPath::parse(text).and_then(|path| Ok((path, allowed(&json(value)?, by, resolve)?)));
        match read {
            Ok(entry) => {
                merged.insert(text.clone(), entry);
            }
            Err(cause) => problem(format!("allow, {text}: {cause}")),
        }
    }
    merged.into_iter().map(|(text, (path, matcher))| (text, path, matcher)).collect()
}

fn allowed(value: &Value, by: Matcher, resolve: &Resolve<'_>) -> Result<MatcherTemplate, String> {
    let Value::Array(_) = value else {
        return Err("must be a list of values".into());
    };
    let template = ValueTemplate::parse(value, resolve)?;
    Ok(match template.as_literal() {
        Some(Value::Array(values)) => {
            MatcherTemplate::Fixed(Matcher::Allow { values: values.clone(), by: Box::new(by) })
        }
        _ => MatcherTemplate::Allow(template, by),
    })
}

fn matcher(value: &Value, resolve: &Resolve<'_>) -> Result<MatcherTemplate, String> {
    match Matcher::from_value(value)? {
        Matcher::AnyOf(values) => {
            let template = ValueTemplate::parse(&Value::Array(values), resolve)?;
            Ok(match template.as_literal() {
                Some(Value::Array(values)) => MatcherTemplate::Fixed(Matcher::AnyOf(values.clone())),
                _ => MatcherTemplate::AnyOf(template),
            })
        }
        Matcher::Allow { .. } => Err("allow has its own table, beside match".into()),
        word => Ok(MatcherTemplate::Fixed(word)),
    }
}

/// The slots that a text uses, by index.
pub(super) fn slots_of(text: &Template) -> Vec<usize> {
    text.places().map(|place| place.slot).collect()
}
