//! Looking for a tool that cannot be seen yet: search, connect, list servers, list their tools.

use bench_tasks::lexical::{Index, rank, tokens};
use serde_json::{Map, Value, json};

use super::{Scene, past::Past};
use crate::{
    surface::{
        Tool,
        meta::{MetaKind, PATTERNS},
        reply::{self, Entry},
    },
    wire::reply::Call,
};

/// Letters from which a word tells something.
const TELLING: usize = 5;
/// Servers that are connected for one request at most, by a model that has to guess which.
const MAX_CONNECTED: usize = 3;
/// Bytes of a pattern at most, as searches by pattern limit it.
const MAX_PATTERN: usize = 200;

/// The next step of a model that knows which tool it wants; none where there is no way.
///
/// It searches with the user's words first and with the tool's own words after that, as one does who knows what to look
/// for, and connects the server where that is a thing to do. Lists come after searches.
pub(super) fn towards(scene: &Scene<'_>, server: &str, tool: &str, past: &Past<'_>) -> Option<Call> {
    let tools = &*scene.request.tools;
    let user = scene.request.conversation.user.as_ref();
    let steps = &past.steps;
    let search = tools.meta(server, |kind| match kind {
        MetaKind::Search { query, .. } => Some(query.as_str()),
        _ => None,
    });
    let connect = tools.meta(server, |kind| match kind {
        MetaKind::Connect { server, flag } => Some((server.as_str(), flag.as_deref())),
        _ => None,
    });
    if let Some((meta, query)) = search {
        let own_words = wording(query, tool, WhichWords::All);
        let user = wording(query, user, WhichWords::Any);
        // Without its server connected a search finds nothing, whatever the words.
        let may_connect = connect.is_some() && !steps.connected;
        let wordings = [user.as_str(), own_words.as_str()];
        let wordings = if may_connect { &wordings[..1] } else { &wordings[..] };
        if let Some(text) = wordings.iter().find(|text| !steps.queries.iter().any(|asked| asked == *text)) {
            return Some(call(meta, [(query, json!(text))]));
        }
    }
    if let Some((meta, parameter)) = connect.filter(|_| !steps.connected) {
        let (parameter, flag) = parameter;
        let asked = [(parameter, json!(server))].into_iter().chain(flag.map(|flag| (flag, json!(true))));
        return Some(call(meta, asked));
    }
    let list = tools.meta(server, |kind| match kind {
        MetaKind::Tools { server } => Some(server.as_deref()),
        _ => None,
    });
    let (meta, parameter) = list.filter(|_| !steps.tools)?;
    // A server's name has to be known before its tools can be asked for.
    let servers = tools.meta(server, |kind| matches!(kind, MetaKind::Servers).then_some(()));
    if let Some((servers, ())) = servers.filter(|_| parameter.is_some() && !steps.servers) {
        return Some(call(servers, []));
    }
    Some(call(meta, parameter.map(|parameter| (parameter, json!(server)))))
}

/// Whether a pattern asks for any of some words or for all of them in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhichWords {
    Any,
    All,
}

/// What is searched for: the text, or (where a regular expression is asked for) a pattern of its words, longer ones only
/// where any of them will do.
fn wording(parameter: &str, text: &str, which: WhichWords) -> String {
    let is_pattern = PATTERNS.contains(&parameter);
    let words = tokens(text);
    match which {
        WhichWords::Any if !is_pattern => text.to_owned(),
        WhichWords::All if !is_pattern => words.join(" "),
        WhichWords::All => format!("(?i){}", words.join(".*")),
        WhichWords::Any => {
            let mut pattern = String::from("(?i)");
            for word in words.iter().filter(|word| word.chars().count() >= TELLING) {
                if pattern.len() + word.len() + 1 > MAX_PATTERN {
                    break;
                }
                if !pattern.ends_with(')') {
                    pattern.push('|');
                }
                pattern.push_str(word);
            }
            pattern
        }
    }
}

/// What a model does that goes by words alone: the next step, or what the replies so far list.
pub(super) enum ByWords {
    /// There is more to look at.
    Step(Call),
    /// These are all that can be found.
    Found(Vec<Entry>),
}

/// What was looked at so far, by words alone.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "things that were looked at or not, in any combination")]
struct Looked {
    /// Tools that replies list.
    found: Vec<Entry>,
    /// Servers that a search offers, and those that are listed.
    offered: Vec<Entry>,
    servers: Vec<Entry>,
    /// A search was made, and none since a server was connected; one was made that looks further.
    searched: bool,
    further: bool,
    /// Tools were listed, and servers.
    tools_listed: bool,
    servers_listed: bool,
    /// Servers that were to be connected.
    connected: Vec<String>,
}

