//! Turns of the tool suite: find the wanted tool or a way to it, then call it.

use serde_json::{Map, Value, json};

use super::{Scene, arguments, past::Past};
use crate::{
    behaviour::Behaviour,
    key::RightCall,
    noise::LossTarget,
    surface::{
        Tool,
        lookup::{full_name, has_word},
        meta::MetaKind,
        words::target,
    },
    wire::reply::{Call, Turn},
};

/// Upstream calls that may fail before the model gives up.
const MAX_FAILURES: usize = 2;

/// The call that the model has made up its mind for.
struct Wish {
    server: String,
    tool: String,
    /// The right arguments, or facts that another tool may have a place for.
    arguments: Map<String, Value>,
    /// Whether `arguments` are meant for this tool.
    fits: bool,
}

/// How the call can be made now.
enum Step<'s> {
    Direct(&'s Tool),
    Invoke {
        tool: &'s Tool,
        name: &'s str,
        arguments: &'s str,
        listed: String,
    },
    /// By its own name, although it is not shown.
    Guess(String),
    Fetch {
        tool: &'s Tool,
        name: &'s str,
        listed: String,
    },
    Search {
        tool: &'s Tool,
        query: &'s str,
    },
    NoWay,
}

/// Decides a turn; `right` is `None` where no call is right or none is known.
pub(super) fn decide(scene: &Scene<'_>, right: Option<&RightCall>) -> Turn {
    let Some(wish) = wish(scene, right) else {
        return Turn::Text("None of the available tools serves this request.".to_owned());
    };
    let past = Past::of(scene, &wish.server, &wish.tool);
    if past.done {
        return Turn::Text("Done.".to_owned());
    }
    if past.failed >= MAX_FAILURES {
        return Turn::Text("The call keeps failing, so I stop here.".to_owned());
    }
    let call = |name: &str, input: Map<String, Value>| Call { name: name.to_owned(), input: Value::Object(input) };
    let arguments = |tool: Option<&Tool>| fill(scene, &wish, &past, tool);
    match step(scene, &wish, &past) {
        Step::Direct(tool) => upstream(scene, arguments(Some(tool)), |input| call(&tool.name, input)),
        Step::Guess(name) => upstream(scene, arguments(None), |input| call(&name, input)),
        Step::Invoke { tool, name, arguments: inner, listed } => upstream(scene, arguments(None), |input| {
            call(
                &tool.name,
                Map::from_iter([(name.to_owned(), json!(listed)), (inner.to_owned(), Value::Object(input))]),
            )
        }),
        Step::Fetch { tool, name, listed } => {
            Turn::Calls(vec![call(&tool.name, Map::from_iter([(name.to_owned(), json!(listed))]))])
        }
        Step::Search { tool, query } => {
            let text = scene.request.conversation.user.as_ref();
            Turn::Calls(vec![call(&tool.name, Map::from_iter([(query.to_owned(), json!(text))]))])
        }
        Step::NoWay => Turn::Text("I do not see a tool for this.".to_owned()),
    }
}

/// One upstream call, or two of them where the script sends calls in parallel and the request lets it.
fn upstream(scene: &Scene<'_>, arguments: Map<String, Value>, call: impl Fn(Map<String, Value>) -> Call) -> Turn {
    if scene.behaviour != Behaviour::Parallel || !scene.request.parallel {
        return Turn::Calls(vec![call(arguments)]);
    }
    let distinct = scene.dice.in_turn("second-distinct", scene.dice.noise.second_distinct_ppm);
    let other = if distinct { arguments::with_one_wrong(&arguments, &scene.dice) } else { None };
    let second = call(other.unwrap_or_else(|| arguments.clone()));
    Turn::Calls(vec![call(arguments), second])
}

/// What the model wants to call, its mistakes included; `None` where it wants nothing.
fn wish(scene: &Scene<'_>, right: Option<&RightCall>) -> Option<Wish> {
    if scene.behaviour == Behaviour::Lexical {
        let (server, tool) = scene.request.tools.words().best(&scene.request.conversation.user)?;
        let fits = right.is_some_and(|right| full_name(&right.server, &right.tool) == full_name(server, tool));
        let arguments = right.map(|right| right.arguments.clone()).unwrap_or_default();
        return Some(Wish { server: server.clone(), tool: tool.clone(), arguments, fits });
    }
    let Some(right) = right else {
        return scene.calls_anyway().then(|| another(scene, None)).flatten();
    };
    let wish = Wish {
        server: right.server.to_string(),
        tool: right.tool.to_string(),
        arguments: right.arguments.clone(),
        fits: true,
    };
    Some(match scene.call_mistake() {
        None => wish,
        Some(LossTarget::Selection) => another(scene, Some(right)).unwrap_or(wish),
        Some(LossTarget::Arguments) => match arguments::with_one_wrong(&right.arguments, &scene.dice) {
            Some(arguments) => Wish { arguments, ..wish },
            None => another(scene, Some(right)).unwrap_or(wish),
        },
    })
}

