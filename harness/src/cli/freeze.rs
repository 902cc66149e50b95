//! `bench protocol freeze`: a new lock, and everything that refuses one.

use bench_protocol::{
    lock::{Lock, LockBody, OperatingCharacteristics, SCHEMA},
    plan::underpowered,
    simulate::SimulationTable,
};
use bench_results::record::{Durability, whole::write_whole};

use super::{
    args::{FreezeArgs, YesNo},
    failure::Failure,
    output::Output,
};
use crate::{exit, inputs::Inputs, ledger::Ledger, locking};

/// Runs the command.
pub(super) fn run(args: &FreezeArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    if args.reason.trim().is_empty() {
        return Err(Failure::usage("--reason is empty: say why a new lock is needed"));
    }
    if !args.locks.is_dir() {
        return Err(Failure::usage(format!(
            "{} is no folder; name the folder of locks with --locks",
            args.locks.display()
        )));
    }
    inputs.require_own_suite().map_err(|error| Failure::new(exit::INPUT, error))?;
    let digests = locking::compute(inputs)?;
    if locking::drift_of(inputs, &digests).is_some_and(|drift| drift.is_empty()) {
        return Err(Failure::usage("nothing drifted from the current lock: there is nothing to freeze"));
    }
    let ledger = Ledger::at(&args.ledger).read().map_err(|error| Failure::new(exit::INPUT, error))?;
    let data_seen = args.data_seen == YesNo::Yes;
    locking::fresh(&ledger, inputs, &digests, data_seen).map_err(|error| Failure::new(exit::USAGE, error))?;
    stated_power(inputs)?;
    let operating = operating_characteristics(args, inputs)?;
    let lock = Lock::new(LockBody {
        schema: SCHEMA,
        parent: inputs.chain.current().map(|lock| lock.id().clone()),
        reason: args.reason.clone(),
        data_seen,
        seeds: Some(inputs.protocol.seeds.clone()),
        digests,
        operating_characteristics: Some(operating),
    })
    .map_err(|error| Failure::new(exit::INPUT, error))?;
    let path = args.locks.join(lock.file_name());
    let bytes = lock.bytes().map_err(|error| Failure::new(exit::INPUT, error))?;
    write_whole(&path, &bytes, Durability::Synced).map_err(|error| Failure::new(exit::INPUT, error))?;
    output.talk(&format!("wrote {}", path.display()));
    writeln!(output.product(), "{}", lock.id())?;
    Ok(exit::OK)
}

/// Refuses a protocol that says something else of its own power than its sizes come to.
fn stated_power(inputs: &Inputs) -> Result<(), Failure> {
    let stated = inputs.protocol.power.underpowered;
    let computed = underpowered(&inputs.protocol)?;
    if stated == computed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the protocol states `underpowered = {stated}` and its sizes {} the planned power (`bench power`): state {computed}, or \
         change the sizes",
        if computed { "miss" } else { "reach" }
    )))
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
    table.fit_for_lock(&inputs.protocol).map_err(|error| {
        Failure::usage(format!(
            "{error}; write it anew with `bench simulate --replicates 20000 --json` and name the file with --simulation"
        ))
    })?;
    Ok(OperatingCharacteristics::of(&table))
}
