//! A commented intent file to start from: for every tool of a catalog a stub per stratum that its schema permits.
//!
//! The stubs are valid (golds fit the schemas, pools are typed), so that `bench tasks check` reads the file from the
//! start; what it still finds is the work that is left: stubs are alike, and there are too few.

mod sample;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use self::sample::samples;
use crate::{
    catalog::{Catalog, ToolDef},
    check::{CheckOptions, leaked_name_words},
    task::Stratum,
};

/// Values of a pool in the scaffold.
const VALUES: usize = 6;
/// Characters of a description that are repeated in a comment.
const DESCRIPTION: usize = 160;

/// The scaffold of one catalog. It asks for as many frames as a check with these options does.
pub fn scaffold(catalog: &Catalog, asked: &CheckOptions) -> String {
    let mut pools = Pools::default();
    let intents: String = catalog.tools.iter().map(|tool| intent(catalog, tool, &mut pools)).collect();
    let mut text = header(&catalog.server, stub(catalog), asked);
    for pool in &pools.pools {
        text += &pool.definition;
    }
    text + &intents + ABSTAIN
}

fn header(server: &str, stub: &str, asked: &CheckOptions) -> String {
    let said = one_line(server);
    let CheckOptions { scored_frames, dev_frames, abstain_frames, .. } = asked;
    format!(
        "# Frames over the tools of {said}: a scaffold, to be rewritten. The format is described in tasks/intents/README.md.
#
# A frame is one way in which a person asks for one tool: its text decides every argument of its gold.
# 1. Replace every text that starts with {stub} by what somebody would really write, in your own words; keep the {{slots}}.
# 2. Replace the pools' values by realistic ones, many of them: a value should not repeat within a tool.
# 3. Write at least {scored_frames} frames per tool, in different words, and {dev_frames} more with `dev = true`, which are never scored.
# 4. Write at least {abstain_frames} requests that no tool serves into a second file, as shown at the end.
# `bench tasks check` says what is left: texts that still hold {stub}, frames of a tool that are too similar, and too few.

server = {}
writer = \"me\"
",
        quoted(server)
    )
}

/// What a text starts with that nobody has written yet: the first that says no word of a tool's name. A check finds them.
pub(crate) const STUBS: [&str; 2] = ["REWRITE", "REPHRASE"];

/// The word that stands for the texts of a catalog.
fn stub(catalog: &Catalog) -> &'static str {
    let silent = |stub: &&&str| catalog.tools.iter().all(|tool| leaked_name_words(&tool.name, stub).is_empty());
    STUBS.iter().find(silent).unwrap_or(&STUBS[0])
}

const ABSTAIN: &str = r#"
# Requests for which no call is right go to a file of their own, say abstain.toml:
#
# suite = "abstain"
# writer = "me"
#
# [[frame]]
# id = "translate-contract"
# reason = "no-tool"             # no-tool | missing-fact | other-product | small-talk
# voice = "polite"
# text = "Could you translate my lease into Dutch?"
"#;

/// One argument that a stub fills.
struct Argument {
    name: String,
    required: bool,
    pool: usize,
    nested: bool,
}

fn intent(catalog: &Catalog, tool: &ToolDef, pools: &mut Pools) -> String {
    let mut text = format!("\n# {}\n", "-".repeat(100));
    let _ = writeln!(
        text,
        "# {}: {}",
        one_line(&tool.name),
        shortened(tool.description.as_deref().unwrap_or("no description"))
    );
    let schema = &tool.input_schema;
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        let values = samples(tool, name, property, VALUES);
        let word = if is_required { "required" } else { "optional" };
        let _ = writeln!(
            text,
            "#   {} ({}, {word}){}",
            one_line(name),
            one_line(&kind(property)),
            one_line(&constraint(property))
        );
        if values.is_empty() {
            let _ = writeln!(text, "#     no sample value fits its schema: write a pool for it by hand");
            continue;
        }
        let nested = values[0].as_array().is_some_and(|items| items.first().is_some_and(Value::is_object));
        arguments.push(Argument { name: name.clone(), required: is_required, pool: pools.of(name, &values), nested });
    }
    let _ = write!(text, "\n[[intent]]\ntool = {}\n", quoted(&tool.name));
    text += "# match = { some_path = \"path\" }   # arguments that may be written differently; the README lists the matchers\n";
    let needed: Vec<&Argument> = arguments.iter().filter(|argument| argument.required).collect();
    let optional = arguments.iter().find(|argument| !argument.required && !argument.nested);
    let nested = arguments.iter().find(|argument| argument.nested);
    let with = |extra: Option<&'_ Argument>| -> Vec<usize> {
        let wanted = |argument: &Argument| argument.required || extra.is_some_and(|extra| extra.name == argument.name);
        (0..arguments.len()).filter(|&at| wanted(&arguments[at])).collect()
    };
    let mut frames = vec![(Stratum::Plain, "asks for it directly", with(None))];
    frames.push((Stratum::Paraphrase, "shares no word with the tool's name", with(None)));
    if catalog.tools.len() > 1 {
        frames.push((Stratum::Confusable, "a fact in the text rules out the tool that is nearest to it", with(None)));
    }
    if let Some(nested) = nested {
        frames.push((
            Stratum::Nested,
            "fills an array of objects; vary the number of its elements",
            with(Some(nested)),
        ));
    }
    if let Some(optional) = optional {
        frames.push((Stratum::Optional, "an argument that is not required matters", with(Some(optional))));
    }
    for (stratum, comment, chosen) in frames {
        let chosen: Vec<&Argument> = chosen.into_iter().map(|at| &arguments[at]).collect();
        text += &frame(tool, (stratum, comment), stub(catalog), &chosen, pools);
    }
    if needed.len() < required.len() {
        text += "# The golds above lack required arguments for which no sample value was found.\n";
    }
    text
}