impl Looked {
    fn of(scene: &Scene<'_>) -> Self {
        let tools = &*scene.request.tools;
        let mut looked = Self::default();
        let conversation = &scene.request.conversation;
        for exchange in conversation.exchanges.iter().skip(conversation.since) {
            let Some(meta) = tools.meta_named(exchange.name) else { continue };
            let input: Map<String, Value> = serde_json::from_str(exchange.input.get()).unwrap_or_default();
            let label = meta.server.as_deref().filter(|label| tools.is_label_of_one(label));
            match &meta.kind {
                MetaKind::Search { further, .. } => {
                    looked.searched = true;
                    looked.further |= further.as_ref().is_some_and(|switch| input.contains_key(switch));
                    let (offered, found) = reply::entries(&exchange.text, label)
                        .into_iter()
                        .partition::<Vec<_>, _>(|entry| entry.is_server);
                    looked.offered.extend(offered);
                    looked.found.extend(found);
                }
                MetaKind::Tools { server } => {
                    looked.tools_listed = true;
                    let asked = server.as_ref().and_then(|name| input.get(name)?.as_str());
                    looked.found.extend(reply::entries(&exchange.text, asked.or(label)));
                }
                MetaKind::Servers => {
                    looked.servers_listed = true;
                    looked.servers.extend(reply::entries(&exchange.text, None));
                }
                MetaKind::Connect { server, .. } => {
                    looked.searched = false;
                    looked.connected.extend(input.get(server).and_then(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
        }
        looked
    }

    /// Of some servers the one whose words fit best and that nobody has asked to be connected yet.
    fn server(&self, user: &str, servers: &[Entry]) -> Option<String> {
        let left: Vec<Entry> =
            servers.iter().filter(|server| !self.connected.contains(&server.name)).cloned().collect();
        pick(user, &left).map(|server| server.name.clone())
    }
}

/// A search, with the names of its parameters.
struct Search<'s> {
    tool: &'s Tool,
    query: &'s str,
    /// Switch that has it look further.
    further: Option<&'s str>,
}

impl Search<'_> {
    /// A call with the user's words, and with a switch on where one is given.
    fn call(&self, user: &str, switch: Option<&str>) -> Call {
        let query = (self.query, json!(wording(self.query, user, WhichWords::Any)));
        call(self.tool, [query].into_iter().chain(switch.map(|switch| (switch, json!(true)))))
    }
}

/// Searches once with the user's words; where that finds nothing, has servers connected that may serve, and searches
/// again; else lists the servers, then the tools of the one whose words fit best.
pub(super) fn by_words(scene: &Scene<'_>) -> ByWords {
    let tools = &*scene.request.tools;
    let user = scene.request.conversation.user.as_ref();
    let looked = Looked::of(scene);
    if !looked.found.is_empty() {
        return ByWords::Found(looked.found);
    }
    let searches = tools.metas(|kind| match kind {
        MetaKind::Search { query, further } => Some((query.as_str(), further.as_deref())),
        _ => None,
    });
    let search = best(user, searches).map(|(_, tool, (query, further))| Search { tool, query, further });
    if let Some(search) = search.as_ref().filter(|_| !looked.searched) {
        return ByWords::Step(search.call(user, None));
    }
    if let Some(step) = search.and_then(|search| connecting(scene, &looked, &search)) {
        return ByWords::Step(step);
    }
    let lists = tools.metas(|kind| match kind {
        MetaKind::Tools { server } => Some(server.as_deref()),
        _ => None,
    });
    if !looked.tools_listed
        && let Some((_, meta, parameter)) = best(user, lists)
    {
        let all = tools.metas(|kind| matches!(kind, MetaKind::Servers).then_some(())).next();
        if let Some((_, all, ())) = all.filter(|_| parameter.is_some() && !looked.servers_listed) {
            return ByWords::Step(call(all, []));
        }
        let fitting = pick(user, &looked.servers).map(|server| json!(server.name));
        return ByWords::Step(call(meta, parameter.zip(fitting)));
    }
    ByWords::Found(looked.found)
}

/// The next step where a search finds nothing and servers can be connected: a search that looks further, a server that it
/// offers, a list of servers, one whose name the user has said. None where all of that was tried.
fn connecting(scene: &Scene<'_>, looked: &Looked, search: &Search<'_>) -> Option<Call> {
    let tools = &*scene.request.tools;
    let user = scene.request.conversation.user.as_ref();
    let connects = tools.metas(|kind| match kind {
        MetaKind::Connect { server, flag } => Some((server.as_str(), flag.as_deref())),
        _ => None,
    });
    let (_, connect, (parameter, flag)) = best(user, connects).filter(|_| looked.connected.len() < MAX_CONNECTED)?;
    if let Some(switch) = search.further.filter(|_| !looked.further) {
        return Some(search.call(user, Some(switch)));
    }
    let said = || {
        let words = tokens(user);
        let names = |server: &&Entry| tokens(&server.name).iter().any(|word| words.contains(word));
        looked.server(user, &looked.servers.iter().filter(names).cloned().collect::<Vec<_>>())
    };
    if let Some(server) = looked.server(user, &looked.offered).or_else(said) {
        let asked = [(parameter, json!(server))].into_iter().chain(flag.map(|flag| (flag, json!(true))));
        return Some(call(connect, asked));
    }
    let all = tools.metas(|kind| matches!(kind, MetaKind::Servers).then_some(())).next();
    all.filter(|_| !looked.servers_listed).map(|(_, all, ())| call(all, []))
}

/// The entry whose words fit best, the first of equals; none of none.
pub(super) fn pick<'e>(user: &str, entries: &'e [Entry]) -> Option<&'e Entry> {
    let words = |entry: &Entry| {
        let server = entry.server.as_deref().unwrap_or_default();
        tokens(&format!("{server} {} {}", entry.name, entry.description))
    };
    let scores = Index::new(entries.iter().map(words)).bm25(&tokens(user));
    entries.get(rank(&scores).into_iter().next()?)
}

/// Of several meta tools of a kind the one whose words fit best, the first of equals.
fn best<'l, M, T>(user: &str, metas: impl Iterator<Item = (M, &'l Tool, T)>) -> Option<(M, &'l Tool, T)> {
    let mut metas: Vec<(M, &Tool, T)> = metas.collect();
    let words = |(_, tool, _): &(M, &Tool, T)| tokens(&format!("{} {}", tool.name, tool.description));
    let scores = Index::new(metas.iter().map(words)).bm25(&tokens(user));
    let first = rank(&scores).into_iter().next()?;
    Some(metas.swap_remove(first))
}

fn call<'a>(tool: &Tool, arguments: impl IntoIterator<Item = (&'a str, Value)>) -> Call {
    let arguments: Map<String, Value> = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Call { name: tool.name.clone(), input: Value::Object(arguments) }
}
