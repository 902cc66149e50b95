//! `bench show`: one task of a record, as each model saw it and what it did. Without a task: which there are to look at.

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    args::{ShowArgs, elsewhere},
    listing::{self, nearest},
    record::complete,
};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    inputs::Inputs,
    run::{
        family::{AnyTask, Family},
        prepare::{Prepared, RunSpec},
    },
    verify::{Shown, shown},
    wire::Entry,
};

/// Longest text of one entry that is printed for people.
const LONGEST: usize = 4_000;

/// Runs the command.
pub(in crate::cli) fn run(args: &ShowArgs, output: &mut Output) -> Result<u8, Failure> {
    let found = args.record.find()?;
    let record = complete(found.folder())?;
    let inputs = Inputs::of_record(&record.inputs())?;
    let manifest = record.manifest();
    let spec = RunSpec::of_manifest(manifest);
    let prepared = Prepared::new(&inputs, &spec).map_err(|error| Failure::new(exit::INPUT, error))?;
    let Some(text) = &args.task else { return listing::run(args, &record, &prepared, output) };
    let (family, task) = pick(&prepared, text, args)?;
    if let Some(arm) = args.arm.as_deref().filter(|arm| !family.arms.iter().any(|one| one.info().id.0 == **arm)) {
        let known: Vec<&str> = family.arms.iter().map(|arm| arm.info().id.0.as_str()).collect();
        return Err(Failure::usage(format!("arm `{arm}` did not run on this task; there are {}", known.join(", "))));
    }
    let episodes = shown(&record, &inputs, family, &task, args.arm.as_deref())
        .map_err(|error| Failure::new(exit::INPUT, error))?;
    let whole = match &task {
        AnyTask::Tool(task) => serde_json::to_value(task)?,
        AnyTask::Result(task) => serde_json::to_value(task)?,
    };
    if output.json {
        let arms = episodes.iter().map(|one| document(one, args.surface)).collect::<Result<Vec<_>, _>>()?;
        output.document(&json!({ "run": manifest.id, "task": whole, "arms": arms }))?;
        return Ok(exit::OK);
    }
    let out = &mut output.product();
    let place = [&whole["server"], &whole["tool"], &whole["frame"], &whole["stratum"]];
    let place: Vec<&str> = place.iter().filter_map(|value| value.as_str()).collect();
    writeln!(out, "task {} ({})", task.id(), place.join(", "))?;
    writeln!(out, "user: {}", visible(task.utterance()))?;
    writeln!(out, "gold: {}", whole["gold"])?;
    for one in &episodes {
        print(one, args.surface, out)?;
    }
    Ok(exit::OK)
}

/// The only task whose id begins so, with its family.
fn pick<'a>(prepared: &'a Prepared, text: &str, args: &ShowArgs) -> Result<(&'a Family, AnyTask), Failure> {
    let mut found = None;
    for family in &prepared.families {
        for task in (0..family.tasks.len()).filter_map(|index| family.tasks.task(index)) {
            if task.id().0.starts_with(text) {
                if found.is_some() {
                    return Err(Failure::usage(format!("`{text}` begins several tasks; give more letters")));
                }
                found = Some((family, task));
            }
        }
    }
    found.ok_or_else(|| {
        let (run, folder) = (&args.record.run, elsewhere(&args.record.out));
        Failure::usage(format!(
            "no task of this run begins with `{text}`; the nearest ids are {}. `bench show {run}{folder}` lists the tasks on which \
             an arm and its reference differ, `bench report {run} --csv{folder}` has a row for every one",
            nearest(prepared, text).join(", ")
        ))
    })
}

fn document(one: &Shown, surface: bool) -> Result<Value, Failure> {
    let surfaces: Vec<Value> = one
        .surfaces
        .iter()
        .map(|surface| json!({ "digest": surface.digest(), "tools": surface.tools().len(), "bytes": surface.bytes().len() }))
        .collect();
    let first = one.surfaces.first().filter(|_| surface);
    let first: Option<Value> =
        first.map(|surface| serde_json::from_slice(&surface.bytes())).transpose().context("the surface")?;
    Ok(json!({
        "arm": one.arm,
        "surfaces": surfaces,
        "first_surface": first,
        "conversation": one.entries.iter().map(entry).collect::<Vec<_>>(),
        "episode": one.record,
    }))
}

fn entry(entry: &Entry) -> Value {
    match entry {
        Entry::User(text) => json!({ "user": text }),
        Entry::Assistant(content) => json!({ "assistant": content }),
        Entry::Call { name, arguments, .. } => json!({ "call": name, "arguments": arguments }),
        Entry::Results(answers) => json!({
            "results": answers
                .iter()
                .map(|answer| json!({ "text": answer.text, "is_error": answer.is_error }))
                .collect::<Vec<_>>()
        }),
    }
}

fn print(one: &Shown, surface: bool, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let record = &one.record;
    writeln!(
        out,
        "\n{}: {} after {} turns",
        one.arm,
        serde_json::to_value(record.end)?.as_str().unwrap_or("?"),
        record.turns
    )?;
    if let Some(score) = record.score() {
        let word = |right| if right { "right" } else { "wrong" };
        writeln!(out, "  selection {}, arguments {}", word(score.selection), word(score.arguments))?;
    }
    for (turn, shown) in (1..).zip(&one.surfaces) {
        writeln!(
            out,
            "  turn {turn} shows {} tools, {} bytes, {}",
            shown.tools().len(),
            shown.bytes().len(),
            shown.digest()
        )?;
    }
    if surface && let Some(first) = one.surfaces.first() {
        for tool in first.tools() {
            writeln!(out, "    {}", visible(tool.json()))?;
        }
    }
    for entry in &one.entries {
        match entry {
            // The user's words stand above, once.
            Entry::User(_) => {}
            Entry::Assistant(content) => writeln!(out, "  model: {}", visible(content.get()))?,
            Entry::Call { name, arguments, .. } => {
                writeln!(out, "  call:  {name} {}", visible(&serde_json::to_string(arguments)?))?;
            }
            Entry::Results(answers) => {
                for answer in answers {
                    let word = if answer.is_error { "error: " } else { "reply: " };
                    writeln!(out, "  {word}{}", visible(&answer.text.join("\n")))?;
                }
            }
        }
    }
    Ok(())
}

/// Text of unknown origin for a terminal: control characters escaped, cut where it is long.
fn visible(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        // Direction overrides would let a text disguise what it says.
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c == '\n' {
            out.push_str("\n         ");
        } else if c.is_control() || turns {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_that_steers_a_terminal_or_turns_text_around_gets_through() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\nd"), "a\\u{1b}[2Jb\\u{202e}c\n         d");
        assert_eq!(visible(&"x".repeat(5_000)).chars().count(), 4_001);
    }
}
