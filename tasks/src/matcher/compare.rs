//! Gold and call, walked together with their matchers and schema.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    Matcher, Matchers, Node, clock_equal, glob_equal, instant_equal, nocase_equal, numbers_equal, path_equal,
    query_equal, text_equal, url_equal, zone_equal,
};

/// The first difference found, for messages and audits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, such as `edits[1].oldText`.
    pub path: String,
    /// What is wrong there.
    pub what: Difference,
}

/// What is wrong with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// The gold has it, its schema states no equal default, and the call leaves it out.
    Missing,
    /// The call has it, the gold does not, and it is neither the schema's default nor allowed.
    Extra,
    /// Another value.
    Value,
    /// Another number of elements.
    Length,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Difference::Missing => "is missing",
            Difference::Extra => "is not asked for",
            Difference::Value => "has another value",
            Difference::Length => "has another number of elements",
        };
        write!(f, "{} {what}", self.path)
    }
}

/// Compares a call's arguments with the gold's; `schema` is the tool's input schema.
///
/// # Errors
/// The first difference, in the gold's key order, then the call's.
pub fn compare(
    gold: &Map<String, Value>,
    call: &Map<String, Value>,
    matchers: &Matchers,
    schema: &Value,
) -> Result<(), Mismatch> {
    let walk = Walk { root: schema };
    walk.objects(gold, call, Some(&matchers.root), Some(schema))
}

/// Deep references in a schema are followed this often; a chain that is longer is a cycle.
const MAX_REFERENCES: usize = 16;

struct Walk<'a> {
    root: &'a Value,
}

impl<'a> Walk<'a> {
    fn objects(
        &self,
        gold: &Map<String, Value>,
        call: &Map<String, Value>,
        node: Option<&Node>,
        schema: Option<&'a Value>,
    ) -> Result<(), Mismatch> {
        let inside = |key: &str| {
            (node.and_then(|node| node.keys.get(key)), schema.and_then(|schema| self.property(schema, key, 0)))
        };
        for (key, wanted) in gold {
            let (node, schema) = inside(key);
            if let Some(given) = call.get(key) {
                self.values(wanted, given, node, schema).map_err(|mismatch| mismatch.below(key))?;
                continue;
            }
            let default = schema.and_then(|schema| self.default(schema, 0));
            if default.is_none_or(|default| self.values(wanted, default, node, schema).is_err()) {
                return Err(Mismatch::at(key, Difference::Missing));
            }
        }
        for (key, given) in call {
            if gold.contains_key(key) {
                continue;
            }
            let (node, schema) = inside(key);
            let default = schema.and_then(|schema| self.default(schema, 0));
            let is_default = default.is_some_and(|default| self.values(default, given, node, schema).is_ok());
            let is_allowed = || match node.and_then(|node| node.matcher.as_ref()) {
                Some(Matcher::Allow { values, by }) => {
                    values.iter().any(|value| self.values_by(Some(by), value, given, node, schema).is_ok())
                }
                _ => false,
            };
            if !is_default && !is_allowed() {
                return Err(Mismatch::at(key, Difference::Extra));
            }
        }
        Ok(())
    }

    fn values(
        &self,
        gold: &Value,
        call: &Value,
        node: Option<&Node>,
        schema: Option<&'a Value>,
    ) -> Result<(), Mismatch> {
        self.values_by(node.and_then(|node| node.matcher.as_ref()), gold, call, node, schema)
    }

    /// Compares by `matcher`; `node` holds the matchers below.
    fn values_by(
        &self,
        matcher: Option<&Matcher>,
        gold: &Value,
        call: &Value,
        node: Option<&Node>,
        schema: Option<&'a Value>,
    ) -> Result<(), Mismatch> {
        let accepted = match (matcher, gold, call) {
            (Some(Matcher::Set), Value::Array(gold), Value::Array(call)) => {
                return self.sets(gold, call, node, schema);
            }
            (Some(Matcher::Path), Value::String(gold), Value::String(call)) => path_equal(gold, call),
            (Some(Matcher::Glob), Value::String(gold), Value::String(call)) => glob_equal(gold, call),
            (Some(Matcher::Text), Value::String(gold), Value::String(call)) => text_equal(gold, call),
            (Some(Matcher::Instant), Value::String(gold), Value::String(call)) => instant_equal(gold, call),
            (Some(Matcher::Clock), Value::String(gold), Value::String(call)) => clock_equal(gold, call),
            (Some(Matcher::Zone), Value::String(gold), Value::String(call)) => zone_equal(gold, call),
            (Some(Matcher::Url), Value::String(gold), Value::String(call)) => url_equal(gold, call),
            (Some(Matcher::Query), Value::String(gold), Value::String(call)) => query_equal(gold, call),
            (Some(Matcher::NoCase), Value::String(gold), Value::String(call)) => nocase_equal(gold, call),
            (Some(Matcher::Scalar), _, _) if scalars_equal(gold, call) => true,
            (Some(Matcher::AnyOf(values)), _, _)
                if values.iter().any(|value| self.values(value, call, None, schema).is_ok()) =>
            {
                true
            }
            (_, Value::Object(gold), Value::Object(call)) => {
                return self.objects(gold, call, node, schema);
            }
            (_, Value::Array(gold), Value::Array(call)) => {
                return self.sequences(gold, call, node, schema);
            }
            (_, Value::Number(gold), Value::Number(call)) => numbers_equal(gold, call),
            _ => gold == call,
        };
        if accepted { Ok(()) } else { Err(Mismatch { path: String::new(), what: Difference::Value }) }
    }

