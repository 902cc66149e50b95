//! When is a call's argument as good as the gold's?
//!
//! The default is the same JSON value, numbers by value. A [`Matcher`] on an argument path widens that to what a careful
//! engineer would accept. An argument whose schema states a default may be left out or spelled out. Any other argument
//! that the gold does not have makes the call wrong, unless the intent allows it.

mod compare;
mod number;
mod path;
mod text;
mod time;
mod url;
mod zone;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value, json};

pub use self::{
    compare::{Difference, Mismatch, compare},
    number::numbers_equal,
    path::{ArgumentPath, Step},
    text::{glob_equal, nocase_equal, path_equal, query_equal, text_equal},
    time::{clock_equal, instant_equal},
    url::url_equal,
    zone::zone_equal,
};

/// How one argument is compared with the gold.
#[derive(Debug, Clone, PartialEq)]
pub enum Matcher {
    /// The same JSON value; numbers by value.
    Exact,
    /// An array with the same elements in any order, each as often; elements by their own matcher.
    Set,
    /// The same path.
    Path,
    /// The same glob pattern.
    Glob,
    /// The same text but for line ends and blanks at the ends.
    Text,
    /// The same point in time, in any RFC 3339 form; without a zone on both sides, the same local time.
    Instant,
    /// The same 24-hour time of day.
    Clock,
    /// The same time zone, by any of the names that the zone database has for it.
    Zone,
    /// The same URL after parsing.
    Url,
    /// The same search terms and qualifiers in any order.
    Query,
    /// The same scalar, as JSON value or as its text.
    Scalar,
    /// The same text but for case.
    NoCase,
    /// The gold's value or any of these.
    AnyOf(Vec<Value>),
    /// The gold leaves this argument out; it may be given with one of these values.
    Allow {
        /// The values.
        values: Vec<Value>,
        /// How they are compared.
        by: Box<Matcher>,
    },
}

/// Matchers that are nothing but a word, with that word.
const WORDS: [(&str, Matcher); 12] = [
    ("exact", Matcher::Exact),
    ("set", Matcher::Set),
    ("path", Matcher::Path),
    ("glob", Matcher::Glob),
    ("text", Matcher::Text),
    ("instant", Matcher::Instant),
    ("clock", Matcher::Clock),
    ("zone", Matcher::Zone),
    ("url", Matcher::Url),
    ("query", Matcher::Query),
    ("scalar", Matcher::Scalar),
    ("nocase", Matcher::NoCase),
];

impl Matcher {
    /// Reads a matcher as intents and records write it: a word, `{"any-of": […]}` or
    /// `{"allow": […], "by": matcher}`.
    ///
    /// # Errors
    /// Says what a matcher can be.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(word) => {
                WORDS.iter().find_map(|(known, matcher)| (known == word).then(|| matcher.clone())).ok_or_else(|| {
                    let known: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
                    format!("unknown matcher {word:?}; it can be {} or {{ any-of = […] }}", known.join(", "))
                })
            }
            Value::Object(members) => {
                let list = |key| members.get(key).and_then(Value::as_array).cloned();
                match (list("any-of"), list("allow"), members.get("by"), members.len()) {
                    (Some(values), None, None, 1) => Ok(Self::AnyOf(values)),
                    (None, Some(values), None, 1) => Ok(Self::Allow { values, by: Box::new(Self::Exact) }),
                    (None, Some(values), Some(by), 2) => {
                        Ok(Self::Allow { values, by: Box::new(Self::from_value(by)?) })
                    }
                    _ => Err(format!("{value} is not a matcher; a table must be {{ any-of = […] }}")),
                }
            }
            other => Err(format!("{other} is not a matcher; it must be a word or {{ any-of = […] }}")),
        }
    }

    /// The inverse of [`Matcher::from_value`].
    pub fn to_value(&self) -> Value {
        match self {
            Self::AnyOf(values) => json!({ "any-of": values }),
            Self::Allow { values, by } if **by == Self::Exact => json!({ "allow": values }),
            Self::Allow { values, by } => json!({ "allow": values, "by": by.to_value() }),
            word => {
                WORDS.iter().find(|(_, matcher)| matcher == word).map_or(Value::Null, |(word, _)| Value::from(*word))
            }
        }
    }

    /// Why this matcher can never apply to such a gold value; `None` if it can.
    pub fn unfit_for(&self, gold: &Value) -> Option<&'static str> {
        match self {
            Self::Exact | Self::AnyOf(_) => None,
            Self::Allow { .. } => Some("is for arguments that the gold leaves out; for one that it has, use any-of"),
            Self::Set => (!gold.is_array()).then_some("is for arrays"),
            Self::Scalar => (gold.is_array() || gold.is_object() || gold.is_null())
                .then_some("is for strings, numbers and booleans"),
            // What is no timestamp, time of day, zone or URL is compared as text, so any string will do.
            Self::Path
            | Self::Glob
            | Self::Text
            | Self::Instant
            | Self::Clock
            | Self::Zone
            | Self::Url
            | Self::Query
            | Self::NoCase => {
                (!gold.is_string()).then_some("is for strings; for the strings of an array, name its elements: path[]")
            }
        }
    }
}

