//! `bench replay-server`: a catalog as an MCP server on stdio, the upstream of a compressor under test.

use std::io;

use super::{
    args::{GlobalArgs, ReplayServerArgs, YesNo},
    failure::Failure,
};
use bench_tasks::catalog::Catalogs;

use crate::{
    exit,
    replay_server::{CallLog, ReplayServer},
};

/// Runs the command. Only the catalogs are loaded: a compressor may start this program once per call.
pub(super) fn run(args: &ReplayServerArgs, global: &GlobalArgs) -> Result<u8, Failure> {
    let catalogs = match &global.catalogs {
        Some(folder) => Catalogs::load(folder)?,
        None => Catalogs::vendored()?,
    };
    let list_changed = args.list_changed.map(|switch| switch == YesNo::Yes);
    let server = ReplayServer::new(&catalogs, args.server.as_deref(), list_changed)
        .map_err(|error| Failure::new(exit::USAGE, error))?;
    let mut log = match &args.log {
        None => CallLog::none(),
        Some(path) => CallLog::to(path).map_err(|source| {
            Failure::new(exit::INPUT, anyhow::anyhow!("cannot write the log {}: {source}", path.display()))
        })?,
    };
    match server.serve(io::stdin().lock(), io::stdout().lock(), &mut log) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}
