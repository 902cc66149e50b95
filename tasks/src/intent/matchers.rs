//! Matchers as intents write them: values in `any-of` and `allow` may hold slots.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toml::Table;

use super::raw::json;
use crate::{
    matcher::{ArgumentPath, Matcher, Matchers},
    slots::{Place, Row, Template, ValueTemplate},
};

/// A matcher whose values may hold slots.
#[derive(Debug, Clone, PartialEq)]
pub enum MatcherTemplate {
    /// No slots.
    Fixed(Matcher),
    /// `any-of` with slots.
    AnyOf(ValueTemplate),
    /// `allow` with slots.
    Allow(ValueTemplate),
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
                MatcherTemplate::Fixed(matcher) => {
                    Some((text.clone(), path.clone(), matcher.clone()))
                }
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
                entries
                    .iter()
                    .map(|(text, path, matcher)| (text.clone(), path.clone(), matcher.fill(rows)))
                    .collect(),
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
            Self::Allow(template) => Matcher::Allow(values(template)),
        }
    }

    /// Places of slots inside.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::AnyOf(template) | Self::Allow(template) => template.places(),
        }
    }
}

/// Merges `match` tables, later ones over earlier ones, with an `allow` table. Problems go to `problem`.
pub(super) fn read(
    tables: &[&Table],
    allow: &Table,
    resolve: &dyn Fn(&str, Option<&str>) -> Result<Place, String>,
    problem: &mut dyn FnMut(String),
) -> Vec<(String, ArgumentPath, MatcherTemplate)> {
    let mut merged: BTreeMap<String, (ArgumentPath, MatcherTemplate)> = BTreeMap::new();
    let matchers = tables
        .iter()
        .flat_map(|table| table.iter())
        .map(|(path, value)| (path, value, false));
    let allowed = allow.iter().map(|(path, value)| (path, value, true));
    for (text, value, is_allow) in matchers.chain(allowed) {
        let table = if is_allow { "allow" } else { "match" };
        let read = ArgumentPath::parse(text)
            .and_then(|path| Ok((path, json(value)?)))
            .and_then(|(path, value)| Ok((path, one(&value, is_allow, resolve)?)));
        match read {
            Ok((_, _)) if is_allow && merged.contains_key(text) => problem(format!(
                "{text} is in match and in allow; one of them must go"
            )),
            Ok(entry) => {
                merged.insert(text.clone(), entry);
            }
            Err(cause) => problem(format!("{table}, {text}: {cause}")),
        }
    }
    merged
        .into_iter()
        .map(|(text, (path, matcher))| (text, path, matcher))
        .collect()
}

fn one(
    value: &Value,
    is_allow: bool,
    resolve: &dyn Fn(&str, Option<&str>) -> Result<Place, String>,
) -> Result<MatcherTemplate, String> {
    if is_allow {
        let Value::Array(_) = value else {
            return Err("must be a list of values".into());
        };
        let template = ValueTemplate::parse(value, resolve)?;
        return Ok(match template.as_literal() {
            Some(Value::Array(values)) => MatcherTemplate::Fixed(Matcher::Allow(values.clone())),
            _ => MatcherTemplate::Allow(template),
        });
    }
    match Matcher::from_value(value)? {
        Matcher::AnyOf(values) => {
            let template = ValueTemplate::parse(&Value::Array(values), resolve)?;
            Ok(match template.as_literal() {
                Some(Value::Array(values)) => {
                    MatcherTemplate::Fixed(Matcher::AnyOf(values.clone()))
                }
                _ => MatcherTemplate::AnyOf(template),
            })
        }
        Matcher::Allow(_) => Err("allow has its own table, beside match".into()),
        word => Ok(MatcherTemplate::Fixed(word)),
    }
}

/// The slots that a text uses, by index.
pub(super) fn slots_of(text: &Template) -> Vec<usize> {
    text.places().map(|place| place.slot).collect()
}
