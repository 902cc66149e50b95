#!/usr/bin/env bash
# Makes results/published/head-to-head/ again: every built-in arm of `bench compare` on 60 tasks as a record that anybody
# verifies. The program must be built; needs Python 3.
#
# Plain `bench` runs the arms that its protocol names, so the record has a protocol of its own, which names them all.
set -euo pipefail
cd "$(dirname "$0")/.."
bench="${1:-target/release/bench}"
out=results/published/head-to-head
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
levels="$("$bench" compare --arms all --tasks 20 --quiet --json |
  python3 -c 'import json, sys; print(json.dumps([row["arm"] for row in json.load(sys.stdin)["arms"][1:]]))')"
sed "s/^levels = .*/levels = $levels/" protocol/protocol.toml >"$out/protocol.toml"
"$bench" --protocol "$out/protocol.toml" --mock oracle --tasks 60 --quiet --out "$scratch/runs" >"$out/table.txt"
"$bench" bundle "$scratch"/runs/* --quiet -o "$out/built-in.tar.gz"
"$bench" verify "$out/built-in.tar.gz"
