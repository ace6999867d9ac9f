#!/usr/bin/env python3
"""Measures the stencil with each compiler: `make compilers`.

    bench/compilers.py [--rounds N] [--seconds S] [--check] [COMPILER...]

Vectorised code differs most between compilers, so each compiles it for plain x86-64 and for
x86-64-v3, and there also with a condition, which clang makes masks of, and with a table of
neighbours, which gcc makes gathers of. The grid fits into the L2 cache, since memory hides what
checks cost. With --check, the exit code is 1 when a target is missed."""

import argparse
import pathlib
import shutil
import sys
import tempfile

import run
import workshop

COMPILERS = ["gcc-11", "gcc-12", "clang-14", "clang-15", "clang-16", "clang-19"]
WIDE = ["-march=haswell", "-O3", "-fopenmp-simd"]
CODE = {
    "x86-64": [],
    "x86-64-v3": ["-march=x86-64-v3"],
    "masks": [*WIDE, "-DMASKED"],
    "gathers": [*WIDE, "-DGATHERED"],
}
# Largest acceptable ratio to native, by what is pending.
TARGETS = {"none": 1.3, "columns": 3.0}


def build(directory, compiler, name, how):
    """The stencil, native or checked, by Open MPI's wrapper of that compiler."""
    target = directory / f"{compiler}-{name}-{how}"
    sources = [workshop.PROGRAMS / source for source in ("peak.c", "stencil.c")]
    prefix = [workshop.COMMSAN, "cc"] if how == "commsan" else []
    options = [*workshop.CFLAGS, *CODE[name], "-DCPU_TIME"]
    command = [*prefix, "mpicc.openmpi", *options, *sources, "-o", target, "-lm"]
    workshop.call(command, {"OMPI_CC": compiler})
    return target


def comparisons(directory, compilers, size):
    shop = workshop.Workshop(directory)
    for compiler in compilers:
        for name in CODE:
            hows = ("native", "commsan")
            native, checked = (build(directory, compiler, name, how) for how in hows)

            def command(program, pending, is_checked):
                arguments = (*size.small, pending, size.seconds)
                return shop.run("Open MPI", 1, program, *arguments, checked=is_checked)

            variants = [workshop.Variant("native", command(native, "none", False))]
            for pending, target in TARGETS.items():
                what = f"{'nothing' if pending == 'none' else pending} pending"
                variants.append(workshop.Variant(what, command(checked, pending, True), target))
            comparison = workshop.Comparison("stencil", f"{compiler}, {name}", "ns/cell", 1e9, variants)
            run.measure(shop, size, comparison)
            yield comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument("compilers", nargs="*", metavar="COMPILER", help="default: all installed")
    arguments = parser.parse_args()
    compilers = arguments.compilers or [name for name in COMPILERS if shutil.which(name)]
    run.prepare_environment()
    size = workshop.Size(rounds=arguments.rounds, seconds=arguments.seconds)
    with tempfile.TemporaryDirectory(prefix="commsan-compilers-") as directory:
        found = list(comparisons(pathlib.Path(directory), compilers, size))
    print(run.table(found))
    missed = [text for met, text in run.verdicts(found) if not met]
    print("".join(f"\nMissed: {text}" for text in missed))
    sys.exit(1 if missed and arguments.check else 0)


if __name__ == "__main__":
    main()
