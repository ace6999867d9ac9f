#!/usr/bin/env bash
# Installs other versions of gcc and clang, with what their plugins are compiled with, and prints
# those that are there. `make compilers` runs test programs with them. Compilers that this release
# lacks are left out.
set -euo pipefail

# Command: packages.
known=(
  "gcc-11: gcc-11 g++-11 gcc-11-plugin-dev"
  "gcc-12: gcc-12 g++-12 gcc-12-plugin-dev"
  "gcc-13: gcc-13 g++-13 gcc-13-plugin-dev"
  "gcc-14: gcc-14 g++-14 gcc-14-plugin-dev"
  "clang-14: clang-14 llvm-14-dev"
  "clang-15: clang-15 llvm-15-dev"
  "clang-16: clang-16 llvm-16-dev"
  "clang-17: clang-17 llvm-17-dev"
  "clang-18: clang-18 llvm-18-dev"
  "clang-19: clang-19 llvm-19-dev"
)
as_root=(env)
((EUID == 0)) || as_root=(sudo -n)

available() {
  local package
  for package; do
    [[ -n $(apt-cache madison "$package") ]] || return 1
  done
}

for entry in "${known[@]}"; do
  command=${entry%%:*}
  read -ra packages <<<"${entry#*: }"
  if ! dpkg -s "${packages[@]}" >/dev/null 2>&1 && available "${packages[@]}"; then
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends -qq -y \
      -o DPkg::Lock::Timeout=300 "${packages[@]}" >&2 || echo "warning: $command cannot be installed" >&2
  fi
  if command -v "$command" >/dev/null; then
    echo "$command"
  fi
done
