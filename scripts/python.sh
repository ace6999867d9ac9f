#!/usr/bin/env bash
# Puts mpi4py's wheel, numpy, pytest and Meson into a virtual environment, target/python, and prints
# where. Does nothing if they are there.
set -euo pipefail
cd "$(dirname "$0")/.."

wheels=(mpi4py==4.1.2 numpy==2.3.5 pytest==9.0.2 meson==1.9.1 ninja==1.13.0)
target=${CARGO_TARGET_DIR:-$PWD/target}

fail() {
  echo "error: $1" >&2
  echo "  help: $2" >&2
  exit 1
}

mkdir -p "$target"
exec 9>"$target/python.lock"
flock 9
if [[ ! -e $target/python/.wheels || $(<"$target/python/.wheels") != "${wheels[*]}" ]]; then
  # Environments cannot be moved.
  rm -rf "${target:?}/python"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  /usr/bin/python3 -m venv "$target/python" >"$log" 2>&1 ||
    fail "python3 cannot make a virtual environment" "install python3-venv"
  echo "Installing ${wheels[*]} to $target/python" >&2
  "$target/python/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${wheels[@]}" \
    >"$log" 2>&1 || {
    tail -3 "$log" >&2
    fail "pip cannot install ${wheels[*]}" "it needs https://pypi.org, or the index that PIP_INDEX_URL names"
  }
  echo "${wheels[*]}" >"$target/python/.wheels"
fi
echo "$target/python"
