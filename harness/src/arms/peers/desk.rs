//! The engine behind arms whose list never changes: a fixed list of meta tools in front of all catalogs.

use std::sync::Arc;

use bench_results::record::Route;
use serde_json::{Map, Value};

use super::{Materials, Ranker};
use crate::{
    arms::{Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall, level::unknown},
    surface::{ShownTool, Surface},
};

/// What a meta tool makes of a call.
pub(super) enum Answer {
    /// It answers itself.
    Says(String),
    /// It hands the call to the tool at this position.
    Forwards(usize, Map<String, Value>),
}

/// The meta tools of an arm, as a function of the call alone.
pub(super) trait Desk: Send + Sync {
    /// What all catalogs hold.
    fn materials(&self) -> &Materials;

    /// True for meta tools that never forward.
    fn informs(&self, name: &str) -> bool;

    /// What the meta tool of this name makes of a call; `None` where there is none. An error is a text for the model.
    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>>;

    /// Its search, where it has one.
    fn ranker(&self) -> Option<&dyn Ranker> {
        None
    }
}

/// An arm with such meta tools and nothing else on its list.
pub(super) struct DeskArm {
    info: ArmInfo,
    desk: Arc<dyn Desk>,
    surface: Arc<Surface>,
}

impl DeskArm {
    /// The arm that shows these tools.
    pub(super) fn build(info: ArmInfo, desk: Arc<dyn Desk>, shown: Vec<Arc<ShownTool>>) -> Arc<dyn Arm> {
        Arc::new(Self { info, desk, surface: Arc::new(Surface::new(shown, String::new())) })
    }
}

impl Arm for DeskArm {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        Ok(Box::new(DeskSession { desk: Arc::clone(&self.desk), surface: Arc::clone(&self.surface) }))
    }

    fn ranker(&self) -> Option<&dyn Ranker> {
        self.desk.ranker()
    }
}

/// Peers serve all catalogs and nothing smaller.
pub(super) fn all_catalogs(info: &ArmInfo, scope: Scope<'_>) -> Result<(), ArmError> {
    if scope == Scope::Catalogs {
        return Ok(());
    }
    Err(ArmError::Scope { id: info.id.0.clone(), why: "serves all catalogs, not one tool alone".to_owned() })
}

struct DeskSession {
    desk: Arc<dyn Desk>,
    surface: Arc<Surface>,
}

impl ArmSession for DeskSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        self.desk.informs(name)
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        match self.desk.answer(call) {
            None => CallOutcome::Rejected { reply: unknown(&call.name) },
            Some(Err(reply)) => CallOutcome::Meta { reply, is_error: true, surface_changed: false },
            Some(Ok(Answer::Says(reply))) => CallOutcome::Meta { reply, is_error: false, surface_changed: false },
            Some(Ok(Answer::Forwards(at, arguments))) => {
                self.desk.materials().forward(at, arguments, Route::Invoked, false)
            }
        }
    }
}

/// A meta tool of this name: its properties in order, each with its schema and whether it is required.
pub(super) fn meta(
    name: &str,
    description: impl Into<String>,
    properties: &[(&str, Value, bool)],
) -> Result<Arc<ShownTool>, ArmError> {
    let required: Vec<&str> = properties.iter().filter(|(_, _, required)| *required).map(|(key, _, _)| *key).collect();
    let described: Map<String, Value> =
        properties.iter().map(|(key, schema, _)| ((*key).to_owned(), schema.clone())).collect();
    let mut schema =
        Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), described.into())]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    crate::arms::definitions::shown(name, Some(description.into()), &Value::Object(schema))
}
