//! Texts and values with places for slots: `last {n} commits in {repo}`.

use serde_json::{Map, Value};

use super::Row;

/// A slot's column, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index among the frame's slots, or the pool's parts.
    pub slot: usize,
    /// Index among the columns of the slot's pool.
    pub column: usize,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Literal text, braces unescaped.
    Text(Box<str>),
    /// A slot's value.
    Slot(Place),
}

/// A text with places for slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The pieces in order.
    pub segments: Vec<Segment>,
}

/// Finds the place of `{name}` or `{name.column}`; the error says what is wrong and what to write.
pub(crate) type Resolve<'a> = dyn Fn(&str, Option<&str>) -> Result<Place, String> + 'a;

impl Template {
    /// Parses `text`; `{{` and `}}` are literal braces.
    ///
    /// # Errors
    /// What is wrong, with its place in the text.
    pub(crate) fn parse(text: &str, resolve: &Resolve<'_>) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let tail = &rest[at..];
            if tail.starts_with("{{") || tail.starts_with("}}") {
                literal.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let column_number = text[..text.len() - tail.len()].chars().count() + 1;
            let Some(end) = tail.find('}').filter(|&end| end > 0) else {
                return Err(format!(
                    "unpaired brace at character {column_number} of {text:?}; write {{{{ or }}}} for a literal one"
                ));
            };
            let inside = &tail[1..end];
            let (name, column) = match inside.split_once('.') {
                Some((name, column)) => (name, Some(column)),
                None => (inside, None),
            };
            let is_name =
                |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
            if !is_name(name) || !column.is_none_or(is_name) {
                return Err(format!(
                    "{{{inside}}} at character {column_number} of {text:?} is not a slot; write {{{{ and }}}} for literal braces"
                ));
            }
            if !literal.is_empty() {
                segments.push(Segment::Text(std::mem::take(&mut literal).into()));
            }
            segments.push(Segment::Slot(resolve(name, column)?));
            rest = &tail[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            segments.push(Segment::Text(literal.into()));
        }
        Ok(Self { segments })
    }

    /// The text with the slots' values filled in.
    pub fn fill(&self, rows: &[Row<'_>]) -> String {
        let mut text = String::with_capacity(64);
        for segment in &self.segments {
            match segment {
                Segment::Text(literal) => text.push_str(literal),
                Segment::Slot(place) => push_value(&mut text, value_at(rows, *place)),
            }
        }
        text
    }

    /// The places used, in order, repeats included.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Slot(place) => Some(*place),
            Segment::Text(_) => None,
        })
    }

    /// The literal text with one blank-delimited `mark` in place of every slot.
    pub fn literal(&self, mark: &str) -> String {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Text(literal) => literal,
                Segment::Slot(_) => mark,
            })
            .collect()
    }
}

/// A JSON value with places for slots in its strings.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTemplate {
    /// A value without slots.
    Literal(Value),
    /// Nothing but one slot: takes its typed value.
    Slot(Place),
    /// Text with slots.
    Text(Template),
    /// An array with slots somewhere inside.
    Array(Vec<ValueTemplate>),
    /// An object with slots somewhere inside; keys are literal.
    Object(Vec<(String, ValueTemplate)>),
}

impl ValueTemplate {
    /// Parses every string inside `value` as a template.
    pub(crate) fn parse(value: &Value, resolve: &Resolve<'_>) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => {
                let template = Template::parse(text, resolve)?;
                match template.segments.as_slice() {
                    [] => Self::Literal(Value::String(String::new())),
                    [Segment::Slot(place)] => Self::Slot(*place),
                    [Segment::Text(literal)] => Self::Literal(Value::from(&**literal)),
                    _ => Self::Text(template),
                }
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| Self::parse(item, resolve)).collect::<Result<Vec<_>, _>>()?;
                let literals =
                    items.iter().map(Self::as_literal).map(Option::<&Value>::cloned).collect::<Option<Vec<_>>>();
                literals.map_or(Self::Array(items), |literals| Self::Literal(Value::Array(literals)))
            }
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Self::parse(value, resolve)?)))
                    .collect::<Result<Vec<_>, String>>()?;
                let literals = members
                    .iter()
                    .map(|(key, value)| Some((key.clone(), value.as_literal()?.clone())))
                    .collect::<Option<Map<_, _>>>();
                literals.map_or(Self::Object(members), |literals| Self::Literal(Value::Object(literals)))
            }
            scalar => Self::Literal(scalar.clone()),
        })
    }

    /// The value with the slots' values filled in.
    pub fn fill(&self, rows: &[Row<'_>]) -> Value {
        match self {
            Self::Literal(value) => value.clone(),
            Self::Slot(place) => value_at(rows, *place).clone(),
            Self::Text(template) => Value::String(template.fill(rows)),
            Self::Array(items) => Value::Array(items.iter().map(|item| item.fill(rows)).collect()),
            Self::Object(members) => {
                Value::Object(members.iter().map(|(key, value)| (key.clone(), value.fill(rows))).collect())
            }
        }
    }

    /// The value, if it holds no slot.
    pub fn as_literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The places used anywhere inside.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Slot(place) => vec![*place],
            Self::Text(template) => template.places().collect(),
            Self::Array(items) => items.iter().flat_map(Self::places).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, value)| value.places()).collect(),
        }
    }
}

/// A place is resolved against the very pools that the rows come from, so it always exists.
fn value_at<'a>(rows: &'a [Row<'_>], place: Place) -> &'a Value {
    &rows[place.slot][place.column]
}

fn push_value(text: &mut String, value: &Value) {
    use std::fmt::Write as _;
    match value {
        Value::String(string) => text.push_str(string),
        other => {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;

    fn resolve(name: &str, column: Option<&str>) -> Result<Place, String> {
        match (name, column) {
            ("n", None) => Ok(Place { slot: 0, column: 0 }),
            ("city", Some("zone")) => Ok(Place { slot: 1, column: 1 }),
            _ => Err(format!("unknown {name}")),
        }
    }

    fn rows() -> Vec<Row<'static>> {
        vec![Cow::Owned(vec![json!(7)]), Cow::Owned(vec![json!("Osaka"), json!("Asia/Tokyo")])]
    }

    #[test]
    fn text_is_filled_and_braces_are_unescaped() {
        let template = Template::parse("{{x}} {n}é{city.zone}}}", &resolve).unwrap();
        assert_eq!(template.fill(&rows()), "{x} 7éAsia/Tokyo}");
        assert_eq!(template.literal("_"), "{x} _é_}");
    }

    #[test]
    fn a_lone_slot_keeps_its_type_and_a_mixed_text_does_not() {
        let value = json!({"a": "{n}", "b": "n={n}", "c": ["x", {"d": "{city.zone}"}], "e": [1, "{{}}"], "f": ""});
        let template = ValueTemplate::parse(&value, &resolve).unwrap();
        assert_eq!(
            template.fill(&rows()),
            json!({"a": 7, "b": "n=7", "c": ["x", {"d": "Asia/Tokyo"}], "e": [1, "{}"], "f": ""})
        );
        assert_eq!(template.places().len(), 3);
    }

    #[test]
    fn malformed_templates_say_where() {
        for (text, part) in [
            ("a {", "character 3"),
            ("}", "character 1"),
            ("{}", "is not a slot"),
            ("{a b}", "is not a slot"),
            ("{n.}", "is not a slot"),
            ("{m}", "unknown m"),
        ] {
            let error = Template::parse(text, &resolve).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
