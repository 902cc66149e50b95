//! `lazy-hier-reimpl`: GitLab's lazy-mcp, four tools whatever the catalogs hold, and no search.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Build, Materials, REAL_ONE,
    desk::{Answer, Desk, DeskArm, meta},
    info, replies,
};
use crate::arms::{Affordance, Arm, ArmError, ArmInfo, ToolCall};

const SERVERS: &str = "list_servers";
const COMMANDS: &str = "list_commands";
const DESCRIBE: &str = "describe_commands";
const INVOKE: &str = "invoke_command";
/// What an invocation may hold.
const INVOKE_KEYS: [&str; 3] = ["server", "command_name", "parameters"];

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let lazy = ArmInfo {
        objection: Some(REAL_ONE),
        ranked: false,
        gaps: &["wording of the four tools", "upstream errors stay errors (the package drops the flag)"],
        ..info(
            "lazy-hier-reimpl",
            "servers, then their commands, then definitions, called through one tool",
            "GitLab lazy-mcp, README; 2.7.2 observed",
            Affordance::Hierarchical,
            3,
        )
    };
    vec![(lazy, build)]
}

fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let text = || json!({ "type": "string" });
    let list = || json!({ "type": "array", "items": { "type": "string" } });
    let shown = vec![
        meta(
            SERVERS,
            format!(
                "Lists the servers that are there. First step: then `{COMMANDS}`, `{DESCRIBE}`, `{INVOKE}`. `filter` keeps \
                 servers whose name holds it."
            ),
            &[("filter", text(), false)],
        )?,
        meta(
            COMMANDS,
            "Lists the commands of a server, or of several, with their descriptions.",
            &[("server", text(), false), ("servers", list(), false)],
        )?,
        meta(
            DESCRIBE,
            "Gives the definitions of commands of a server, their input schemas included.",
            &[("server", text(), true), ("command_names", list(), true)],
        )?,
        meta(
            INVOKE,
            format!("Calls a command of a server. Its arguments go into `parameters`, as `{DESCRIBE}` defines them."),
            &[
                ("server", text(), true),
                ("command_name", text(), true),
                ("parameters", json!({ "type": "object" }), false),
            ],
        )?,
    ];
    Ok(DeskArm::build(info, Arc::new(LazyHier(materials.clone())), shown))
}

struct LazyHier(Materials);

impl LazyHier {
    fn server(&self, name: &str) -> Result<usize, String> {
        self.0.server_named(name).ok_or_else(|| self.0.no_server(name))
    }

    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        let arguments = &call.arguments;
        match call.name.as_str() {
            SERVERS => {
                let filter = arguments.get("filter").and_then(Value::as_str).unwrap_or_default().to_lowercase();
                let servers = self.0.definitions().servers.iter();
                let kept = servers.filter(|server| server.name.to_lowercase().contains(&filter));
                Ok(Answer::Says(replies::array(kept.map(|server| json!({ "name": &*server.name }).to_string()))))
            }
            COMMANDS => {
                let key = if replies::given(arguments, "servers").is_some() { "servers" } else { "server" };
                let mut listed = Vec::new();
                for name in replies::texts(arguments, key)? {
                    let commands = self.0.of_server(self.server(name)?);
                    let commands = commands.map(|at| {
                        replies::object(self.0.name(at), self.0.tool(at).upstream.description.as_deref(), None, &[])
                    });
                    listed.push(format!(
                        "{{\"server\":{},\"commands\":{}}}",
                        Value::from(name),
                        replies::array(commands)
                    ));
                }
                Ok(Answer::Says(replies::array(listed)))
            }
            DESCRIBE => {
                let server = self.server(replies::text(arguments, "server")?)?;
                let names = replies::texts(arguments, "command_names")?;
                let found: Vec<usize> =
                    names.into_iter().map(|name| self.0.find_on(server, name)).collect::<Result<_, _>>()?;
                Ok(Answer::Says(replies::array(found.into_iter().map(|at| {
                    let raw = &self.0.tool(at).raw;
                    replies::object(self.0.name(at), raw.description(), Some(raw.schema()), &[])
                }))))
            }
            _ => {
                if let Some(extra) = arguments.keys().find(|key| !INVOKE_KEYS.contains(&key.as_str())) {
                    return Err(format!(
                        "error: `{extra}` has no place here; put the command's arguments into `parameters`"
                    ));
                }
                let server = self.server(replies::text(arguments, "server")?)?;
                let at = self.0.find_on(server, replies::text(arguments, "command_name")?)?;
                Ok(Answer::Forwards(at, replies::inner(arguments, "parameters")))
            }
        }
    }
}

impl Desk for LazyHier {
    fn materials(&self) -> &Materials {
        &self.0
    }

    fn informs(&self, name: &str) -> bool {
        [SERVERS, COMMANDS, DESCRIBE].contains(&name)
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        (call.name == INVOKE || self.informs(&call.name)).then(|| self.call(call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{
        CallOutcome, Scope,
        fixtures::{call, context, some},
        registry,
    };

    #[test]
    fn the_surface_is_the_same_whatever_the_catalogs_hold() {
        let two = some("lazy-hier-reimpl", &["memory", "time"]);
        assert_eq!(two, some("lazy-hier-reimpl", &["github"]));
        insta::assert_snapshot!(two);
    }

    #[test]
    fn the_way_down_and_a_stray_argument() {
        let mut session = registry::build("lazy-hier-reimpl", &context()).unwrap().open(Scope::Catalogs).unwrap();
        let mut says = |name: &str, arguments| match session.call(&call(name, arguments)) {
            CallOutcome::Meta { reply, .. } => reply,
            other => format!("{other:?}"),
        };
        assert_eq!(says(SERVERS, json!({ "filter": "GIT" })), r#"[{"name":"git"},{"name":"github"}]"#);
        assert!(says(COMMANDS, json!({ "server": "git" })).contains(r#"{"name":"git_log","description":"Shows the"#));
        assert!(says(COMMANDS, json!({ "servers": ["git", "time"] })).contains("convert_time"));
        assert!(says(COMMANDS, json!({ "server": "time", "servers": [] })).contains("convert_time"));
        assert!(says(DESCRIBE, json!({ "server": "git", "command_names": ["git_log"] })).contains("inputSchema"));
        let invoke = json!({ "server": "git", "command_name": "git_log", "parameters": {} });
        assert!(says(INVOKE, invoke).starts_with("Upstream"));
        let stray = json!({ "server": "git", "command_name": "git_log", "repo_path": "/r" });
        assert!(says(INVOKE, stray).contains("`repo_path` has no place here"));
    }
}
