#!/usr/bin/env bash
# Runs HPCG, which writes what it has measured to a file in the working directory, and prints the time for
# a billion operations. usage: rated.sh DIRECTORY COMMAND...
set -euo pipefail
rm -rf "$1"
mkdir -p "$1"
cd "$1"
"${@:2}"
rating=$(sed -n 's/^.*GFLOP\/s rating of=//p' HPCG-Benchmark*.txt | tail -n 1)
awk -v rating="$rating" 'BEGIN { if (!(rating > 0)) exit 1; printf "measured %.6f s\n", 1 / rating }'
