//! `bench surface`: what an arm shows the model at the start of a session.

use super::{args::SurfaceArgs, failure::Failure, output::Output};
use crate::{
    arms::{Scope, registry},
    exit,
    inputs::Inputs,
    plan,
};

/// Runs the command: one JSON document with `arm`, `digest`, `instructions` and `tools`.
pub(super) fn run(args: &SurfaceArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let arm = registry::build(&args.arm, &plan::arm_context(inputs, &seeds))?;
    let session = arm.open(Scope::Catalogs)?;
    let surface = session.surface();
    // The bytes are printed as the model is shown them, not re-serialised.
    let out = output.bytes();
    out.write_all(&surface.bytes())?;
    out.write_all(b"\n")?;
    output.talk(&format!("{}: {} tools, {}", args.arm, surface.tools().len(), surface.digest()));
    Ok(exit::OK)
}
