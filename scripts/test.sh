#!/usr/bin/env bash
# Runs all tests. Those on several nodes and under Slurm mostly wait, so they run beside the others; their output comes at
# the end.
set -uo pipefail

# Of all that an MPI job does at its start, looking for PCI devices takes the most processor time in a virtual machine,
# and clearing tables for hundreds of ranks is next. No test is about either.
export HWLOC_COMPONENTS=-pci,-linuxio PMIX_MCA_gds=hash

tests=("${CARGO:-cargo}" test --workspace --features commsan-runtime/serial --no-fail-fast)
"${tests[@]}" --no-run || exit

log=target/waiting-tests.log
"${tests[@]}" --test slurm --test nodes >"$log" 2>&1 &
waiting=$!
COMMSAN_WAITING_TESTS=elsewhere "${tests[@]}"
others=$?
wait "$waiting"
status=$?
cat "$log"
((others == 0 && status == 0))
