#!/bin/sh
# Links libcudart.so.12 and libcudart.so.13 from the archive that cargo builds.
#   link.sh ARCHIVE DIRECTORY
set -eu
here=$(dirname "$0")
mkdir -p "$2"
for version in 12 13; do
	library=$2/libcudart.so.$version
	${CC:-cc} -shared -o "$library.new.$$" -Wl,-soname,"libcudart.so.$version" \
		-Wl,--whole-archive "$1" -Wl,--no-whole-archive -Wl,--gc-sections -Wl,-z,defs \
		"$here/exports/cudart$version.ld" -lgcc_s -lpthread -ldl -lm -lc
	mv "$library.new.$$" "$library" # never half a library under its name
done
