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
