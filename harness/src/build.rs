//! What this program was built from, for manifests.

use bench_results::record::Build;

/// Version, commit where the build knew one, target and compiler.
pub fn info() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("BENCH_COMMIT").map(str::to_owned),
        dirty: option_env!("BENCH_DIRTY").map(|dirty| dirty == "true"),
        target: env!("BENCH_TARGET").to_owned(),
        rustc: option_env!("BENCH_RUSTC").unwrap_or("unknown").to_owned(),
    }
}
