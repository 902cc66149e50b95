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

# Makes the published offline run and definitions table again, after a new lock.
publish-offline:
    cargo build --release && scripts/publish-offline.sh

# Makes the published record of every built-in arm head to head again; needs Python 3.
publish-head-to-head:
    @command -v python3 >/dev/null || { echo "python3 is missing: it reads the list of arms" >&2; exit 31; }
    cargo build --release && scripts/publish-head-to-head.sh

# Installs the published compressors of peers/arms.toml below peers/local and compares them with raw; needs registries.
peers tasks="200":
    @command -v python3 >/dev/null && command -v npm >/dev/null || { echo "python3 or npm is missing: the compressors are Python and Node packages" >&2; exit 31; }
    cargo build --release
    scripts/install-peers
    target/release/bench compare --arms all --arms-file peers/arms.toml --mock oracle --tasks {{tasks}}
    target/release/bench compare --arms all --arms-file peers/arms.toml --mock lexical --tasks {{tasks}}

# Captures the eight reference servers again and compares the bytes (docs/own-servers.md); needs npm, pip and their registries.
capture-check:
    @command -v npm >/dev/null && command -v python3 >/dev/null || { echo "npm or python3 is missing: the servers come from their registries" >&2; exit 31; }
    cargo build --release && python3 scripts/capture-check.py --bench "${CARGO_TARGET_DIR:-target}/release/bench"

# The committed operating characteristics of the protocol; before a lock is written (about two minutes).
simulate:
    cargo run --release -- --quiet simulate --replicates 20000 --json > protocol/simulations/table.new && mv protocol/simulations/table.new protocol/simulations/table.json

# The error rate of the rule through the whole program: full offline runs that lose exactly the margin.
simulate-program:
    cargo run --release -- simulate --through-program 400

# The statistics beside scipy and base R (benches/peers); needs both.
statistics-peers:
    @command -v python3 >/dev/null || { echo "python3 is missing: half of the peers is scipy" >&2; exit 31; }
    @command -v Rscript >/dev/null || { echo "R is missing" >&2; exit 31; }
    cargo build --release && python3 benches/peers/statistics.py target/release/bench && Rscript benches/peers/statistics.R

# Runs the official Python SDKs of both providers against the mock server; needs Python 3.9 and a registry.
sdk-check:
    @command -v python3 >/dev/null || { echo "python3 is missing: the check runs Python packages" >&2; exit 31; }
    cargo build --release && python3 scripts/sdk-check.py target/release/bench

# The ceiling under 200 fault scripts, with kills; tests run 6 of them.
ceiling:
    BENCH_CEILING_SCRIPTS=200 cargo test --release -p bench --test ceiling -- --nocapture
