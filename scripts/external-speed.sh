#!/usr/bin/env bash
# Episodes per second through a warm process from outside: a pass-through, and a compressor of an arms file where one is
# named. Two runs of different length, so that starting up does not count. Needs GNU date and a release build:
#   scripts/external-speed.sh [BENCH [EPISODES [ARMS_FILE ARM]]]
set -euo pipefail
bench="$(realpath "${1:-target/release/bench}")"
episodes="${2:-2000}"
few=200
# Nanoseconds that a comparison of so many tasks takes.
elapsed() {
    local tasks="$1" begun
    shift
    begun="$(date +%s%N)"
    "$bench" --quiet compare --mock oracle --tasks "$tasks" "$@" >"$scratch/out" || { cat "$scratch/out"; exit 1; }
    echo $(($(date +%s%N) - begun))
}
rate() {
    local label="$1" short long
    shift
    short="$(elapsed "$few" "$@")"
    long="$(elapsed "$((few + episodes))" "$@")"
    echo "$label: $((episodes * 1000000000 / (long - short))) episodes per second, raw's beside them"
}
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# `env` becomes the replay server: what is measured is the harness and its pipes.
rate "pass-through" --stateless --proxy 'env -- {upstream}'
if [ "$#" -ge 4 ]; then
    rate "$4" --arms-file "$3" --arms "$4"
fi
