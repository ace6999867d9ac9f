#!/usr/bin/env bash
# Puts NVIDIA's compiler, its headers, NCCL's and the shared runtime under target/cuda, from PyPI's
# wheels, and prints where. Tests compile device code with it; none needs a GPU. Does nothing when
# it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

wheels=(
  nvidia-cuda-nvcc==13.5.37
  nvidia-cuda-runtime==13.5.37
  nvidia-cuda-crt==13.5.37
  nvidia-nvvm==13.5.37
  nvidia-cuda-cccl==13.3.5.0.6
  nvidia-cuda-cuobjdump==13.5.37
)
# Of NCCL only the header is wanted, not its 300 MB.
nccl=2.32.3
target=${CARGO_TARGET_DIR:-$PWD/target}
cuda=$target/cuda

fail() {
  echo "error: $1" >&2
  echo "  help: $2" >&2
  exit 1
}

# What is installed; other wheels above are installed anew.
stamp=$cuda/.wheels
present() { [[ -e $stamp && $(<"$stamp") == "${wheels[*]}" ]]; }
nccl_stamp=$cuda/.nccl
nccl_present() { [[ -e $nccl_stamp && $(<"$nccl_stamp") == "$nccl" ]]; }

# Prints a python that has pip, made in $1 if there is none.
python_with_pip() {
  if python3 -m pip --version >/dev/null 2>&1; then
    echo python3
    return
  fi
  if ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
    ((EUID == 0)) && command -v apt-get >/dev/null ||
      fail "CUDA's compiler is installed with pip, which is missing" \
        "install python3-venv, or make $cuda a link to a CUDA toolkit"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -yqq python3-venv; } \
      >/dev/null 2>&1 || fail "apt-get cannot install python3-venv" "install it by hand"
  fi
  python3 -m venv "$1/venv" || fail "python3 cannot make a virtual environment" "install python3-venv"
  echo "$1/venv/bin/python"
}

# In a directory of its own first, so that nobody sees half of it.
install() {
  local python root
  new=$(mktemp -d "$target/cuda.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  python=$(python_with_pip "$new")
  echo "Installing NVIDIA's compiler to $cuda (about 400 MB)" >&2
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --target "$new/site" "${wheels[@]}" >"$new/log" 2>&1 || {
    tail -5 "$new/log" >&2
    fail "pip cannot install NVIDIA's compiler" \
      "it needs https://pypi.org, or the index that PIP_INDEX_URL names"
  }
  root=$new/site/nvidia/cu13
  [[ -x $root/bin/nvcc ]] || fail "the wheels hold no bin/nvcc" "see the versions in scripts/cuda.sh"
  # The linker asks for the name without a version.
  ln -s libcudart.so.13 "$root/lib/libcudart.so"
  echo "${wheels[*]}" >"$root/.wheels"
  rm -rf "$cuda"
  mv "$root" "$cuda"
}

install_nccl() {
  python3 scripts/wheel_file.py nvidia-nccl-cu13 "$nccl" nvidia/nccl/include/nccl.h \
    "$cuda/include/nccl.h.new" >&2 || fail "NCCL's header cannot be downloaded" "it needs https://pypi.org"
  mv "$cuda/include/nccl.h.new" "$cuda/include/nccl.h"
  echo "$nccl" >"$nccl_stamp"
}

# A toolkit of the user's own is not touched.
if [[ ! -L $cuda ]] && ! { present && nccl_present; }; then
  mkdir -p "$target"
  exec 9>"$target/cuda.lock"
  flock 9
  present || install
  nccl_present || install_nccl
fi
echo "$cuda"
