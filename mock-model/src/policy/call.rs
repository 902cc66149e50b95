//! Turns of the tool suite: find the wanted tool or a way to it, then call it.

use serde_json::{Map, Value, json};

use super::{Scene, arguments, explore, past::Past};
use crate::{
    behaviour::Behaviour,
    key::RightCall,
    noise::LossTarget,
    surface::{
        Tool,
        lookup::{full_name, has_word, spellings},
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
        way: Way<'s>,
        arguments: &'s str,
    },
    /// By its own name, although it is not shown.
    Guess(String),
    Fetch {
        tool: &'s Tool,
        way: Way<'s>,
        many: bool,
    },
    /// Look for it first.
    Explore(Call),
    NoWay,
}

/// How a meta tool is told which tool is meant.
struct Way<'s> {
    /// Parameter for the name.
    name: &'s str,
    /// The name, as it was seen.
    listed: String,
    /// Parameter for the server, where there is one.
    server: Option<&'s str>,
}

impl Way<'_> {
    /// The arguments that say so. Beside a server's name the tool's own is enough.
    fn arguments(&self, wish: &Wish, many: bool) -> Map<String, Value> {
        let named_apart = self.server.is_some() && !wish.server.is_empty();
        let name = if named_apart { json!(wish.tool) } else { json!(self.listed) };
        let mut arguments = Map::new();
        if let Some(server) = self.server.filter(|_| named_apart) {
            arguments.insert(server.to_owned(), json!(wish.server));
        }
        arguments.insert(self.name.to_owned(), if many { json!([name]) } else { name });
        arguments
    }
}

/// Decides a turn; `right` is `None` where no call is right or none is known.
pub(super) fn decide(scene: &Scene<'_>, right: Option<&RightCall>) -> Turn {
    let wish = match wish(scene, right) {
        Wanted::Call(wish) => wish,
        Wanted::Look(call) => return Turn::Calls(vec![call]),
        Wanted::Nothing => return Turn::Text("None of the available tools serves this request.".to_owned()),
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
        Step::Invoke { tool, way, arguments: inner } => upstream(scene, arguments(None), |input| {
            let mut wrapped = way.arguments(&wish, false);
            wrapped.insert(inner.to_owned(), Value::Object(input));
            call(&tool.name, wrapped)
        }),
        Step::Fetch { tool, way, many } => Turn::Calls(vec![call(&tool.name, way.arguments(&wish, many))]),
        Step::Explore(call) => Turn::Calls(vec![call]),
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

/// What the model has in mind.
enum Wanted {
    Call(Wish),
    /// It has to look around before it can know.
    Look(Call),
    Nothing,
}

/// What the model wants to call, its mistakes included.
fn wish(scene: &Scene<'_>, right: Option<&RightCall>) -> Wanted {
    if scene.behaviour == Behaviour::Lexical {
        return by_words(scene, right);
    }
    known(scene, right).map_or(Wanted::Nothing, Wanted::Call)
}

/// The tool whose words fit best: of those that replies list, where there are any; else of those that can be seen.
fn by_words(scene: &Scene<'_>, right: Option<&RightCall>) -> Wanted {
    let user = scene.request.conversation.user.as_ref();
    let (server, tool) = match explore::by_words(scene) {
        explore::ByWords::Step(call) => return Wanted::Look(call),
        explore::ByWords::Found(entries) => match explore::pick(user, &entries) {
            Some(entry) => (entry.server.clone().unwrap_or_default(), entry.name.clone()),
            None => match scene.request.tools.words().best(user) {
                Some(best) => best.clone(),
                None => return Wanted::Nothing,
            },
        },
    };
    let fits = right.is_some_and(|right| {
        (server.is_empty() && right.tool.as_ref() == tool)
            || full_name(&right.server, &right.tool) == full_name(&server, &tool)
    });
    let arguments = right.map(|right| right.arguments.clone()).unwrap_or_default();
    Wanted::Call(Wish { server, tool, arguments, fits })
}

/// The right call of the key, or a mistake.
fn known(scene: &Scene<'_>, right: Option<&RightCall>) -> Option<Wish> {
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
        MetaKind::Invoke { name, arguments, server } => Some((name.as_str(), arguments.as_str(), server.as_deref())),
        _ => None,
    });
    let fetcher = tools.meta(server, |kind| match kind {
        MetaKind::Fetch { name, many, server } => Some((name.as_str(), *many, server.as_deref())),
        _ => None,
    });
    let in_texts =
        |texts: &[&str]| spellings(server, tool).into_iter().find(|name| texts.iter().any(|text| has_word(text, name)));
    let listed = [fetcher.map(|(meta, _)| meta), invoker.map(|(meta, _)| meta)]
        .into_iter()
        .flatten()
        .find_map(|meta| meta.lists_as(server, tool))
        .or_else(|| in_texts(&past.found));
    let invoke = |listed: String| {
        invoker.map(|(meta, (name, arguments, parameter))| {
            // Where the listed name was refused, the schema may have come with the one that a call wants.
            let again = in_texts(&past.fetched).filter(|_| past.failed > 0);
            let listed = again.or_else(|| meta.pattern(server, tool)).unwrap_or(listed);
            Step::Invoke { tool: meta, way: Way { name, listed, server: parameter }, arguments }
        })
    };
    match (direct, listed) {
        (direct, Some(listed)) if scene.behaviour == Behaviour::AlwaysInvokes && invoker.is_some() => {
            invoke(listed).or_else(|| direct.map(Step::Direct)).unwrap_or(Step::NoWay)
        }
        (Some(direct), _) => Step::Direct(direct),
        (None, Some(_)) if scene.behaviour == Behaviour::NeverFetches => Step::Guess(full),
        (None, Some(listed)) => match fetcher {
            Some((tool, (name, many, server))) if past.fetches == 0 => {
                Step::Fetch { tool, way: Way { name, listed, server }, many }
            }
            _ => invoke(listed).unwrap_or(Step::Guess(full)),
        },
        (None, None) => explore::towards(scene, server, tool, past).map_or(Step::NoWay, Step::Explore),
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
