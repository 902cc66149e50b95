//! `bench catalog`: capture the tool list of a server, and look at catalogs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use bench_results::report::text::line;
use bench_tasks::{Catalog, catalog};

use super::{
    args::{CaptureArgs, CatalogAction, CatalogArgs},
    failure::Failure,
    interrupt,
    output::Output,
};
use crate::{
    capture::{self, CaptureError, CaptureOptions, Captured},
    exit,
    inputs::Inputs,
};

/// Runs the command.
pub(super) fn run(args: &CatalogArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match &args.action {
        CatalogAction::Capture(args) => run_capture(args, output),
        CatalogAction::Check => check(inputs, output),
    }
}

fn run_capture(args: &CaptureArgs, output: &mut Output) -> Result<u8, Failure> {
    if let Some(name) = args.name.as_ref().filter(|name| !capture::is_name(name)) {
        let message = format!("--name {name:?}: a catalog's name holds letters, digits, `_` and `-` only");
        return Err(Failure::usage(message));
    }
    // Found out before the server is started.
    if let Some(folder) = args.out.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|source| unwritable(folder, &source))?;
    }
    let options = CaptureOptions {
        timeout: Duration::from_secs(args.timeout.get()),
        settle: Duration::from_millis(args.settle),
        ..CaptureOptions::new(args.command.clone())
    };
    interrupt::ends();
    let captured = capture::capture(&options).map_err(failure)?;
    let (name, path) = place(args, &captured);
    let catalog = captured.catalog(&name).map_err(failure)?;
    match &path {
        Some(path) => fs::write(path, &catalog.bytes).map_err(|source| unwritable(path, &source))?,
        None => output.bytes().write_all(&catalog.bytes)?,
    }
    tell(&catalog, path.as_deref(), captured.lists, output);
    Ok(exit::OK)
}

/// The catalog's name and where it goes: `--out`, else `NAME.json` where there is a `--name`, else stdout.
fn place(args: &CaptureArgs, captured: &Captured) -> (String, Option<PathBuf>) {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match (&args.out, &args.name) {
        (Some(out), Some(name)) if out.is_dir() => (name.clone(), Some(out.join(format!("{name}.json")))),
        (Some(out), None) if out.is_dir() => {
            let name = captured.suggested_name();
            let path = out.join(format!("{name}.json"));
            (name, Some(path))
        }
        (Some(out), name) => {
            let name = name.clone().or_else(|| stem(out)).unwrap_or_else(|| captured.suggested_name());
            (name, Some(out.clone()))
        }
        (None, Some(name)) => (name.clone(), Some(format!("{name}.json").into())),
        (None, None) => (captured.suggested_name(), None),
    }
}

fn tell(catalog: &Catalog, path: Option<&Path>, lists: usize, output: &Output) {
    let place = path.map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
    let again = if lists > 1 { format!(", listed {lists} times") } else { String::new() };
    output.talk(&format!(
        "{}: {} tools, {} pages{again}, {} bytes, sha256 {}, to {place}",
        catalog.server,
        catalog.tools.len(),
        catalog.pages,
        catalog.bytes.len(),
        catalog.sha256
    ));
}

fn unwritable(path: &Path, source: &std::io::Error) -> Failure {
    Failure::new(exit::INPUT, anyhow::anyhow!("cannot write {}: {source}", path.display()))
}

/// A program that is missing is a runtime that is missing; whatever a server sends wrong is malformed input.
fn failure(error: CaptureError) -> Failure {
    let code = match error {
        CaptureError::NotFound { .. } | CaptureError::Spawn { .. } => exit::RUNTIME,
        _ => exit::INPUT,
    };
    Failure::new(code, error)
}

fn check(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let catalogs = &inputs.catalogs;
    let warnings = catalog::audit(catalogs);
    if output.json {
        output.document(&warnings)?;
        return Ok(exit::OK);
    }
    for warning in &warnings {
        writeln!(output.product(), "{}", line(&warning.to_string()))?;
    }
    let (servers, tools) = (catalogs.catalogs.len(), catalogs.tool_count());
    writeln!(output.product(), "{tools} tools of {servers} servers: {} warnings", warnings.len())?;
    Ok(exit::OK)
}
