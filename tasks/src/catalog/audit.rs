//! What is odd in a catalog without making it unusable: the warnings of `bench catalog check`.

use std::{collections::BTreeSet, fmt};

use serde::{
    Serialize,
    de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor},
};

use super::Catalogs;

/// One oddity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogWarning {
    /// The catalog.
    pub server: String,
    /// The tool; `None` if it concerns the whole catalog.
    pub tool: Option<String>,
    /// What is odd and what follows from it.
    pub message: String,
}

impl fmt::Display for CatalogWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "{}, tool {tool}: {}", self.server, self.message),
            None => write!(f, "{}: {}", self.server, self.message),
        }
    }
}

/// Lists all warnings in catalog order.
pub fn audit(catalogs: &Catalogs) -> Vec<CatalogWarning> {
    let mut warnings = Vec::new();
    for catalog in &catalogs.catalogs {
        let mut warn = |tool: Option<&str>, message: String| {
            warnings.push(CatalogWarning {
                server: catalog.server.to_string(),
                tool: tool.map(str::to_owned),
                message,
            });
        };
        if catalog.tools.is_empty() {
            warn(None, "lists no tools".into());
        }
        if catalog.provenance.is_none() {
            warn(None, "has no provenance in index.toml or index.json".into());
        }
        for tool in &catalog.tools {
            let name = Some(&*tool.name);
            if tool.description.as_deref().is_none_or(|text| text.trim().is_empty()) {
                warn(name, "has no description".into());
            }
            if !tool.input_schema.is_object() {
                warn(name, "has a boolean input schema".into());
            }
            for message in tool.schema_warnings() {
                warn(name, format!("input schema: {message}"));
            }
            for path in duplicate_keys(tool.raw.get()) {
                warn(name, format!("has the key {path} twice; the last one counts"));
            }
        }
    }
    warnings
}

/// Paths of object keys that occur twice; empty for text that is not JSON.
fn duplicate_keys(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    let walk = Walk { path: String::new(), found: &mut found };
    // The text was parsed before, so nothing but duplicates is left to find.
    let _ = walk.deserialize(&mut serde_json::Deserializer::from_str(json));
    found
}

struct Walk<'a> {
    path: String,
    found: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Accepts a scalar and forgets it.
macro_rules! ignore_scalars {
    ($($name:ident: $type:ty),*) => {
        $(fn $name<E>(self, _: $type) -> Result<(), E> { Ok(()) })*
    };
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    ignore_scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0;
        while items
            .next_element_seed(Walk { path: format!("{}/{index}", self.path), found: &mut *self.found })?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = members.next_key_seed(Key)? {
            let path = format!("{}/{key}", self.path);
            if !seen.insert(key) {
                self.found.push(path.clone());
            }
            members.next_value_seed(Walk { path, found: &mut *self.found })?;
        }
        Ok(())
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}
