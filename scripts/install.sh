#!/usr/bin/env bash
# Copies a built tree to PREFIX, with manual pages, completions of shells, documentation,
# modulefiles and the CMake package. Everything finds its parts relative to itself, so PREFIX may be
# moved. Usage: install.sh TREE PREFIX
set -euo pipefail
tree=$(realpath "$1")
mkdir -p "$2"
prefix=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

file() { # file FROM TO: readable by all; @VERSION@ filled in
  mkdir -p "$prefix/$(dirname "$2")"
  sed "s/@VERSION@/$version/g" "$1" >"$prefix/$2"
  chmod 644 "$prefix/$2"
}

mkdir -p "$prefix"/{bin,lib/commsan}
cp -a "$tree/bin/." "$prefix/bin/"
cp -a "$tree/lib/commsan/." "$prefix/lib/commsan/"
for header in commsan.h commsan_fortran.c; do file "include/$header" "include/$header"; done

"$tree/bin/commsan" manual-pages "$prefix/share/man/man1"
completions() {
  mkdir -p "$prefix/$(dirname "$2")"
  "$tree/bin/commsan" completions "$1" >"$prefix/$2"
}
completions bash share/bash-completion/completions/commsan
completions zsh share/zsh/site-functions/_commsan
completions fish share/fish/vendor_completions.d/commsan.fish

for page in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT docs/*.md; do file "$page" "share/doc/commsan/$page"; done
file packaging/modulefile.lua "share/modulefiles/commsan/$version.lua"
file packaging/modulefile.tcl "share/modulefiles/commsan/$version"
file packaging/commsanConfig.cmake lib/cmake/commsan/commsanConfig.cmake
file packaging/commsanConfigVersion.cmake lib/cmake/commsan/commsanConfigVersion.cmake
file packaging/CMakePresets.json share/commsan/CMakePresets.json
