//! From a gold to the same call written otherwise, or to a near miss.
//!
//! Places are written like `files/0/path`: argument names and list indices, joined by slashes. In strings, `{place}`
//! stands for what the gold has there; a string that is nothing but one place takes the gold's typed value.

use serde_json::{Map, Number, Value};

use crate::{score::UpstreamCall, task::GoldCall};

/// Changes to a gold call, made in the order of these fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Variant {
    /// Values in place of those that the gold has.
    pub set: Vec<(String, Value)>,
    /// Values where the gold has none; a place that ends in `/-` appends to a list.
    pub add: Vec<(String, Value)>,
    /// Members given as null, which a TOML table cannot say, where the gold has none.
    pub null: Vec<String>,
    /// In a string: the first occurrence of one text by another.
    pub replace: Vec<(String, String, String)>,
    /// Places left out.
    pub drop: Vec<String>,
    /// Lists turned round.
    pub reverse: Vec<String>,
    /// Whole numbers written as decimals: `3` as `3.0`.
    pub float: Vec<String>,
    /// Numbers and booleans written as text.
    pub text: Vec<String>,
    /// Whole numbers one larger.
    pub bump: Vec<String>,
    /// The arguments in another order.
    pub reorder: bool,
    /// The same call a second time.
    pub twice: bool,
    /// No call at all.
    pub none: bool,
    /// Another catalog.
    pub server: Option<String>,
    /// Another tool.
    pub tool: Option<String>,
    /// One more call beside it.
    pub with: Option<ExtraCall>,
}

/// A further call of the same response.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExtraCall {
    /// Its catalog; `None`: the gold's.
    pub server: Option<String>,
    /// Its tool; `None`: the gold's.
    pub tool: Option<String>,
    /// Its arguments.
    pub arguments: Vec<(String, Value)>,
}

impl Variant {
    /// The calls made from `gold`; `None` where the gold has not what the variant changes.
    pub(super) fn calls(&self, gold: &GoldCall) -> Option<Vec<UpstreamCall>> {
        let source = Value::from(gold.arguments.clone());
        let mut arguments = source.clone();
        for (place, value) in &self.set {
            *at(&mut arguments, place)? = fill(value, &source)?;
        }
        for (place, value) in &self.add {
            insert(&mut arguments, place, fill(value, &source)?)?;
        }
        for place in &self.null {
            insert(&mut arguments, place, Value::Null)?;
        }
        for (place, from, to) in &self.replace {
            let text = at(&mut arguments, place)?;
            let changed = text.as_str().filter(|text| text.contains(from.as_str()))?.replacen(from, to, 1);
            *text = changed.into();
        }
        for place in &self.drop {
            remove(&mut arguments, place)?;
        }
        for place in &self.reverse {
            let list = at(&mut arguments, place)?.as_array_mut()?;
            let before = list.clone();
            list.reverse();
            if *list == before {
                return None;
            }
        }
        for place in &self.float {
            change(&mut arguments, place, |value| Number::from_f64(value.as_i64()? as f64).map(Value::Number))?;
        }
        for place in &self.text {
            change(&mut arguments, place, |value| {
                (value.is_number() || value.is_boolean()).then(|| value.to_string().into())
            })?;
        }
        for place in &self.bump {
            change(&mut arguments, place, |value| Some(value.as_i64()?.checked_add(1)?.into()))?;
        }
        if self.none {
            return Some(Vec::new());
        }
        let Value::Object(mut arguments) = arguments else { return None };
        if self.reorder {
            if arguments.len() < 2 {
                return None;
            }
            arguments = arguments.into_iter().rev().collect();
        }
        let call = UpstreamCall {
            server: self.server.clone().unwrap_or_else(|| gold.server.to_string()),
            tool: self.tool.clone().unwrap_or_else(|| gold.tool.to_string()),
            arguments,
        };
        let mut calls = vec![call.clone()];
        if self.twice {
            calls.push(call);
        }
        if let Some(extra) = &self.with {
            let arguments: Option<Map<String, Value>> =
                extra.arguments.iter().map(|(name, value)| Some((name.clone(), fill(value, &source)?))).collect();
            calls.push(UpstreamCall {
                server: extra.server.clone().unwrap_or_else(|| gold.server.to_string()),
                tool: extra.tool.clone().unwrap_or_else(|| gold.tool.to_string()),
                arguments: arguments?,
            });
        }
        Some(calls)
    }
}

fn at<'a>(arguments: &'a mut Value, place: &str) -> Option<&'a mut Value> {
    arguments.pointer_mut(&format!("/{place}"))
}

fn change(arguments: &mut Value, place: &str, new: impl Fn(&Value) -> Option<Value>) -> Option<()> {
    let value = at(arguments, place)?;
    *value = new(value)?;
    Some(())
}

/// The container of a place and its last part.
fn parent<'a, 'b>(arguments: &'a mut Value, place: &'b str) -> Option<(&'a mut Value, &'b str)> {
    match place.rsplit_once('/') {
        None => Some((arguments, place)),
        Some((container, last)) => Some((at(arguments, container)?, last)),
    }
}