fn frame(
    tool: &ToolDef,
    (stratum, comment): (Stratum, &str),
    stub: &str,
    arguments: &[&Argument],
    pools: &Pools,
) -> String {
    let slot = |argument: &Argument| bare(&argument.name);
    let mut words = vec![stub.to_owned()];
    // A paraphrase must not say the tool's name, not even by chance in an argument's name.
    let label = |argument: &Argument| {
        let label = argument.name.replace(['{', '}'], "");
        let leaks = stratum == Stratum::Paraphrase && !leaked_name_words(&tool.name, &label).is_empty();
        if leaks { String::new() } else { format!("{label} ") }
    };
    words.extend(arguments.iter().map(|argument| format!("{}{{{}}}", label(argument), slot(argument))));
    let mut text = format!(
        "\n[[intent.frame]]              # {}: {comment}\nid = \"{}-1\"\nstratum = \"{}\"\nvoice = \"terse\"\ntext = {}\n",
        stratum.name(),
        stratum.name(),
        stratum.name(),
        quoted(&words.join(", "))
    );
    if !arguments.is_empty() {
        let slots: Vec<String> = arguments
            .iter()
            .map(|argument| format!("{} = {}", slot(argument), quoted(&pools.pools[argument.pool].name)))
            .collect();
        let gold: Vec<String> = arguments
            .iter()
            .map(|argument| format!("{} = {}", key(&argument.name), quoted(&format!("{{{}}}", slot(argument)))))
            .collect();
        let _ = write!(text, "slots = {{ {} }}\ngold = {{ {} }}\n", slots.join(", "), gold.join(", "));
    }
    text
}

/// The pools of the file, each written once however many arguments have the same name and values.
#[derive(Default)]
struct Pools {
    pools: Vec<PoolText>,
}

struct PoolText {
    name: String,
    values: Vec<Value>,
    definition: String,
}

impl Pools {
    fn of(&mut self, argument: &str, values: &[Value]) -> usize {
        let stem = bare(argument);
        if let Some(at) = self.pools.iter().position(|pool| pool.values == values && pool.name.starts_with(&stem)) {
            return at;
        }
        let taken = |name: &str| self.pools.iter().any(|pool| pool.name == name);
        // One more candidate than there are pools, so that one of them is free.
        let name = (1..=self.pools.len() + 1)
            .map(|n| if n == 1 { stem.clone() } else { format!("{stem}-{n}") })
            .find(|name| !taken(name));
        let name = name.unwrap_or(stem);
        let listed: Vec<String> = values.iter().map(|value| toml(value).to_string()).collect();
        let definition = format!("\n[pools.{name}]\nvalues = [{}]\n", listed.join(", "));
        self.pools.push(PoolText { name, values: values.to_vec(), definition });
        self.pools.len() - 1
    }
}

/// A value without `null`, for which TOML has no form; samples hold none.
fn toml(value: &Value) -> toml::Value {
    toml::Value::try_from(value).unwrap_or_else(|_| toml::Value::from(value.to_string()))
}

/// A TOML string on one line: where the writer would choose a form of several lines, the basic one, which JSON's strings
/// have but for DEL.
fn quoted(text: &str) -> String {
    if text.contains(char::is_control) {
        return Value::from(text).to_string().replace('\u{7f}', "\\u007F");
    }
    toml::Value::from(text).to_string()
}

/// A name that needs no quotes, as slots and pools want it.
fn bare(name: &str) -> String {
    let bare: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
    if bare.is_empty() { "_".to_owned() } else { bare }
}

/// A TOML key, quoted where it must be.
fn key(name: &str) -> String {
    if bare(name) == name { name.to_owned() } else { quoted(name) }
}

/// What a comment may hold: a name with a line end would write lines of its own.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{FFFD}")
}

fn kind(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => match schema.pointer("/items/type").and_then(Value::as_str) {
            Some(items) => format!("{name} of {items}"),
            None => name.clone(),
        },
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any type".to_owned(),
    }
}

/// Default and enumeration, where stated: what an author needs to know most.
fn constraint(schema: &Value) -> String {
    let mut notes = Map::new();
    for name in ["enum", "default", "minimum", "maximum", "format", "pattern"] {
        if let Some(value) = schema.get(name) {
            notes.insert(name.to_owned(), value.clone());
        }
    }
    if notes.is_empty() { String::new() } else { format!(" {}", Value::from(notes)) }
}

fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = one_line(&words.join(" "));
    if line.chars().count() <= DESCRIPTION {
        return line;
    }
    format!("{}…", line.chars().take(DESCRIPTION).collect::<String>().trim_end())
}
