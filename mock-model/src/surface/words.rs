//! Choosing a tool by words alone.

use bench_tasks::lexical::{Index, rank, tokens, tool_tokens};

use super::ToolList;

/// An index over names and descriptions of everything that can be called.
#[derive(Debug, Default)]
pub(crate) struct Words {
    index: Index,
    /// Server and tool of each document.
    targets: Vec<(String, String)>,
}

impl Words {
    /// Shown tools in order, then listed ones that are not shown.
    pub(crate) fn of(list: &ToolList) -> Self {
        let mut targets = Vec::new();
        let mut documents = Vec::new();
        for tool in list.upstream() {
            targets.push(target(&tool.name));
            documents.push(tool_tokens(&tool.name, Some(&tool.description)));
        }
        for listed in list.listed() {
            let server = listed.server.clone().unwrap_or_default();
            if list.direct(&server, &listed.tool).is_none() {
                documents.push(tokens(&format!("{server} {}", listed.line)));
                targets.push((server, listed.tool.clone()));
            }
        }
        Self { index: Index::new(documents), targets }
    }

    /// Server and tool whose words fit best; `None` where no word is shared.
    pub(crate) fn best(&self, text: &str) -> Option<&(String, String)> {
        let scores = self.index.bm25(&tokens(text));
        let best = rank(&scores).into_iter().next()?;
        (scores[best] > 0.0).then(|| &self.targets[best])
    }
}

/// Server and tool that a shown name stands for.
pub(crate) fn target(shown: &str) -> (String, String) {
    let (server, tool) = shown.split_once("__").unwrap_or(("", shown));
    (server.to_owned(), tool.to_owned())
}
