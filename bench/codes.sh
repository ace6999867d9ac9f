#!/usr/bin/env bash
# Builds LULESH 2.0, HPCG 3.1, miniFE 2 and TeaLeaf for bench/run.py's `codes`: fetches them from
# the public repositories below, or from those that LULESH_REPOSITORY, HPCG_REPOSITORY,
# MINIFE_REPOSITORY and TEALEAF_REPOSITORY name, once.
# usage: codes.sh DIRECTORY NAME OBJECT FORTRAN COMPILER...
# The programs are DIRECTORY/NAME/lulesh, xhpcg, minife and tealeaf, compiled by the command
# (TeaLeaf by the command FORTRAN; left out if that is empty) and linked with OBJECT.
set -euo pipefail
directory=$1 name=$2 object=$3 fortran=$4
shift 4

# fetch NAME REPOSITORY COMMIT
fetch() {
  [ -d "$directory/$1" ] && return
  rm -rf "$directory/$1.new"
  mkdir -p "$directory"
  git clone --quiet "$2" "$directory/$1.new"
  git -C "$directory/$1.new" checkout --quiet "$3"
  mv "$directory/$1.new" "$directory/$1"
}
fetch lulesh.source "${LULESH_REPOSITORY:-https://github.com/LLNL/LULESH}" \
  3e01c40b3281aadb7f996525cdd4a3354f6d3801
fetch hpcg.source "${HPCG_REPOSITORY:-https://github.com/hpcg-benchmark/hpcg}" \
  114602d458d1034faa52b71e4c15aba9b3a17698

fetch minife.source "${MINIFE_REPOSITORY:-https://github.com/Mantevo/miniFE}" \
  c79e0f7f7afdd6c8191936efce7a668316159cc3
fetch tealeaf.source "${TEALEAF_REPOSITORY:-https://github.com/UK-MAC/TeaLeaf_ref}" \
  019aa2f7da9df9559e6a0890d14f961738711ca7

# build PROGRAM SOURCES OPTION...: each file by itself, as makefiles do.
build() {
  local target=$directory/$name/$1 sources=$2 objects=() file
  [ -x "$target" ] && return
  rm -rf "$target.objects"
  mkdir -p "$target.objects"
  for file in $sources; do
    objects+=("$target.objects/$(basename "$file").o")
    "${compiler[@]}" -O3 -g -w "${@:3}" -c "$file" -o "${objects[-1]}"
  done
  "${compiler[@]}" -O3 -g "${objects[@]}" "$object" -o "$target"
}
compiler=("$@")
build lulesh "$directory/lulesh.source/*.cc" -DUSE_MPI=1
build xhpcg "$directory/hpcg.source/src/*.cpp" -DHPCG_NO_OPENMP -ffast-math

minife=$directory/minife.source/ref
build minife "$minife/src/*.cpp $minife/utils/*.cpp" -I"$minife"/{src,utils,fem} -DHAVE_MPI \
  -DMINIFE_SCALAR=double -DMINIFE_LOCAL_ORDINAL=int -DMINIFE_GLOBAL_ORDINAL=int \
  -DMINIFE_CSR_MATRIX -DMINIFE_INFO=0 -DMINIFE_KERNELS=0

# TeaLeaf's makefile knows in which order modules are compiled.
tealeaf=$directory/$name/tealeaf
if [ -n "$fortran" ] && [ ! -x "$tealeaf" ]; then
  rm -rf "$tealeaf.tree"
  cp -r "$directory/tealeaf.source" "$tealeaf.tree"
  make -C "$tealeaf.tree" --silent COMPILER= MPI_COMPILER="$fortran" C_MPI_COMPILER=mpicc.openmpi \
    OPTIONS='-g -w -cpp -ffree-line-length-none -fallow-argument-mismatch' LDLIBS="$object" >"$tealeaf.log" 2>&1 ||
    { tail -20 "$tealeaf.log" >&2; exit 1; }
  mv "$tealeaf.tree/tea_leaf" "$tealeaf"
fi
