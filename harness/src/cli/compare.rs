//! `bench compare`: raw, built-in arms and anybody's compressors on the same tasks.

use std::{num::NonZeroUsize, thread};

use anyhow::Context as _;

use super::{
    args::{CompareArgs, GlobalArgs},
    ci::{self, Ended},
    failure::Failure,
    interrupt,
    output::Output,
    progress::Progress,
    retrieval::embedder,
};
use crate::{
    arms::{Tasks, registry::Registry},
    compare::{self, Choice, CompareSpec, Comparison, Field, FieldError},
    exit,
    external::{Entry, EntryError, ExternalError, Limits},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
};

impl From<EntryError> for Failure {
    fn from(error: EntryError) -> Self {
        let code = if matches!(error, EntryError::Proxy { .. }) { exit::USAGE } else { exit::INPUT };
        Self::new(code, error)
    }
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        let code = match error {
            FieldError::External(ExternalError::NotInstalled { .. }) => exit::RUNTIME,
            FieldError::External(ExternalError::OwnProgram(_)) => exit::BUG,
            _ => exit::USAGE,
        };
        Self::new(code, error)
    }
}

/// Tasks that a comparison needs at least.
const MIN_TASKS: u64 = 20;

/// Runs the command.
pub(super) fn run(
    args: &CompareArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<u8, Failure> {
    let files = args.ci.open()?;
    files.close("bench compare", ended(args, global, inputs, output))
}

fn ended(args: &CompareArgs, global: &GlobalArgs, inputs: &Inputs, output: &mut Output) -> Result<Ended, Failure> {
    let spec = CompareSpec {
        mock: args.mock,
        seed: inputs.protocol.seeds.primary.clone(),
        tasks: args.tasks,
        threads: args.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
    };
    let seeds = SuiteSeeds::derive(&inputs.protocol, &spec.seed)?;
    let registry = Registry::new(&plan::arm_context(inputs, &seeds))?;
    // Intervals are over tools; the first tasks are of as many tools.
    if args.tasks.is_some_and(|tasks| tasks < MIN_TASKS) {
        return Err(Failure::usage(format!("--tasks: a comparison needs at least {MIN_TASKS} tasks")));
    }
    let registry = match embedder(args.embedder.as_deref())? {
        Some(embedder) => registry.with_embedder(embedder),
        None => registry,
    };
    let choice = choice(args, global)?;
    let external = choice.entries.iter().filter(|entry| choice.takes(entry)).count();
    if external > 0 {
        output.talk(&format!("compressors to start: {external}"));
    }
    let interrupts = interrupt::ends();
    let field = Field::gather(&inputs.protocol, &registry, &inputs.catalogs, &choice)?;
    let is_down = |arm: &String| field.not_started.iter().any(|down| down.arm == *arm);
    if let Some(arm) = args.require.as_ref().filter(|arm| !is_down(arm)) {
        let Some(own) = field.arms.iter().find(|own| own.info().id.0 == *arm) else {
            return Err(Failure::usage(format!("--require {arm}: that arm is not part of this comparison")));
        };
        if !own.info().ranks(Tasks::Single) {
            return Err(Failure::usage(format!(
                "--require {arm}: that arm is only shown, not tested; see `bench arms`"
            )));
        }
    }
    let stop = interrupts.asks();
    let mut progress = Progress::new(output.progress());
    let comparison = compare::compare(inputs, &registry, &field, &spec, &stop, &mut progress)?;
    let Some(comparison) = comparison else {
        let why = "interrupted: a comparison is all or nothing";
        output.talk(why);
        return Ok(Ended::early(exit::INTERRUPTED, args.mock.name(), why));
    };
    if output.json {
        output.document(&comparison)?;
    } else {
        output.table(&compare::text(&comparison))?;
    }
    let cases = ci::of_comparison(&comparison, args.require.as_deref());
    Ok(Ended { code: code(args, &comparison), suite: args.mock.name().to_owned(), cases })
}

/// The arms that were asked for. A proxy on the command line always takes part.
fn choice(args: &CompareArgs, global: &GlobalArgs) -> Result<Choice, Failure> {
    let mut choice = Choice { names: args.arms.clone(), limits: limits(args), ..Choice::default() };
    for file in &args.arms_file {
        choice.entries.extend(Entry::load(file)?);
    }
    let here = std::env::current_dir().context("the folder that this program was started in")?;
    for (place, text) in args.proxy.iter().enumerate() {
        let mut entry = Entry::proxy(text, &here)?;
        entry.stateless = args.stateless;
        if place > 0 {
            entry.name = format!("proxy-{}", place + 1);
        }
        choice.entries.push(entry);
    }
    choice.catalogs = global.catalogs.as_ref().map(|folder| folder.canonicalize()).transpose()?;
    Ok(choice)
}

fn limits(args: &CompareArgs) -> Limits {
    let standard = Limits::default();
    Limits {
        start: args.start_timeout.map_or(standard.start, |seconds| std::time::Duration::from_secs(seconds.get())),
        call: args.call_timeout.map_or(standard.call, |seconds| std::time::Duration::from_secs(seconds.get())),
        ..standard
    }
}

fn code(args: &CompareArgs, comparison: &Comparison) -> u8 {
    if !comparison.all_started() {
        return exit::RUNTIME;
    }
    let Some(required) = &args.require else { return exit::OK };
    let row = comparison.arms.iter().find(|row| row.arm == *required);
    exit::of_status(row.and_then(|row| Some(row.test.as_ref()?.status)))
}
