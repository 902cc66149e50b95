//! hierarchical: `list_servers`, `list_tools`, `describe_tool`, `invoke_tool`; nothing of the catalogs is on the list.

use std::sync::Arc;

use serde_json::json;

use crate::arms::{
    Arm, ArmError, ArmInfo, ToolCall,
    peers::{
        Materials,
        desk::{Answer, Desk, DeskArm, meta},
        replies,
    },
    schema_tool,
};

const SERVERS: &str = "list_servers";
const TOOLS: &str = "list_tools";
const DESCRIBE: &str = "describe_tool";
const INVOKE: &str = "invoke_tool";

pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let server = || ("server", json!({ "type": "string" }), true);
    let tool = || (schema_tool::TOOL_NAME, json!({ "type": "string" }), true);
    let shown = vec![
        meta(
            SERVERS,
            format!(
                "Lists the servers whose tools you can use. Start here; then `{TOOLS}`, `{DESCRIBE}` and `{INVOKE}`."
            ),
            &[],
        )?,
        meta(TOOLS, "Lists the tools of a server, each with its purpose.", &[server()])?,
        meta(DESCRIBE, "Gives the full definition of a tool of a server.", &[server(), tool()])?,
        meta(
            INVOKE,
            format!("Calls a tool of a server, with arguments that fit the schema that `{DESCRIBE}` gives."),
            &[server(), tool(), (schema_tool::ARGUMENTS, json!({ "type": "object" }), true)],
        )?,
    ];
    Ok(DeskArm::build(info, Arc::new(Hierarchical(materials.clone())), shown))
}

struct Hierarchical(Materials);

impl Hierarchical {
    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        let servers = &self.0.definitions().servers;
        if call.name == SERVERS {
            let all = servers.iter().map(|server| json!({ "name": &*server.name, "tools": server.tools.len() }));
            return Ok(Answer::Says(replies::array(all.map(|server| server.to_string()))));
        }
        let name = replies::text(&call.arguments, "server")?;
        let server = self.0.server_named(name).ok_or_else(|| self.0.no_server(name))?;
        if call.name == TOOLS {
            let all = self
                .0
                .of_server(server)
                .map(|at| replies::object(self.0.name(at), replies::first_sentence(&self.0, at).as_deref(), None, &[]));
            return Ok(Answer::Says(replies::array(all)));
        }
        let at = self.0.find_on(server, replies::text(&call.arguments, schema_tool::TOOL_NAME)?)?;
        Ok(if call.name == DESCRIBE {
            Answer::Says(schema_tool::schema_text(self.0.definitions(), self.0.place(at), false))
        } else {
            Answer::Forwards(at, replies::inner(&call.arguments, schema_tool::ARGUMENTS))
        })
    }
}

impl Desk for Hierarchical {
    fn materials(&self) -> &Materials {
        &self.0
    }

    fn informs(&self, name: &str) -> bool {
        [SERVERS, TOOLS, DESCRIBE].contains(&name)
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        (call.name == INVOKE || self.informs(&call.name)).then(|| self.call(call))
    }
}
