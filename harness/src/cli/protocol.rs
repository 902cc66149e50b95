//! `bench protocol`: show and check; freezing stands apart.

use serde_json::json;

use super::{
    args::{ProtocolAction, ProtocolArgs},
    failure::Failure,
    freeze,
    output::Output,
};
use crate::{exit, inputs::Inputs, locking};

/// Runs the command.
pub(super) fn run(args: &ProtocolArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match &args.action {
        ProtocolAction::Show => show(inputs, output),
        ProtocolAction::Check => check(inputs, output),
        ProtocolAction::Freeze(args) => freeze::run(args, inputs, output),
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
