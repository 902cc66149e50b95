//! The `bench` binary: parses, runs, prints `error: …`, exits with a documented code.

use std::process::ExitCode;

// What one thread reads another one frees; the system's allocator spends a fifth of a long `verify` on locks for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(bench_harness::cli::main())
}