/// The matchers of one gold call, by argument path. Serialises as `{path: matcher}`, paths sorted.
#[derive(Debug, Clone, Default)]
pub struct Matchers {
    by_path: BTreeMap<String, Matcher>,
    root: Node,
}

/// The same matchers as a tree that is walked beside the arguments.
#[derive(Debug, Clone, Default)]
struct Node {
    matcher: Option<Matcher>,
    keys: BTreeMap<String, Node>,
    items: Option<Box<Node>>,
}

impl Matchers {
    /// Builds matchers from `path → matcher`.
    ///
    /// # Errors
    /// Names a path that is not well formed.
    pub fn new(by_path: BTreeMap<String, Matcher>) -> Result<Self, String> {
        let parsed = by_path.into_iter().map(|(text, matcher)| Ok((ArgumentPath::parse(&text)?, text, matcher)));
        Ok(Self::from_parsed(
            parsed
                .map(|entry| entry.map(|(path, text, matcher)| (text, path, matcher)))
                .collect::<Result<_, String>>()?,
        ))
    }

    pub(crate) fn from_parsed(entries: Vec<(String, ArgumentPath, Matcher)>) -> Self {
        let mut root = Node::default();
        let mut by_path = BTreeMap::new();
        for (text, path, matcher) in entries {
            let mut node = &mut root;
            for step in path.steps {
                node = match step {
                    Step::Key(key) => node.keys.entry(key).or_default(),
                    Step::Items => &mut **node.items.get_or_insert_default(),
                };
            }
            node.matcher = Some(matcher.clone());
            by_path.insert(text, matcher);
        }
        Self { by_path, root }
    }

    /// The matchers by path, sorted.
    pub fn by_path(&self) -> &BTreeMap<String, Matcher> {
        &self.by_path
    }

    /// Whether every argument is compared exactly and none may be added.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }
}

/// Whether a call's arguments are as good as the gold's. `schema` is the tool's input schema.
pub fn matches(gold: &Map<String, Value>, call: &Map<String, Value>, matchers: &Matchers, schema: &Value) -> bool {
    compare(gold, call, matchers, schema).is_ok()
}

impl PartialEq for Matchers {
    fn eq(&self, other: &Self) -> bool {
        self.by_path == other.by_path
    }
}

impl Serialize for Matchers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.by_path.iter().map(|(path, matcher)| (path, matcher.to_value())))
    }
}

impl<'de> Deserialize<'de> for Matchers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let by_path = values
            .into_iter()
            .map(|(path, value)| Matcher::from_value(&value).map(|matcher| (path, matcher)))
            .collect::<Result<_, _>>()
            .map_err(D::Error::custom)?;
        Self::new(by_path).map_err(D::Error::custom)
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_value() {
            Value::String(word) => f.write_str(&word),
            table => write!(f, "{table}"),
        }
    }
}

#[cfg(test)]
mod tests;