fn insert(arguments: &mut Value, place: &str, value: Value) -> Option<()> {
    match parent(arguments, place)? {
        (Value::Object(members), key) if !members.contains_key(key) => {
            members.insert(key.to_owned(), value);
            Some(())
        }
        (Value::Array(items), "-") => {
            items.push(value);
            Some(())
        }
        _ => None,
    }
}

fn remove(arguments: &mut Value, place: &str) -> Option<()> {
    match parent(arguments, place)? {
        // Order of members decides nothing, so the cheap removal will do.
        (Value::Object(members), key) => members.swap_remove(key).map(drop),
        (Value::Array(items), index) => {
            let index: usize = index.parse().ok()?;
            (index < items.len()).then(|| drop(items.remove(index)))
        }
        _ => None,
    }
}

/// A value with the gold's values in its places.
fn fill(value: &Value, gold: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => return fill_text(text, gold),
        Value::Array(items) => items.iter().map(|item| fill(item, gold)).collect::<Option<Vec<_>>>()?.into(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| Some((key.clone(), fill(value, gold)?)))
            .collect::<Option<Map<_, _>>>()?
            .into(),
        other => other.clone(),
    })
}

fn fill_text(text: &str, gold: &Value) -> Option<Value> {
    let look_up = |place: &str| gold.pointer(&format!("/{place}"));
    if let Some(place) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
        && !place.contains(['{', '}'])
    {
        return look_up(place).cloned();
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        let close = open + rest[open..].find('}')?;
        match look_up(&rest[open + 1..close])? {
            Value::String(text) => filled.push_str(text),
            scalar @ (Value::Number(_) | Value::Bool(_)) => filled.push_str(&scalar.to_string()),
            _ => return None,
        }
        rest = &rest[close + 1..];
    }
    filled.push_str(rest);
    Some(filled.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::matcher::Matchers;

    fn gold(arguments: &Value) -> GoldCall {
        GoldCall {
            server: "s".into(),
            tool: "t".into(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            matchers: Arc::new(Matchers::default()),
        }
    }

    fn changed(variant: &Variant, arguments: &Value) -> Option<Value> {
        variant.calls(&gold(arguments)).map(|calls| Value::from(calls[0].arguments.clone()))
    }

    #[test]
    fn a_variant_changes_what_it_names() {
        let variant = Variant {
            set: vec![("a".into(), json!("{a}/")), ("l/1".into(), json!({ "was": "{l/0/x}" }))],
            add: vec![("n".into(), json!(["{i}"])), ("l/-".into(), json!("{i} more"))],
            replace: vec![("r".into(), "T".into(), " ".into())],
            drop: vec!["gone".into(), "l/0".into()],
            float: vec!["i".into()],
            ..Variant::default()
        };
        let before = json!({ "a": "/x", "l": [{ "x": true }, 2], "i": 3, "r": "1T2T", "gone": 1 });
        let after = json!({ "a": "/x/", "l": [{ "was": true }, "3 more"], "i": 3.0, "r": "1 2T", "n": [3] });
        assert_eq!(changed(&variant, &before), Some(after));
    }

    #[test]
    fn a_variant_does_not_apply_where_the_gold_lacks_its_places() {
        let applies = |variant: Variant, arguments: Value| changed(&variant, &arguments).is_some();
        let set = Variant { set: vec![("a".into(), json!(1))], ..Variant::default() };
        let add = Variant { add: vec![("a".into(), json!(1))], ..Variant::default() };
        assert!(applies(set.clone(), json!({ "a": 0 })) && !applies(set, json!({})));
        assert!(applies(add.clone(), json!({})) && !applies(add, json!({ "a": 0 })));
        let reverse = Variant { reverse: vec!["l".into()], ..Variant::default() };
        assert!(applies(reverse.clone(), json!({ "l": [1, 2] })) && !applies(reverse, json!({ "l": [1] })));
        let replace = Variant { replace: vec![("a".into(), "x".into(), "y".into())], ..Variant::default() };
        assert!(applies(replace.clone(), json!({ "a": "x" })) && !applies(replace, json!({ "a": "z" })));
    }

    #[test]
    fn calls_can_be_repeated_joined_renamed_or_left_out() {
        let one = gold(&json!({ "a": 1 }));
        let twice = Variant { twice: true, ..Variant::default() };
        assert_eq!(twice.calls(&one).map(|calls| calls.len()), Some(2));
        let none = Variant { none: true, ..Variant::default() };
        assert_eq!(none.calls(&one), Some(Vec::new()));
        let with = Variant {
            tool: Some("u".into()),
            with: Some(ExtraCall { server: None, tool: None, arguments: vec![("b".into(), json!("{a}"))] }),
            ..Variant::default()
        };
        let calls = with.calls(&one).unwrap();
        assert_eq!((calls[0].tool.as_str(), calls[1].tool.as_str()), ("u", "t"));
        assert_eq!(calls[1].arguments.get("b"), Some(&json!(1)));
    }
}
