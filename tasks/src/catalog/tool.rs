//! One tool definition.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde_json::{Map, Value, value::RawValue};

use super::validate::ArgumentValidator;

/// A tool as its server defines it.
#[derive(Clone)]
pub struct ToolDef {
    /// Upstream name.
    pub name: Arc<str>,
    /// Display title.
    pub title: Option<String>,
    /// Description; `None` where the server sends none or `null`.
    pub description: Option<String>,
    /// Input schema as sent, key order kept: an object or a boolean. `{}` where the server sends none.
    pub input_schema: Value,
    /// Output schema, where declared.
    pub output_schema: Option<Value>,
    /// Behaviour hints.
    pub annotations: Option<Value>,
    /// The definition's exact bytes.
    pub raw: Box<RawValue>,
    pub(super) validator: OnceLock<Arc<ArgumentValidator>>,
}

impl ToolDef {
    /// Checks arguments against the tool's own input schema.
    ///
    /// `format` is not asserted, no reference is fetched, patterns run on fancy-regex. Parts of the schema that cannot
    /// be used (see [`ToolDef::schema_warnings`]) constrain nothing.
    ///
    /// # Errors
    /// Says why, in words a server would use: `timezone: 3 is not of type "string"`; several reasons are joined with `; `.
    pub fn validate(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        self.validator().validate(arguments)
    }

    /// What of the input schema is ignored when validating, and why.
    pub fn schema_warnings(&self) -> &[String] {
        self.validator().warnings()
    }

    fn validator(&self) -> &ArgumentValidator {
        self.validator.get_or_init(|| Arc::new(ArgumentValidator::new(&self.input_schema)))
    }
}

impl fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDef").field("name", &self.name).field("raw", &self.raw.get()).finish_non_exhaustive()
    }
}

impl PartialEq for ToolDef {
    fn eq(&self, other: &Self) -> bool {
        self.raw.get() == other.raw.get()
    }
}
