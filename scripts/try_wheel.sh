#!/usr/bin/env bash
# The wheel as a new user meets it: a Debian with an MPI, a C compiler and Python, nothing else, no
# network; a user who is not root makes a virtual environment, installs the wheel, and finds the
# mistake of examples/heat2d, within a minute. Needs root, for chroot, and `mmdebstrap` with
# Debian's archive, for the first time. Usage: try_wheel.sh [SUITE [MPI [WHEEL]]], such as bullseye
# openmpi
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${1:-bookworm} mpi=${2:-openmpi}
wheel=${3:-$(ls -t target/packages/commsan-*.whl | head -n 1)}
root=target/try/$suite-$mpi
mirror=${MIRROR:-http://deb.debian.org/debian}

((EUID == 0)) || { echo "error: try_wheel.sh needs root; it takes the part of the user itself" >&2; exit 1; }
if [[ ! -e $root/complete ]]; then
  command -v mmdebstrap >/dev/null || { echo "error: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }
  case $mpi in
    openmpi) packages=openmpi-bin,libopenmpi-dev ;;
    mpich) packages=mpich,libmpich-dev ;;
    *) echo "error: openmpi or mpich, not $mpi" >&2; exit 2 ;;
  esac
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  mmdebstrap --quiet --variant=minbase --mode=root --skip=check/empty \
    --include="gcc,libc6-dev,make,python3-venv,$packages" "$suite" "$root" "$mirror"
  chroot "$root" useradd --create-home user
  touch "$root/complete"
fi

home=$root/home/user
rm -rf "${home:?}"/*
cp -r examples/heat2d "$wheel" "$home/"
cat >"$home/try.sh" <<'USER'
set -eu
cd ~
begin=$(date +%s)
python3 -m venv env
. env/bin/activate
pip install --quiet --no-index ./commsan-*.whl
make -s -C heat2d CC="commsan-cc mpicc" BUILD="$PWD" all
cp heat2d/*.in .
export OMPI_MCA_rmaps_base_oversubscribe=1
code=0
commsan run --output buggy.commsan -- mpirun -n 4 ./heat_buggy heat.in >out 2>&1 || code=$?
grep CS-BUF-01 out || { cat out; exit 1; }
[ $code = 66 ] || { echo "error: ended with $code instead of 66"; exit 1; }
grep exchange_buggy.c out
echo "found $(($(date +%s) - begin)) seconds after the virtual environment was begun"
commsan run --output fixed.commsan -- mpirun -n 4 ./heat heat.in
commsan report buggy.commsan >report || [ $? = 66 ]
commsan explain CS-BUF-01 >/dev/null
commsan lint --help >/dev/null
[ -s env/share/man/man1/commsan-run.1 ]
echo "glibc $(ldd --version | sed -n '1s/.* //p'), $(gcc --version | head -n 1), user $(id -un)"
USER
chroot "$root" chown -R user: /home/user
# A namespace of mounts and network of its own: nothing can be fetched, and nothing stays mounted.
unshare --mount --net --pid --fork --mount-proc bash -euc '
  root=$1
  ip link set lo up 2>/dev/null || true
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  # Its own devices: those of a container may be closed to users.
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  for device in null:3 zero:5 full:7 random:8 urandom:9 tty:5:0; do
    IFS=: read -r name number other <<<"$device"
    if [ -n "$other" ]; then mknod -m 666 "$root/dev/$name" c "$number" "$other"
    else mknod -m 666 "$root/dev/$name" c 1 "$number"; fi
  done
  mkdir -m 1777 "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  exec chroot --userspec=user "$root" env -i HOME=/home/user PATH=/usr/bin:/bin sh /home/user/try.sh
' try "$root"
