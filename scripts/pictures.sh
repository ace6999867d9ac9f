#!/usr/bin/env bash
# Takes the README's pictures: docs/images/report.svg, a report of the heat solver of
# examples/heat2d as the terminal shows it, and docs/images/viewer.png and events.png, its profile
# in the viewer, by the distribution's Chromium. `make build` first; COMMSAN_DIST names another tree
# than target/dist.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export PATH=${COMMSAN_DIST:-$root/target/dist}/bin:$PATH
images=$root/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ((EUID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1
mpi=.openmpi
command -v mpicc.openmpi >/dev/null || mpi=

make -s -C examples/heat2d "CC=commsan cc mpicc$mpi" BUILD="$work" all
cp examples/heat2d/*.in "$work"
mkdir -p "$images"
cd "$work"

commsan run --quiet --output buggy.commsan -- "mpirun$mpi" -n 4 ./heat_buggy heat.in >/dev/null 2>&1 || true
# The first finding, with file names for paths, without its call stacks.
CLICOLOR_FORCE=1 commsan report buggy.commsan 2>/dev/null |
  sed -n '/error/,$p' | sed 's|[^ ]*examples/heat2d/||g' |
  sed '/, called by$/d; /^ \{12,\}`/d; /seen .* times/q' >report || true
python3 "$root/scripts/terminal_svg.py" '$ commsan run -- mpirun -n 4 ./heat_buggy heat.in' \
  <report >"$images/report.svg"

commsan profile --output profile.commsan -- "mpirun$mpi" -n 4 ./heat heat.in >/dev/null 2>&1
commsan export --html page.html profile.commsan >/dev/null 2>&1
# By Chromium's own option, a figure may be drawn at another size than it is shown at.
[[ -d $root/viewer/node_modules ]] || { echo "error: scripts/viewer.sh must have built the viewer" >&2; exit 1; }
(cd "$root/viewer" && node test/picture.mjs "$work/page.html" "$images/viewer.png=" "$images/events.png=/events")
cd "$root"
for picture in docs/images/*; do
  size=$(stat -c %s "$picture")
  echo "$picture: $((size / 1024)) KiB"
  ((size < 150 * 1024)) || { echo "error: $picture is larger than 150 KiB" >&2; exit 1; }
done
