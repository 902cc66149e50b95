//! index-schema-invoke: per server an index, a schema on request, and a tool that calls. The list never changes.

use std::sync::Arc;

use serde_json::json;

use crate::arms::{
    Arm, ArmError, ArmInfo, ToolCall, lazy,
    names::{MetaKind, Named},
    peers::{
        Materials,
        desk::{Answer, Desk, DeskArm, meta},
        replies,
    },
    schema_tool,
};

pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    let mut shown = Vec::with_capacity(2 * materials.servers());
    for (server, own) in definitions.servers.iter().enumerate() {
        let (schema, invoke) =
            (definitions.names.meta(server, MetaKind::Schema), definitions.names.meta(server, MetaKind::Invoke));
        let mut description = format!(
            "Gives the full definition of a tool of the `{}` server; call the tool with `{invoke}` then. Its tools, as \
             name(required, optional?): purpose.",
            own.name
        );
        lazy::index_lines(own, &mut description);
        shown.push(meta(schema, description, &[(schema_tool::TOOL_NAME, json!({ "type": "string" }), true)])?);
        shown.push(meta(
            invoke,
            format!("Calls a tool of the `{}` server; `{schema}` gives its definition.", own.name),
            &[
                (schema_tool::TOOL_NAME, json!({ "type": "string" }), true),
                (schema_tool::ARGUMENTS, json!({ "type": "object" }), true),
            ],
        )?);
    }
    Ok(DeskArm::build(info, Arc::new(IndexSchemaInvoke(materials.clone())), shown))
}

struct IndexSchemaInvoke(Materials);

impl IndexSchemaInvoke {
    fn call(&self, server: usize, kind: MetaKind, call: &ToolCall) -> Result<Answer, String> {
        let at = self.0.find_on(server, replies::text(&call.arguments, schema_tool::TOOL_NAME)?)?;
        if kind == MetaKind::Invoke {
            return Ok(Answer::Forwards(at, replies::inner(&call.arguments, schema_tool::ARGUMENTS)));
        }
        Ok(Answer::Says(schema_tool::schema_text(self.0.definitions(), self.0.place(at), false)))
    }
}

impl Desk for IndexSchemaInvoke {
    fn materials(&self) -> &Materials {
        &self.0
    }

    fn informs(&self, name: &str) -> bool {
        matches!(self.0.definitions().names.get(name), Some(Named::Meta(_, MetaKind::Schema)))
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        match self.0.definitions().names.get(&call.name) {
            Some(Named::Meta(server, kind @ (MetaKind::Schema | MetaKind::Invoke))) => {
                Some(self.call(server, kind, call))
            }
            _ => None,
        }
    }
}
