#!/usr/bin/env bash
# Installs what commsan needs, or says what is missing. Silent when nothing is. Usage: setup.sh
# [demo|build|test [PART…]]: for the demo, for building, or for tests, which is the most and the
# default; without these parts (Makefile).
set -euo pipefail
for_what=${1:-test}
without=" ${*:2} "

# package: a command or file that proves its presence; either of several alternatives by `|`.
needs=(
  "gcc:gcc"
  "g++:g++"
  "make:make"
)
of_demo=(
  "openmpi-bin:mpirun|mpirun.openmpi|mpirun.mpich"
  "libopenmpi-dev:mpicc|mpicc.openmpi|mpicc.mpich"
)
of_build=()
if [[ $without != *" lint "* || $without != *" clang "* ]]; then
  of_build=(
    "llvm-19-dev:/usr/lib/llvm-19/include/llvm/Passes/PassBuilder.h"
    "libzstd-dev:/usr/include/zstd.h"
    "zlib1g-dev:/usr/include/zlib.h"
  )
fi
of_test=(
  "openmpi-bin:mpirun.openmpi"
  "libopenmpi-dev:mpicc.openmpi"
  "mpich:mpirun.mpich"
  "libmpich-dev:mpicc.mpich"
  "gfortran:gfortran"
  "cmake:cmake"
  "environment-modules:modulecmd"
  "python3-venv:/usr/share/doc/python3-venv"
  "pkg-config:pkg-config"
  "clang-19:clang-19"
  "flang-19:flang-new-19"
  "libclang-rt-19-dev:/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.ubsan_standalone-x86_64.a"
  "chromium:/usr/bin/chromium"
  "libomp-19-dev:/usr/lib/llvm-19/lib/libomp.so"
  "slurmctld:/usr/sbin/slurmctld"
  "slurmd:/usr/sbin/slurmd"
  "slurm-client:srun"
  "munge:/usr/sbin/munged"
  "iproute2:ip"
)
case $for_what in
  demo) needs+=("${of_demo[@]}") ;;
  build) needs+=("${of_build[@]}") ;;
  test) needs+=("${of_build[@]}" "${of_test[@]}") ;;
  *)
    echo "error: demo, build or test, not $for_what" >&2
    exit 2
    ;;
esac

present() {
  local proof
  local IFS='|'
  for proof in $1; do
    if [[ $proof == /* ]]; then
      [[ -e $proof ]] && return 0
    else
      command -v "$proof" >/dev/null && return 0
    fi
  done
  return 1
}

missing=()
for need in "${needs[@]}"; do
  present "${need#*:}" || missing+=("${need%%:*}")
done

if ! command -v cargo >/dev/null && [[ ! -x ${HOME:-}/.cargo/bin/cargo ]]; then
  echo "error: cargo is missing; commsan needs Rust 1.88 or newer" >&2
  echo "  help: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2
  exit 1
fi

# The headers for gcc's plugins belong to the very package that gcc comes from; a gcc that is no
# package has them itself, or does without.
plugin_headers() {
  local gcc owner
  [[ $without != *" gcc "* ]] || return 0
  gcc=$(command -v gcc) || return 0
  [[ -e $(gcc -print-file-name=plugin)/include/gcc-plugin.h ]] && return 0
  owner=$(dpkg -S "$(realpath "$gcc")" 2>/dev/null) || return 0
  [[ $owner == gcc-[0-9]* ]] || return 0
  echo "${owner%%:*}-plugin-dev"
}
missing+=($(plugin_headers))

((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
  echo "error: these Debian packages, or what corresponds to them here, are missing:" >&2
  echo "  ${missing[*]}" >&2
  echo "  help: building needs gcc, g++, make, and headers and static libraries of LLVM 19, which WITHOUT=\"lint clang\"" >&2
  echo "  saves; tests also need Open MPI" >&2
  echo "  4.1 or newer and MPICH 4.0 or newer side by side, gfortran 12 or newer, clang, flang, libomp and the" >&2
  echo "  runtimes of LLVM 19, Chromium, cmake 3.25 or newer, pkg-config, Slurm, iproute2" >&2
  exit 1
fi

install=(apt-get install --no-install-recommends -y)
if [[ $EUID -eq 0 ]]; then
  as_root=(env)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo)
else
  echo "error: packages are missing, and installing them needs a password; run this:" >&2
  echo "  sudo ${install[*]} ${missing[*]}" >&2
  echo "  or leave out what needs them (docs/install.md): make install PREFIX=\$HOME/commsan WITHOUT=\"lint clang gcc\"" >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
as_apt() {
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1
}
# The lists of a fresh image are empty or old; fetch them only if installing fails with them.
install() {
  echo "installing: $*"
  as_apt "${install[@]}" "$@" && return
  as_apt apt-get update && as_apt "${install[@]}" "$@" && return
  tail -n 20 "$log" >&2
  echo "error: apt could not install what is missing" >&2
  if [[ " $* " == *-19* ]] && ! apt-cache show clang-19 >/dev/null 2>&1; then
    echo "  help: this release has no LLVM 19; https://apt.llvm.org has" >&2
  fi
  exit 1
}
install "${missing[@]}"
# gcc itself may have been missing.
missing=($(plugin_headers))
((${#missing[@]})) && install "${missing[@]}"
exit 0
