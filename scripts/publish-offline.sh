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
# The README shows the same tables.
awk -v table="$out/table.txt" '
  /^<!-- table:/ { print; print "```"; while ((getline line < table) > 0 && line !~ /^bench /) lines[++n] = line
                   while (n && lines[n] == "") n--; for (i = 1; i <= n; i++) print lines[i]; print "```"; inside = 1; next }
  /^<!-- end of table/ { inside = 0 }
  !inside { print }' README.md >"$scratch/README.md"
cp "$scratch/README.md" README.md
