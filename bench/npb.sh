#!/usr/bin/env bash
# Builds the NAS Parallel Benchmarks 3.3.1 (MPI) for bench/run.py's `npb`: fetches them from the
# public repository below, or from the one that NPB_REPOSITORY names, once.
# usage: npb.sh DIRECTORY MPICC MPIF77 CLASS OBJECT [PLACE]
# Programs are DIRECTORY/PLACE/NAME.CLASS.RANKS, each linked with OBJECT; PLACE is MPICC if not
# given.
set -euo pipefail
directory=$1 cc=$2 fc=$3 class=$4 object=$5 place=${6:-$2}
repository=${NPB_REPOSITORY:-https://github.com/mbdevpl/nas-parallel-benchmarks}
commit=6f8ec75d6951629d2eb7e3001433295d407230aa

if [ ! -d "$directory/source" ]; then
  rm -rf "$directory/source.new"
  git clone --quiet "$repository" "$directory/source.new"
  git -C "$directory/source.new" checkout --quiet "$commit"
  mv "$directory/source.new" "$directory/source"
fi

mkdir -p "$directory/$place"
tree=$directory/$place/tree
if [ ! -d "$tree" ]; then
  mkdir "$tree.new"
  cp -r "$directory"/source/NPB3.3-MPI/. "$tree.new"
  mkdir -p "$tree.new/bin"
  cat >"$tree.new/config/make.def" <<MAKE
MPIF77 = $fc
FLINK = $fc
FFLAGS = -O2 -g -std=legacy -fallow-argument-mismatch
FLINKFLAGS =
FMPI_LIB = $object
FMPI_INC =
MPICC = $cc
CLINK = $cc
CFLAGS = -O2 -g
CLINKFLAGS =
CMPI_LIB = $object
CMPI_INC =
CC = cc
BINDIR = ../bin
RAND = randdp
MAKE
  mv "$tree.new" "$tree"
fi

# BT and SP want a square number of ranks.
for program in bt.4 cg.2 ep.2 ft.2 is.2 lu.2 mg.2 sp.4; do
  name=${program%.*} ranks=${program#*.}
  target=$directory/$place/$name.$class.$ranks
  [ -x "$target" ] && continue
  # The makefiles keep objects of one class and number of ranks at a time.
  make -C "$tree" --silent "$name" CLASS="$class" NPROCS="$ranks" >"$directory/$place/$name.log" 2>&1 ||
    { tail -20 "$directory/$place/$name.log" >&2; exit 1; }
  mv "$tree/bin/$name.$class.$ranks" "$target"
done
