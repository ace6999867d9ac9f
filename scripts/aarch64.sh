#!/usr/bin/env bash
# Whether what runs on 64-bit Arm (Grace, Fugaku, Graviton) compiles for it, and whether tests of
# crates that need no process of their own pass under emulation. Says what it leaves out for lack of
# a tool.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
sysroot=/usr/aarch64-linux-gnu
cargo=${CARGO:-cargo}

skip() {
  echo "skipped: $1"
  echo "  help: $2"
}

# Compiled to machine code, since `check` does not see assembler.
if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target ]]; then
  skip "Rust for aarch64: its standard library is missing" "rustup target add $target"
else
  for runtime in openmpi mpich mpiabi serial; do
    $cargo check --target $target -p commsan-runtime --features commsan-runtime/$runtime
  done
  $cargo check --target $target -p commsan --no-default-features --features commsan/viewer
  $cargo check --target $target -p commsan-preload -p commsan-simgpu -p commsan-simnccl
  if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    skip "linking for aarch64" "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
  else
    $cargo build --target $target -p commsan-preload
    if ! command -v qemu-aarch64 >/dev/null; then
      skip "tests under emulation" "apt-get install qemu-user"
    else
      $cargo test --target $target -p commsan-machine -p commsan-shadow -p commsan-mpi-abi -p commsan-mpi-calls \
        -p commsan-findings -p commsan-rundir --lib
    fi
  fi
fi

if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
  skip "hooks for aarch64" "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
else
  make --no-print-directory -s -C instrument/hooks CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
    NM=aarch64-linux-gnu-nm OUT="$PWD/target/aarch64/hooks" OBJ="$PWD/target/aarch64/hooks/obj"
fi
