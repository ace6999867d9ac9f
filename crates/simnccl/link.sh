#!/bin/sh
# Links libnvshmem_host.so.3 from the archive that cargo builds.
#   link.sh ARCHIVE DIRECTORY
set -eu
here=$(dirname "$0")
library=$2/libnvshmem_host.so.3
${CC:-cc} -shared -o "$library.new.$$" -Wl,-soname,libnvshmem_host.so.3 \
	-Wl,--whole-archive "$1" -Wl,--no-whole-archive -Wl,--gc-sections -Wl,-z,defs \
	-Wl,--version-script,"$here/exports/nvshmem.ld" -lgcc_s -lpthread -ldl -lm -lc
mv "$library.new.$$" "$library" # never half a library under its name
ln -sf libnvshmem_host.so.3 "$2/libnvshmem_host.so"
