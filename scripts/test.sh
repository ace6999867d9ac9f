#!/usr/bin/env bash
# Runs all tests, those of the documentation's code excepted, of which there are none.
set -uo pipefail

# Of all that an MPI job does at its start, looking for PCI devices takes the most processor time in
# a virtual machine, and clearing tables for hundreds of ranks is next. No test is about either.
export HWLOC_COMPONENTS=-pci,-linuxio PMIX_MCA_gds=hash

# MPICH's ranks poll, and give their core to others after a thousand polls: here others always wait
# for it.
export MPIR_CVAR_POLLS_BEFORE_YIELD=1

# Programs at a time. Each runs several tests at a time, which wait about half of the time.
cores=$(nproc)
exec ./scripts/tests.py $((cores / 2 + 2)) \
  --workspace --features commsan-runtime/serial --lib --bins --tests