/// A visible tool that is not the right one, of the same server where there is one.
fn another(scene: &Scene<'_>, right: Option<&RightCall>) -> Option<Wish> {
    let tools = &scene.request.tools;
    let right_name = right.map(|right| full_name(&right.server, &right.tool));
    let shown = tools.upstream().map(|tool| target(&tool.name));
    let listed = tools.listed().iter().map(|listed| (listed.server.clone().unwrap_or_default(), listed.tool.clone()));
    let mut others: Vec<(String, String)> = shown.chain(listed).collect();
    // A tool that was unlocked stands in both lists and moves with it; sorting keeps the choice the same in every turn.
    others.sort_unstable();
    others.dedup();
    others.retain(|(server, tool)| Some(full_name(server, tool)) != right_name);
    if let Some(right) = right {
        let server = full_name(&right.server, "");
        if others.iter().any(|(own, _)| full_name(own, "") == server) {
            others.retain(|(own, _)| full_name(own, "") == server);
        }
    }
    let pick = scene.dice.pick("another-tool", others.len());
    let (server, tool) = others.into_iter().nth(pick)?;
    let arguments = right.map(|right| right.arguments.clone()).unwrap_or_default();
    Some(Wish { server, tool, arguments, fits: false })
}

/// The next step towards the wanted call, from what is shown and what was read.
fn step<'s>(scene: &'s Scene<'_>, wish: &Wish, past: &Past<'_>) -> Step<'s> {
    let tools = &*scene.request.tools;
    let Wish { server, tool, .. } = wish;
    let full = full_name(server, tool);
    let direct = tools.direct(server, tool);
    let invoker = tools.meta(server, |kind| match kind {
        MetaKind::Invoke { name, arguments } => Some((name.as_str(), arguments.as_str())),
        _ => None,
    });
    let fetcher = tools.meta(server, |kind| match kind {
        MetaKind::Fetch { name } => Some(name.as_str()),
        _ => None,
    });
    let found = || [&full, tool].into_iter().find(|name| past.found.iter().any(|text| has_word(text, name))).cloned();
    let listed = [fetcher.map(|(meta, _)| meta), invoker.map(|(meta, _)| meta)]
        .into_iter()
        .flatten()
        .find_map(|meta| meta.lists_as(server, tool))
        .or_else(found);
    let invoke =
        |listed: String| invoker.map(|(tool, (name, arguments))| Step::Invoke { tool, name, arguments, listed });
    match (direct, listed) {
        (direct, Some(listed)) if scene.behaviour == Behaviour::AlwaysInvokes && invoker.is_some() => {
            invoke(listed).or_else(|| direct.map(Step::Direct)).unwrap_or(Step::NoWay)
        }
        (Some(direct), _) => Step::Direct(direct),
        (None, Some(_)) if scene.behaviour == Behaviour::NeverFetches => Step::Guess(full),
        (None, Some(listed)) => match fetcher {
            Some((tool, name)) if past.fetches == 0 => Step::Fetch { tool, name, listed },
            _ => invoke(listed).unwrap_or(Step::Guess(full)),
        },
        (None, None) => match tools.meta(server, |kind| match kind {
            MetaKind::Search { query } => Some(query.as_str()),
            _ => None,
        }) {
            Some((tool, query)) if past.searches == 0 => Step::Search { tool, query },
            _ => Step::NoWay,
        },
    }
}

/// Arguments for the wanted tool, under the names that the model has seen.
fn fill(scene: &Scene<'_>, wish: &Wish, past: &Past<'_>, shown: Option<&Tool>) -> Map<String, Value> {
    let tools = &scene.request.tools;
    let shown = shown.or_else(|| tools.direct(&wish.server, &wish.tool));
    let listed = tools.entry(&wish.server, &wish.tool);
    if !wish.fits {
        return arguments::for_another(&wish.arguments, shown, listed);
    }
    let seen = |name: &str| {
        shown.is_some_and(|tool| tool.has(name))
            || listed.is_some_and(|listed| listed.arguments.iter().any(|(argument, _)| argument == name))
            || past.fetched.iter().chain(&past.found).any(|text| has_word(text, name))
    };
    arguments::under_seen_names(&wish.arguments, seen, &scene.dice)
}
