//! `bench protocol`: show, check, freeze.

use bench_protocol::{
    lock::{Lock, LockBody, OperatingCharacteristics, SCHEMA},
    simulate::{Scenario, SimulationTable},
};
use bench_results::record::{Durability, writer::write_whole};
use serde_json::json;

use super::{
    args::{FreezeArgs, ProtocolAction, ProtocolArgs, YesNo},
    failure::Failure,
    output::Output,
};
use crate::{exit, inputs::Inputs, locking};

/// Runs the command.
pub(super) fn run(args: &ProtocolArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match &args.action {
        ProtocolAction::Show => show(inputs, output),
        ProtocolAction::Check => check(inputs, output),
        ProtocolAction::Freeze(args) => freeze(args, inputs, output),
    }
}

fn show(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let lock = inputs.chain.current();
    if output.json {
        output.document(&json!({
            "protocol": &*inputs.protocol,
            "digest": inputs.protocol.digest()?,
            "lock": lock.map(|lock| json!({ "id": lock.id(), "body": lock.body() })),
        }))?;
        return Ok(exit::OK);
    }
    write!(output.product(), "{}", inputs.protocol_text)?;
    writeln!(output.product(), "\n# digest {}", inputs.protocol.digest()?)?;
    match lock {
        Some(lock) => writeln!(output.product(), "# lock   {} ({})", lock.id(), lock.body().reason)?,
        None => writeln!(output.product(), "# no lock yet: `bench protocol freeze` writes one")?,
    }
    Ok(exit::OK)
}

fn check(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let computed = locking::compute(inputs)?;
    let Some(drift) = locking::drift_of(inputs, &computed) else {
        return Err(Failure::new(
            exit::LOCK_DRIFT,
            anyhow::anyhow!("there is no lock; `bench protocol freeze` writes one"),
        ));
    };
    let lock = inputs.chain.current().map(|lock| lock.id().to_string()).unwrap_or_default();
    if output.json {
        let drift: Vec<_> =
            drift.iter().map(|one| json!({ "what": one.what, "locked": one.locked, "found": one.found })).collect();
        output.document(&json!({ "lock": lock, "drift": drift }))?;
    } else if drift.is_empty() {
        writeln!(output.product(), "lock {lock}: nothing drifted")?;
    } else {
        for one in &drift {
            writeln!(output.product(), "drifted: {one}")?;
        }
    }
    Ok(if drift.is_empty() { exit::OK } else { exit::LOCK_DRIFT })
}

/// What the lock will say of its own power and size; it has to be known before the lock is written.
fn operating_characteristics(args: &FreezeArgs, inputs: &Inputs) -> Result<OperatingCharacteristics, Failure> {
    let table = match &args.simulation {
        Some(path) => {
            let bytes = std::fs::read(path)
                .map_err(|source| Failure::new(exit::INPUT, anyhow::anyhow!("{}: {source}", path.display())))?;
            SimulationTable::parse(&path.display().to_string(), &bytes)
        }
        None => SimulationTable::built_in(),
    }
    .map_err(|error| Failure::new(exit::INPUT, error))?;
    let digest = inputs.protocol.digest()?;
    if table.protocol != digest.as_str() {
        return Err(Failure::usage(format!(
            "the simulation is of protocol {}, this one is {digest}: write it anew with `bench simulate --replicates 20000 \
             --json` and name the file with --simulation",
            table.protocol
        )));
    }
    if table.scenarios != Scenario::grid_of(&inputs.protocol) {
        return Err(Failure::usage("the simulation has not the whole grid of scenarios; a lock keeps all of it"));
    }
    Ok(OperatingCharacteristics::of(&table))
}

fn freeze(args: &FreezeArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    if args.reason.trim().is_empty() {
        return Err(Failure::usage("--reason is empty: say why a new lock is needed"));
    }
    let computed = locking::compute(inputs)?;
    if locking::drift_of(inputs, &computed).is_some_and(|drift| drift.is_empty()) {
        return Err(Failure::usage("nothing drifted from the current lock: there is nothing to freeze"));
    }
    let operating = operating_characteristics(args, inputs)?;
    let lock = Lock::new(LockBody {
        schema: SCHEMA,
        parent: inputs.chain.current().map(|lock| lock.id().clone()),
        reason: args.reason.clone(),
        data_seen: args.data_seen == YesNo::Yes,
        digests: computed,
        operating_characteristics: Some(operating),
    })
    .map_err(|error| Failure::new(exit::INPUT, error))?;
    let path = args.locks.join(lock.file_name());
    let bytes = lock.bytes().map_err(|error| Failure::new(exit::INPUT, error))?;
    if !args.locks.is_dir() {
        return Err(Failure::usage(format!(
            "{} is no folder; name the folder of locks with --locks",
            args.locks.display()
        )));
    }
    write_whole(&path, &bytes, Durability::Synced).map_err(|error| Failure::new(exit::INPUT, error))?;
    output.talk(&format!("wrote {}", path.display()));
    writeln!(output.product(), "{}", lock.id())?;
    Ok(exit::OK)
}
