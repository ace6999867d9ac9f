#!/usr/bin/env bash
# Builds the artefacts for x86-64 Linux with glibc 2.28 or newer: a relocatable tarball, a Python
# wheel with the same files, and a tarball of debug files (to be unpacked over the first), below
# target/packages. Equal sources and equal packages of the distribution give equal bytes, wherever
# the repository lies. Usage: dist.sh [PROFILE RUNTIME]: cargo's profiles, release and runtime by
# default.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release} runtime=${2:-runtime}
glibc=2.28
target=x86_64-unknown-linux-gnu
work=target/portable
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}

./scripts/glibc.sh $glibc target/glibc-$glibc
# This machine's libgcc_s itself needs a newer glibc; where commsan runs, there is another.
old="-Btarget/glibc-$glibc -Ltarget/glibc-$glibc -Wl,--allow-shlib-undefined"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# Only what is built for users gets these, not build scripts.
export CARGO_BUILD_TARGET=$target COMMSAN_PORTABLE=1
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Cforce-frame-pointers=yes \
$(printf -- '-Clink-arg=%s ' $old)--remap-path-prefix=$PWD=/commsan --remap-path-prefix=$cargo_home=/cargo"
export CFLAGS="-ffile-prefix-map=$PWD=/commsan" CXXFLAGS="-ffile-prefix-map=$PWD=/commsan"
rm -rf $work
make --no-print-directory install PREFIX=$work/tree DIST=$work/dist PROFILE="$profile" RUNTIME="$runtime" \
  WITHOUT="gcc ${WITHOUT:-}" LINK="cc $old"

./scripts/glibc_needed.sh $glibc $work/tree
# Debug information apart, where debuggers look for it: in .debug beside the file.
find $work/tree -type f \( -path '*/bin/commsan' -o -name '*.so' -o -name '*.so.*' \) -print0 | sort -z |
  while IFS= read -r -d '' file; do
    head -c 4 "$file" | grep -q ELF || continue
    debug=$(dirname "${file/#$work\/tree/$work/debug}")/.debug/$(basename "$file").debug
    mkdir -p "$(dirname "$debug")"
    objcopy --only-keep-debug --compress-debug-sections "$file" "$debug"
    objcopy --strip-unneeded --add-gnu-debuglink="$debug" "$file"
  done
find $work/tree -name '*.a' -exec strip --strip-debug {} +
./scripts/package.py $work/tree $work/debug "$version" target/packages
