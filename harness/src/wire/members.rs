//! JSON objects taken apart without reading their values: a value may be nested deeper than any reader follows.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// How deep the arguments of a call may be nested, the object itself included. A recorded call stands a few levels deeper,
/// and readers of JSON give up at 128.
pub(super) const DEPTH_AT_MOST: usize = 64;

/// Arguments from their JSON text; the text itself where it is no object, or one that is nested too deep.
pub(super) fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(arguments) if within(arguments.values(), DEPTH_AT_MOST - 1) => Ok(arguments),
        Ok(_) | Err(_) => Err(text.to_owned()),
    }
}

/// True where no value is nested deeper than this.
fn within<'a>(mut values: impl Iterator<Item = &'a Value>, depth: usize) -> bool {
    values.all(|value| match value {
        Value::Object(members) => depth > 0 && within(members.values(), depth - 1),
        Value::Array(items) => depth > 0 && within(items.iter(), depth - 1),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    })
}

/// The members of an object in their order, each value as it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// True where there is a member of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Replaces the member of this name where it stands, or adds it at the end.
    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Takes the member of this name out.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    members.set(&name, value);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An object that is nested this deep, itself included.
    pub(in crate::wire) fn nested(depth: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
    }

    #[test]
    fn arguments_are_read_up_to_the_limit_and_kept_as_text_beyond_it() {
        assert!(arguments(&nested(DEPTH_AT_MOST)).is_ok());
        for text in [nested(DEPTH_AT_MOST + 1), nested(5_000), "[1]".to_owned(), "{".to_owned()] {
            assert_eq!(arguments(&text), Err(text));
        }
        assert!(arguments(&format!("{{\"a\":{}1{}}}", "[".repeat(63), "]".repeat(63))).is_ok());
        assert!(arguments(&format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64))).is_err());
    }

    #[test]
    fn members_keep_their_order_and_the_bytes_of_their_values() {
        let mut members: Members = serde_json::from_str(r#"{"b": 1.50, "a":{"z":1, "y":2}, "c":null}"#).unwrap();
        members.set("a", RawValue::from_string("[ ]".to_owned()).unwrap());
        members.set("d", RawValue::from_string("7".to_owned()).unwrap());
        members.remove("c");
        assert!(members.has("b") && !members.has("c"));
        assert_eq!(serde_json::to_string(&members).unwrap(), r#"{"b":1.50,"a":[ ],"d":7}"#);
    }
}
