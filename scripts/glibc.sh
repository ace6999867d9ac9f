#!/usr/bin/env bash
# Lays out what a program is linked with for an old glibc: the symbols that it has, its start files,
# and its part that is linked statically. Zig has them for each version (PyPI's `ziglang`); it links
# nothing else of commsan's. Usage: glibc.sh VERSION DIRECTORY; does nothing if the directory is
# there.
set -euo pipefail
version=$1
to=$2
[[ -e $to/complete ]] && exit 0

zig_wheel=ziglang==0.13.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache

fail() {
  echo "error: $1" >&2
  echo "  help: $2" >&2
  exit 1
}

if ! zig=$(command -v zig); then
  python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
    fail "python3 cannot make a virtual environment, to get zig by pip" "install python3-venv, or zig"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --target "$work/site" "$zig_wheel" >"$work/log" 2>&1 || {
    tail -n 5 "$work/log" >&2
    fail "pip cannot install $zig_wheel" "it needs https://pypi.org, or the index that PIP_INDEX_URL names"
  }
  zig=$work/site/ziglang/zig
fi

# What zig links an empty program with is all there is to know.
echo 'int main(void) { return 0; }' >"$work/empty.c"
"$zig" cc -target "x86_64-linux-gnu.$version" -v "$work/empty.c" -o "$work/empty" \
  -lm -lpthread -ldl -lrt -lutil 2>"$work/log" ||
  { tail -n 5 "$work/log" >&2; fail "zig cannot link for glibc $version" "use zig 0.13"; }
rm -rf "$to"
mkdir -p "$to"
for word in $(grep '^ld.lld .*Scrt1.o' "$work/log"); do
  case ${word##*/} in
    Scrt1.o | crti.o | crtn.o | libc_nonshared.a | libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libutil.so.*)
      cp "$word" "$to/"
      ;;
  esac
done
cd "$to"
for library in m pthread dl rt util; do
  found=(lib"$library".so.*)
  ln -sf "${found[0]}" "lib$library.so"
done
# The dynamic linker's own symbols, of which __tls_get_addr alone is asked for, are as old as
# x86-64.
ln -s /lib64/ld-linux-x86-64.so.2 .
echo 'GROUP (libc.so.6 libc_nonshared.a AS_NEEDED (libpthread.so.0 libdl.so.2 ld-linux-x86-64.so.2))' >libc.so
for file in Scrt1.o crti.o crtn.o libc_nonshared.a libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
  [[ -e $file ]] || fail "zig's link for glibc $version has no $file" "use zig 0.13"
done
# Zig's debug information names directories of this machine.
strip --strip-debug Scrt1.o crti.o crtn.o libc_nonshared.a
touch complete
