#!/usr/bin/env bash
# gpu-check.sh KIT.tar.xz [OPTION…]: unpacks a kit and runs it on this machine's GPU, without any
# network. Options are those of `gpu-check run`. Without an NVIDIA driver it runs on two simulated
# devices, as if these were the device.
set -euo pipefail
archive=$(realpath "${1:?the kit, which scripts/gpu-kit.sh makes}")
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
if command -v xz >/dev/null; then
  tar -C "$directory" -xJf "$archive"
else
  python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$directory"
fi
gpu=real
if [[ " $* " != *" --gpu "* ]] && ! ldconfig -p | grep -q 'libcuda\.so\.1' && ! [[ -e /usr/local/nvidia/lib64/libcuda.so.1 ]]; then
  echo "No NVIDIA driver here: simulated devices take its place."
  gpu=sim:2
fi
[[ " $* " == *" --gpu "* ]] || set -- --gpu "$gpu" "$@"
status=0
"$directory/kit/gpu-check" run "$@" --work "$directory/work" "$directory/kit" || status=$?
exit "$status"
