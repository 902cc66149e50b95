# The commands people use, each one line. `just` itself is optional: every recipe is a plain command.

# The offline check: every level and control over the real catalogs.
check:
    cargo run --release

# All tests.
test:
    cargo test --workspace

# What CI runs.
ci:
    .ci/run

# Criterion benches.
bench:
    cargo bench --workspace

# Accept changed snapshots after reading them.
snapshots:
    INSTA_UPDATE=always cargo test --workspace

# Compares L0, L1 and L2 with the released package they describe (docs/differential.md); needs Python 3.9 and a registry.
differential:
    @command -v python3 >/dev/null || { echo "python3 is missing: the comparison runs a Python package" >&2; exit 31; }
    cargo build --release && python3 scripts/differential.py

# One live run against a small real language model on this machine (exploratory, about an hour); needs Python 3.10 and a registry.
local-model *ARGS:
    @command -v python3 >/dev/null || { echo "python3 is missing: the model's server runs in Python" >&2; exit 31; }
    cargo build --release && python3 scripts/local-model.py {{ARGS}}

# Runs the official Python SDKs of both providers against the mock server; needs Python 3.9 and a registry.
sdk-check:
    @command -v python3 >/dev/null || { echo "python3 is missing: the check runs Python packages" >&2; exit 31; }
    cargo build --release && python3 scripts/sdk-check.py target/release/bench

# The ceiling under 200 fault scripts, with kills; tests run 6 of them.
ceiling:
    BENCH_CEILING_SCRIPTS=200 cargo test --release -p bench --test ceiling -- --nocapture
