#!/usr/bin/env python3
"""Packs an installed tree: a tarball, the same files as a Python wheel, and a tarball of debug files.

    package.py TREE DEBUG VERSION OUTPUT

The bytes depend on the files alone: names are sorted, times and owners are fixed. Also fills in the recipes of
packaging/recipes, which name the tarball's hash.
"""

import base64
import hashlib
import io
import lzma
import os
import sys
import tarfile
import zipfile
from pathlib import Path

GLIBC = (2, 28)
MOST_BYTES = 60_000_000
# The earliest time that zip knows, unless the build says another.
TIME = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315_532_800)
SUMMARY = "Correctness checker and communication profiler for MPI, OpenMP and CUDA programs"
# What archives without links have in place of the aliases of the command.
ALIAS = '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/commsan" {word} "$@"\n'


def files(tree):
    """Path, contents and whether it is executable, of each file; sorted."""
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_dir():
            continue
        if path.is_symlink() and name.startswith("bin/commsan-"):
            yield name, ALIAS.format(word=name.removeprefix("bin/commsan-")).encode(), True
        else:
            yield name, path.read_bytes(), os.access(path, os.X_OK)


def tarball(to, top, contents):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data, executable in contents:
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), TIME, 0o755 if executable else 0o644
            tar.addfile(entry, io.BytesIO(data))
    to.write_bytes(lzma.compress(archive.getvalue(), preset=6))


def wheel(output, version, contents):
    import time

    tag = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
    info = f"commsan-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: commsan\nVersion: {version}\nSummary: {SUMMARY}\n"
    metadata += "License: MIT OR Apache-2.0\nRequires-Python: >=3.6\n"
    entries = [
        # The scripts of a wheel are executable wherever it is installed, by whatever installer.
        (f"commsan-{version}.data/" + (f"scripts/{name[4:]}" if name.startswith("bin/") else f"data/{name}"), data, x)
        for name, data, x in contents
    ]
    entries.append((f"{info}/METADATA", metadata.encode(), False))
    described = f"Wheel-Version: 1.0\nGenerator: commsan\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries.append((f"{info}/WHEEL", described.encode(), False))
    record = ""
    for name, data, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    entries.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
    to = output / f"commsan-{version}-{tag}.whl"
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, executable in entries:
            entry = zipfile.ZipInfo(name, time.gmtime(TIME)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, data)
    return to


def main():
    tree, debug, version, output = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    output.mkdir(parents=True, exist_ok=True)
    name = f"commsan-{version}-linux-x86_64"
    contents = list(files(tree))
    packed = output / f"{name}.tar.xz"
    tarball(packed, name, contents)
    tarball(output / f"{name}-debug.tar.xz", name, files(debug))
    made = [packed, wheel(output, version, contents)]
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    recipes = Path(__file__).resolve().parent.parent / "packaging/recipes"
    for recipe in sorted(recipes.iterdir()):
        text = recipe.read_text().replace("@VERSION@", version).replace("@SHA256@", digest)
        (output / recipe.name).write_text(text)
    for path in made:
        size = path.stat().st_size
        print(f"{path}: {size / 1e6:.1f} MB")
        if size > MOST_BYTES:
            sys.exit(f"error: {path.name} has more than {MOST_BYTES // 1_000_000} MB")


main()
