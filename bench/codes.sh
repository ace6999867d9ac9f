#!/usr/bin/env bash
# Builds LULESH 2.0 and HPCG 3.1 for bench/run.py's `codes`: fetches them from the public repositories
# below, or from those that LULESH_REPOSITORY and HPCG_REPOSITORY name, once.
# usage: codes.sh DIRECTORY NAME OBJECT COMPILER...
# The programs are DIRECTORY/NAME/lulesh and DIRECTORY/NAME/xhpcg, compiled by the command and linked
# with OBJECT.
set -euo pipefail
directory=$1 name=$2 object=$3
shift 3

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

# build PROGRAM SOURCES OPTION...: each file by itself, as makefiles do.
build() {
  local target=$directory/$name/$1 sources=$2 objects=() file
  [ -x "$target" ] && return
  rm -rf "$target.objects"
  mkdir -p "$target.objects"
  for file in "$directory"/$sources; do
    objects+=("$target.objects/$(basename "$file").o")
    "${compiler[@]}" -O3 -g -w "${@:3}" -c "$file" -o "${objects[-1]}"
  done
  "${compiler[@]}" -O3 -g "${objects[@]}" "$object" -o "$target"
}
compiler=("$@")
build lulesh 'lulesh.source/*.cc' -DUSE_MPI=1
build xhpcg 'hpcg.source/src/*.cpp' -DHPCG_NO_OPENMP -ffast-math
