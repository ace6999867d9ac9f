#!/usr/bin/env bash
# A heat equation with a mistake in its halo exchange, and what commsan says about it. Fails when
# commsan misses the mistake or complains about the corrected program, so that CI can run it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export PATH=${COMMSAN_DIST:-$root/target/dist}/bin:$PATH
input=$root/examples/heat2d
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v commsan >/dev/null; then
  echo "error: commsan is not built yet; run \`make build\`" >&2
  exit 1
fi

# Debian names each MPI's commands apart; elsewhere there is one MPI under the plain names.
if command -v mpicc.openmpi >/dev/null; then
  mpi=.openmpi
elif command -v mpicc.mpich >/dev/null; then
  mpi=.mpich
elif command -v mpicc >/dev/null; then
  mpi=
else
  echo "error: the demo needs an MPI: Open MPI or MPICH" >&2
  exit 1
fi
if ((EUID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
if (($(nproc) < 4)); then
  export OMPI_MCA_rmaps_base_oversubscribe=1
fi

if [[ -t 1 ]]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
shown() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; }
fail() {
  printf '\nerror: %s\n' "$*" >&2
  exit 1
}

# Shows and runs a command in the working directory; leaves its exit code in $code and what it
# printed in the file `output`.
try() {
  shown "$@"
  code=0
  (cd "$work" && timeout 60 "$@" 2>&1 | tee output) || code=$?
}
checksum() { sed -n 's/.*checksum //p' "$work/output"; }

say "1. A solver of the heat equation, examples/heat2d, compiled with commsan in front of mpicc."
compiler="commsan cc mpicc$mpi"
shown make -C examples/heat2d "CC=\"$compiler\""
make -s -C "$input" CC="$compiler" BUILD="$work" all
cp "$input"/*.in "$work"

say "2. It runs on four ranks, and nobody would suspect its result."
try commsan run --output buggy.commsan -- "mpirun$mpi" -n 4 ./heat_buggy heat.in
((code == 66)) || fail "commsan should have found the mistake (exit code 66), but ended with $code"
grep -q '"CS-BUF-01"' "$work/buggy.commsan/report.json" || fail "CS-BUF-01 is not in the report"

say "3. What that means, and what to do about it:"
try commsan explain CS-BUF-01
((code == 0)) || fail "commsan explain ended with $code"

say "4. The corrected program gives each side a buffer of its own:"
shown diff exchange_buggy.c exchange.c
diff "$input/exchange_buggy.c" "$input/exchange.c" || true
try commsan run --output fixed.commsan -- "mpirun$mpi" -n 4 ./heat heat.in
((code == 0)) || fail "the corrected program should be clean, but commsan ended with $code"

say "5. Why it matters: both without checking on a finer grid, where messages are longer."
try "mpirun$mpi" -n 4 ./heat large.in
((code == 0)) || fail "heat ended with $code"
right=$(checksum)
try "mpirun$mpi" -n 4 ./heat_buggy large.in
((code == 0)) || fail "heat_buggy ended with $code"
if [[ $(checksum) != "$right" ]]; then
  say "The checksums differ; commsan found out on the small grid, where the result was still right."
else
  say "The result happens to be right here, too. With another MPI, network or grid it is not."
fi
echo "Next: docs/usage.md, or put \`commsan run --\` in front of your own mpirun."
