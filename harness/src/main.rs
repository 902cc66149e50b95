//! The `bench` binary: parses, runs, prints `error: …`, exits with a documented code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bench_harness::cli::main())
}
