#!/usr/bin/env bash
# Runs a program that writes what it has measured to a file in the working directory, or to its
# output in a way of its own, and prints "measured N s": of HPCG the time for a billion operations,
# of miniFE and TeaLeaf the time of the whole program.
# usage: rated.sh DIRECTORY CELLS COMMAND...  CELLS: of TeaLeaf's grid, in each direction
set -euo pipefail
rm -rf "$1"
mkdir -p "$1"
cd "$1"
cat >tea.in <<TEA
*tea
state 1 density=100.0 energy=0.0001
state 2 density=0.1 energy=25.0 geometry=rectangle xmin=0.0 xmax=1.0 ymin=1.0 ymax=2.0
state 3 density=0.1 energy=0.1 geometry=rectangle xmin=1.0 xmax=6.0 ymin=1.0 ymax=2.0
x_cells=$2
y_cells=$2
xmin=0.0
ymin=0.0
xmax=10.0
ymax=10.0
initial_timestep=0.004
end_step=1
tl_max_iters=10000
tl_use_cg
tl_eps=1.0e-15
*endtea
TEA
"${@:3}" | tee output
# The last number of the last line with the pattern.
last() { sed -n "s/^.*$1[^0-9.]*\([0-9.eE+-]*\).*/\1/p" "${@:2}" | tail -n 1; }
shopt -s nullglob
rating=$(last 'GFLOP\/s rating of' HPCG-Benchmark*.txt output)
seconds=$(last 'Total Program Time' miniFE*.yaml output)
seconds=${seconds:-$(last 'Wall clock' tea*.out)}
awk -v rating="$rating" -v seconds="$seconds" 'BEGIN {
  if (rating > 0) seconds = 1 / rating
  if (!(seconds > 0)) exit 1
  printf "measured %.6f s\n", seconds
}'
