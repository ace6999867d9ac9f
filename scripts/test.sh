#!/usr/bin/env bash
# Runs all tests. Those on several nodes and under Slurm mostly wait, so they run beside the others; their output comes at
# the end.
set -uo pipefail
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
