//! search-invoke: `search_tools` answers with the five best definitions, `call_tool` calls one of them.

use std::sync::Arc;

use bench_tasks::lexical::tokens;
use serde_json::json;

use crate::arms::{
    Arm, ArmError, ArmInfo, ToolCall,
    peers::{
        Materials, Ranker,
        desk::{Answer, Desk, DeskArm, meta},
        ranking::top,
        replies,
    },
};

const SEARCH: &str = "search_tools";
const CALL: &str = "call_tool";
/// Tools per search.
const K: usize = 5;

pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let shown = vec![
        meta(
            SEARCH,
            format!(
                "Finds tools. There are {} tools of {} servers, none of them among yours: describe what you need, and you \
                 get the definitions of up to {K} that fit. Call one with `{CALL}`.",
                materials.len(),
                materials.servers()
            ),
            &[("query", json!({ "type": "string" }), true)],
        )?,
        meta(
            CALL,
            format!("Calls a tool that `{SEARCH}` found, by its name and with arguments that fit its schema."),
            &[("name", json!({ "type": "string" }), true), ("arguments", json!({ "type": "object" }), true)],
        )?,
    ];
    Ok(DeskArm::build(info, Arc::new(SearchInvoke(materials.clone())), shown))
}

struct SearchInvoke(Materials);

impl SearchInvoke {
    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        if call.name == SEARCH {
            let found = self.rank(replies::text(&call.arguments, "query")?, K)?;
            if found.is_empty() {
                return Ok(Answer::Says("No tool fits; try other words.".to_owned()));
            }
            return Ok(Answer::Says(replies::array(found.into_iter().map(|at| replies::definition(&self.0, at, &[])))));
        }
        let name = replies::text(&call.arguments, "name")?;
        let at = self.0.find(name).ok_or_else(|| self.0.no_tool(name))?;
        Ok(Answer::Forwards(at, replies::inner(&call.arguments, "arguments")))
    }
}

impl Ranker for SearchInvoke {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        Ok(top(&self.0.index().bm25(&tokens(query)), k))
    }

    fn shortlist(&self) -> usize {
        K
    }
}

impl Desk for SearchInvoke {
    fn materials(&self) -> &Materials {
        &self.0
    }

    fn informs(&self, name: &str) -> bool {
        name == SEARCH
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        [SEARCH, CALL].contains(&call.name.as_str()).then(|| self.call(call))
    }

    fn ranker(&self) -> Option<&dyn Ranker> {
        Some(self)
    }
}
