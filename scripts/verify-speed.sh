#!/usr/bin/env bash
# How long `bench verify` takes, and how much memory: the whole protocol, and a record of a million episodes.
# Needs GNU time, about 5 GB of disk in $TMPDIR, and a release build.
set -euo pipefail
cd "$(dirname "$0")/.."
bench="${1:-target/release/bench}"
tasks="${2:-125000}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
measure() {
    local label="$1"
    shift
    /usr/bin/time -f "$label: %U s user, %S s system, %e s elapsed, %M kB at most" "$@" >"$scratch/out" || { cat "$scratch/out"; exit 1; }
}
for n in "" "--tasks $tasks --arms L0,L1,L2,L3,raw-again,planted-loss,names-only"; do
    rm -rf "$scratch/runs"
    # shellcheck disable=SC2086
    measure "run" "$bench" --quiet --out "$scratch/runs" $n
    wc -l "$scratch"/runs/*/episodes.jsonl
    du -sh "$scratch/runs"
    measure "verify" "$bench" verify "$scratch"/runs/*
done