    fn sequences(
        &self,
        gold: &[Value],
        call: &[Value],
        node: Option<&Node>,
        schema: Option<&'a Value>,
    ) -> Result<(), Mismatch> {
        if gold.len() != call.len() {
            return Err(Mismatch { path: String::new(), what: Difference::Length });
        }
        let node = node.and_then(|node| node.items.as_deref());
        for (index, (gold, call)) in gold.iter().zip(call).enumerate() {
            let schema = schema.and_then(|schema| self.item(schema, index, 0));
            self.values(gold, call, node, schema).map_err(|mismatch| mismatch.below(&format!("[{index}]")))?;
        }
        Ok(())
    }

    /// Equal as multisets: a perfect matching between the two sides, by augmenting paths (Kuhn, 1955). Element
    /// equality need not be transitive (`any-of`), so sorting would not do.
    fn sets(
        &self,
        gold: &[Value],
        call: &[Value],
        node: Option<&Node>,
        schema: Option<&'a Value>,
    ) -> Result<(), Mismatch> {
        if gold.len() != call.len() {
            return Err(Mismatch { path: String::new(), what: Difference::Length });
        }
        let node = node.and_then(|node| node.items.as_deref());
        let schema = schema.and_then(|schema| self.item(schema, 0, 0));
        let fits: Vec<Vec<usize>> = gold
            .iter()
            .map(|gold| (0..call.len()).filter(|&at| self.values(gold, &call[at], node, schema).is_ok()).collect())
            .collect();
        let mut taken_by = vec![None; call.len()];
        for start in 0..gold.len() {
            if !augment(start, &fits, &mut taken_by, &mut vec![false; call.len()]) {
                return Err(Mismatch { path: format!("[{start}]"), what: Difference::Value });
            }
        }
        Ok(())
    }

    fn property(&self, schema: &'a Value, key: &str, followed: usize) -> Option<&'a Value> {
        self.find(schema, followed, &|schema| schema.get("properties")?.get(key))
    }

    fn item(&self, schema: &'a Value, index: usize, followed: usize) -> Option<&'a Value> {
        self.find(schema, followed, &|schema| match schema.get("items") {
            // Before draft 2020-12 an array here is a tuple.
            Some(Value::Array(tuple)) => tuple.get(index),
            items => schema.get("prefixItems").and_then(|tuple| tuple.get(index)).or(items),
        })
    }

    fn default(&self, schema: &'a Value, followed: usize) -> Option<&'a Value> {
        // Not through `anyOf` and the like: a default inside one branch is not the argument's default.
        match schema.get("default") {
            None if followed < MAX_REFERENCES => self.default(self.referenced(schema)?, followed + 1),
            found => found,
        }
    }

    /// Looks in a schema, then behind its reference, then in its branches.
    fn find(
        &self,
        schema: &'a Value,
        followed: usize,
        look: &dyn Fn(&'a Value) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        if followed >= MAX_REFERENCES {
            return None;
        }
        look(schema).or_else(|| self.find(self.referenced(schema)?, followed + 1, look)).or_else(|| {
            ["allOf", "anyOf", "oneOf"]
                .iter()
                .filter_map(|branches| schema.get(*branches)?.as_array())
                .flatten()
                .find_map(|branch| self.find(branch, followed + 1, look))
        })
    }

    fn referenced(&self, schema: &Value) -> Option<&'a Value> {
        self.root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }
}

fn augment(gold: usize, fits: &[Vec<usize>], taken_by: &mut [Option<usize>], visited: &mut [bool]) -> bool {
    for &at in &fits[gold] {
        if std::mem::replace(&mut visited[at], true) {
            continue;
        }
        let free = match taken_by[at] {
            None => true,
            Some(other) => augment(other, fits, taken_by, visited),
        };
        if free {
            taken_by[at] = Some(gold);
            return true;
        }
    }
    false
}

fn scalars_equal(a: &Value, b: &Value) -> bool {
    let (text, written) = match (a, b) {
        (Value::String(text), scalar @ (Value::Bool(_) | Value::Number(_)))
        | (scalar @ (Value::Bool(_) | Value::Number(_)), Value::String(text)) => (text, scalar.to_string()),
        _ => return false,
    };
    *text == written
}

impl Mismatch {
    fn at(path: &str, what: Difference) -> Self {
        Self { path: path.to_owned(), what }
    }

    fn below(self, parent: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{parent}{joint}{}", self.path), what: self.what }
    }
}
