#!/usr/bin/env bash
# Makes results/published/offline/ again: the offline run as a bundle, and the definitions table. The program must be built.
set -euo pipefail
cd "$(dirname "$0")/.."
bench="${1:-target/release/bench}"
out=results/published/offline
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
"$bench" --quiet --out "$scratch/runs" >"$out/table.txt"
"$bench" bundle "$scratch"/runs/* --quiet -o "$out/plumbing.tar.gz"
"$bench" definitions >"$out/definitions.txt"
"$bench" verify "$out/plumbing.tar.gz"
