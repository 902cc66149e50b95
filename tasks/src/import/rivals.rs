//! Which golds another row's tool may contest.

use std::sync::Arc;

use super::{Request, RowNote};
use crate::{
    catalog::Catalogs,
    lexical::{Index, rank, tokens, tool_tokens},
};

/// A note per request whose first tool by BM25 is none of its row's own.
pub(super) fn find(requests: &[Request], catalogs: &Catalogs) -> Vec<RowNote> {
    let tools: Vec<(&Arc<str>, &Arc<str>)> =
        catalogs.tools().map(|(catalog, tool)| (&catalog.server, &tool.name)).collect();
    let index = Index::new(catalogs.tools().map(|(_, tool)| tool_tokens(&tool.name, tool.description.as_deref())));
    let mut notes = Vec::new();
    for request in requests.iter().filter(|request| !request.own.is_empty()) {
        let scores = index.bm25(&tokens(&request.utterance));
        let Some(best) = rank(&scores).into_iter().next().filter(|&best| scores[best] > 0.0) else { continue };
        let (server, tool) = tools[best];
        if !request.own.iter().any(|(own_server, own_tool)| (own_server, own_tool) == (server, tool)) {
            notes.push(request.place.note(format!("{}: {server}/{tool} fits the words better", request.id)));
        }
    }
    notes
}
