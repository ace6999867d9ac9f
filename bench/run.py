"""Measures what commsan costs: builds the programs, runs them in turn, prints a Markdown table.

docs/benchmarks.md tells what is measured and how to read the table.

In this order: sizes, variants and the workshop that builds and runs programs; a function for each benchmark, by
its name, which yields comparisons; BENCHMARKS, which lists them; running, tables, means and verdicts.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
HEAT = ROOT / "examples" / "heat2d"
NPB = ROOT / "target" / "npb"
CODES = ROOT / "target" / "codes"
GUPS = ROOT / "examples" / "gups" / "gups.c"
DIST = pathlib.Path(os.environ.get("COMMSAN_DIST", ROOT / "target" / "dist"))
COMMSAN = str(DIST / "bin" / "commsan")
CFLAGS = ["-O2", "-g"]

# Name in the table, compiler wrapper, launcher, variable that makes the wrapper call another
# compiler, options that keep each rank on a core of its own.
MPIS = {
    "Open MPI": ("mpicc.openmpi", "mpirun.openmpi", "OMPI_CC", ["--bind-to", "core"]),
    "MPICH": ("mpicc.mpich", "mpirun.mpich", "MPICH_CC", ["-bind-to", "core"]),
}
SHMEM = ("symmetric",)  # programs of OpenSHMEM, with Open MPI
SHOWN = ("incdirs", "libdirs", "libs")  # what Open MPI's wrapper tells for other compilers
COMPILERS = {"gcc": "gcc", "clang": "clang-19"}

JACOBI = ROOT / "examples" / "jacobi_cuda" / "jacobi.cu"
SIMULATED = {"COMMSAN_GPU": "sim:2", "LD_LIBRARY_PATH": str(DIST / "lib/commsan/simgpu")}
MEMORY_TARGET = "+64 MiB, +10 %"


@dataclasses.dataclass
class Size:
    """How long to measure."""

    rounds: int
    seconds: float  # a run of stencil or ping-pong
    small: tuple = (200, 200)  # both arrays of the stencil take 640 kB
    large: tuple = (3000, 3000)  # 144 MB
    heat: tuple = (2000, 2000, 50)  # nx, ny, steps
    window: tuple = (1000, 1000)  # 16 MB
    gups: tuple = (65536, 20000)  # words and updates of each rank
    pending: tuple = (100, 1000, 10_000)  # operations in an epoch
    shared: tuple = (1000, 500)  # 8 MB a rank
    windows: tuple = (1, 16, 256)  # open at once
    ranks: tuple = (4, 16, 64)
    # bytes of a row, rows, target
    exchange: tuple = ((1 << 20, 64, 1.05), (8 << 10, 256, 1.2))
    steps: int = 100
    jacobi: tuple = (512, 512, 30)  # nx, ny, steps
    edge: tuple = (1024, 2000, 100)  # nx, ny, steps: 8 KiB to each neighbour
    peers: tuple = (512, 64, 20)  # width, rows, steps
    # LULESH's edge and steps, HPCG's edge and seconds, miniFE's and TeaLeaf's edges
    codes: tuple = (30, 100, 32, 4, 80, 1000)
    npb: tuple = ("A", "W")  # classes of NAS's benchmarks; Valgrind runs the second


FULL = Size(rounds=9, seconds=1.0)
QUICK = Size(rounds=1, seconds=0.02, large=(1000, 1000), heat=(200, 200, 10),
             window=(200, 200), gups=(256, 1000), shared=(200, 100), windows=(4,), ranks=(4,),
             pending=(10,), steps=5,
             jacobi=(64, 64, 5), edge=(128, 128, 10), peers=(128, 8, 5), codes=(8, 5, 16, 1, 8, 40), npb=("S", "S"))


@dataclasses.dataclass
class Variant:
    """One way to build and run a program."""

    name: str
    command: list
    target: float = None  # largest acceptable ratio to the first variant
    environment: dict = dataclasses.field(default_factory=dict)
    most: float = None  # largest acceptable time more than the first variant, in seconds
    judged: bool = True  # whether it is commsan's
    measured: list = dataclasses.field(default_factory=list)  # seconds, one a round
    wall: list = dataclasses.field(default_factory=list)
    peak: list = dataclasses.field(default_factory=list)  # KiB, of the largest rank


@dataclasses.dataclass
class Comparison:
    """Variants of one program; the first is what the others are compared with."""

    benchmark: str
    setting: str
    unit: str
    scale: float  # units in a second
    variants: list


class Failed(Exception):
    """A program could not be built or run, or its output makes no sense."""


def tail(text, lines=30):
    return "\n".join(text.splitlines()[-lines:])


def call(command, environment=None, cwd=None, timeout=600):
    """Runs a command; returns its output and how long it took."""
    begin = time.monotonic()
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(environment or {})},
        cwd=cwd,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    wall = time.monotonic() - begin
    if done.returncode != 0:
        shown = " ".join(str(part) for part in command)
        raise Failed(f"{shown}\nended with {done.returncode}:\n{tail(done.stdout + done.stderr)}")
    return done.stdout, wall


class Workshop:
    """Builds programs into a directory, each once, and makes the command lines that run them."""

    def __init__(self, directory):
        self.directory = directory
        self.runs = 0
        self.tsan_prefix = None

    def build(self, program, mpi="Open MPI", compiler="gcc", how="native"):
        """`how` is native, commsan or tsan."""
        target = self.directory / f"{program}-{mpi.replace(' ', '')}-{compiler}-{how}"
        if target.exists():
            return target
        wrapper, _, variable, _ = MPIS[mpi]
        if program in SHMEM:
            wrapper, variable = "oshcc", "OSHMEM_CC"
        sources = [PROGRAMS / "peak.c"]
        if program == "heat":
            sources += [file for file in sorted(HEAT.glob("*.c")) if "buggy" not in file.name]
        elif program == "gups":
            sources.append(GUPS)
        else:
            sources.append(PROGRAMS / f"{program}.c")
        prefix = [COMMSAN, "cc"] if how == "commsan" else []
        extra = ["-fsanitize=thread"] if how == "tsan" else []
        command = [*prefix, wrapper, *CFLAGS, *extra, *sources, "-o", target, "-lm"]
        call(command, {variable: COMPILERS[compiler]})
        return target

    def build_kernels(self, source, how="native"):
        """Builds a program with kernels, by the toolkit that scripts/cuda.sh installs."""
        target = self.directory / f"{source.stem}-{how}"
        if target.exists():
            return target
        toolkit = pathlib.Path(call([ROOT / "scripts" / "cuda.sh"])[0].strip())
        shown = [call(["mpicc.openmpi", f"--showme:{what}"])[0].split() for what in SHOWN]
        includes, paths, libraries = shown
        prefix = [COMMSAN, "nvcc"] if how == "commsan" else []
        command = [*prefix, toolkit / "bin" / "nvcc", "-ccbin", "g++", "-cudart", "shared"]
        command += ["-arch=sm_90", "-g", "-O2"]
        command += [f"-I{path}" for path in includes]
        command += [f"-L{path}" for path in [toolkit / "lib", *paths]]
        command += [source, PROGRAMS / "peak.c", "-o", target]
        call([*command, *(f"-l{library}" for library in libraries)])
        return target

    def run(self, mpi, ranks, program, *arguments, checked=False, profiled=False, options=()):
        """The command line; `checked` or `profiled` puts it under commsan."""
        _, launcher, _, bind = MPIS[mpi]
        prefix = []
        if checked or profiled:
            what = "run" if checked else "profile"
            prefix = [COMMSAN, what, "--quiet", *options, "--output", "RUN_DIRECTORY", "--"]
        bind = bind if cores() >= ranks else []
        return [*prefix, launcher, "-n", ranks, *bind, program, *arguments]

    def tsan_runs(self, compiler):
        """ThreadSanitizer may be missing for a compiler, or dislike the kernel's randomisation of
        addresses; finds out, and how to run its programs."""
        source, program = self.directory / "probe.c", self.directory / f"probe-{compiler}"
        source.write_text("int main(void) { return 0; }\n")
        try:
            call([COMPILERS[compiler], "-fsanitize=thread", source, "-o", program])
        except Failed:
            return False
        for prefix in ([], ["setarch", platform.machine(), "-R"]):
            try:
                call([*prefix, program])
            except (Failed, OSError):
                continue
            self.tsan_prefix = prefix
            return True
        return False


def cores():
    return len(os.sched_getaffinity(0))


def stencil(shop, size):
    """Loads and stores only; how much they cost when nothing is pending, and when much is."""
    for compiler, target in (("gcc", 8.0), ("clang", 5.0)):
        if not shutil.which(COMPILERS[compiler]):
            continue
        native = shop.build("stencil", compiler=compiler)
        hooks = shop.build("stencil", compiler=compiler, how="commsan")
        for place, (nx, ny) in (("L2", size.small), ("memory", size.large)):

            def command(program, pending, checked=True):
                arguments = (nx, ny, pending, size.seconds)
                return shop.run("Open MPI", 1, program, *arguments, checked=checked)

            variants = [
                Variant("native", command(native, "none", checked=False)),
                Variant("commsan, nothing pending", command(hooks, "none"), target),
                Variant("commsan, rows pending", command(hooks, "rows")),
                Variant("commsan, columns pending", command(hooks, "columns")),
            ]
            if shop.tsan_runs(compiler):
                tsan = shop.build("stencil", compiler=compiler, how="tsan")
                plain = command(tsan, "none", checked=False)
                options = {"TSAN_OPTIONS": "report_bugs=0", "OMPI_MCA_memory": "^patcher"}
                variants.append(
                    Variant("ThreadSanitizer", [*shop.tsan_prefix, *plain], None, options)
                )
            yield Comparison("stencil", f"{compiler}, in {place}", "ns/cell", 1e9, variants)


def pingpong(shop, size):
    """MPI calls only."""
    for mpi in MPIS:
        native = shop.build("pingpong", mpi)
        hooks = shop.build("pingpong", mpi, how="commsan")
        variants = [
            Variant("native", shop.run(mpi, 2, native, size.seconds)),
            Variant("commsan", shop.run(mpi, 2, hooks, size.seconds, checked=True), 1.35),
            Variant(
                "commsan, not recompiled",
                shop.run(mpi, 2, native, size.seconds, checked=True),
                1.35,
            ),
        ]
        yield Comparison("ping-pong", mpi, "µs/round trip", 1e6, variants)


def heap(shop, size):
    """Memory is allocated and freed."""
    program = shop.build("heap", "Open MPI")
    variants = [
        Variant("native", shop.run("Open MPI", 1, program, size.seconds)),
        Variant("commsan", shop.run("Open MPI", 1, program, size.seconds, checked=True), 1.5),
    ]
    yield Comparison("heap", "Open MPI", "ns/block", 1e9, variants)


def halo(shop, size):
    """A whole program."""
    nx, ny, steps = size.heat
    source = (HEAT / "heat.in").read_text()
    for key, value in (("nx", nx), ("ny", ny), ("steps", steps)):
        source = re.sub(rf"(?m)^{key} = \d+", f"{key} = {value}", source)
    file = shop.directory / "heat.in"
    file.write_text(source)
    for mpi in MPIS:
        for compiler in COMPILERS:
            if not shutil.which(COMPILERS[compiler]):
                continue
            native = shop.build("heat", mpi, compiler)
            hooks = shop.build("heat", mpi, compiler, how="commsan")
            variants = [
                Variant("native", shop.run(mpi, 2, native, file)),
                Variant("commsan", shop.run(mpi, 2, hooks, file, checked=True), 3.0),
                Variant(
                    "commsan, not recompiled", shop.run(mpi, 2, native, file, checked=True), 3.0
                ),
            ]
            yield Comparison("halo", f"{mpi}, {compiler}", "ms/step", 1e3 / steps, variants)


def guards(shop, size):
    """Buffers of a program that was not recompiled are watched by their pages."""
    for mpi in MPIS:
        program = shop.build("exchange", mpi)
        for row, rows, target in size.exchange:
            job = (mpi, 2, program, row, rows, 2 * size.seconds)
            variants = [
                Variant("native", shop.run(*job)),
                Variant("commsan", shop.run(*job, checked=True), target),
                Variant("commsan, no guards", shop.run(*job, checked=True, options=["--guards=false"])),
                Variant("commsan, write protection",
                        shop.run(*job, checked=True, options=["--guards=sends"]), target),
                Variant("commsan, guards without limit",
                        shop.run(*job, checked=True, options=["--guard-budget", "100"])),
            ]
            if shutil.which("valgrind"):
                # The peer that needs no recompilation either: it instruments the binary.
                memcheck = shop.run(mpi, 2, "valgrind", "--quiet", "--error-limit=no", *job[2:])
                variants.append(Variant("Valgrind", memcheck, judged=False))
            yield Comparison("guards", f"{mpi}, {row // 1024} KiB", "µs/step", 1e6, variants)


def npb(shop, size):
    """NAS's benchmarks: as they are, and with Open MPI also recompiled."""
    if not (NPB / "source").exists() and size is QUICK:
        print("warning: npb is left out: a quick run fetches nothing", file=sys.stderr)
        return
    for mpi, (cc, _, _, _) in MPIS.items():
        peak = shop.directory / "peak.o"
        call([cc, "-O2", "-c", PROGRAMS / "peak.c", "-o", peak])
        for which in dict.fromkeys(size.npb):
            fc = cc.replace("mpicc", "mpif77")
            build = [ROOT / "bench" / "npb.sh", NPB]
            call([*build, cc, fc, which, peak], timeout=1200)
            recompiled = NPB / "recompiled"
            if mpi == "Open MPI" and which == size.npb[0]:
                # By this commsan, not by one of before.
                shutil.rmtree(recompiled, ignore_errors=True)
                own = [DIST / "bin" / f"commsan-{language}" for language in ("cc", "fc")]
                call([*build, *own, which, peak, recompiled.name], timeout=1200)
            for program in sorted((NPB / cc).glob(f"*.{which}.*")):
                ranks = int(program.suffix[1:])
                variants = [
                    Variant("native", shop.run(mpi, ranks, program)),
                    Variant("commsan", shop.run(mpi, ranks, program, checked=True)),
                ]
                own = recompiled / program.name
                if mpi == "Open MPI" and own.exists():
                    command = shop.run(mpi, ranks, own, checked=True)
                    variants.append(Variant("commsan, recompiled", command, 1.2))
                if which == size.npb[-1] and shutil.which("valgrind"):
                    memcheck = shop.run(mpi, ranks, "valgrind", "--quiet", "--error-limit=no", program)
                    variants.append(Variant("Valgrind", memcheck, judged=False))
                name = program.name.split(".")[0].upper()
                yield Comparison("npb", f"{mpi}, {name} class {which}", "ns/op", 1e3, variants)


def codes(shop, size):
    """Codes from public source, recompiled: what a program costs with all checks on."""
    if not (CODES / "tealeaf.source").exists() and size is QUICK:
        print("warning: codes is left out: a quick run fetches nothing", file=sys.stderr)
        return
    side, steps, grid, seconds, elements, cells = size.codes
    for compiler in COMPILERS:
        cxx = {"gcc": "g++", "clang": "clang++-19"}[compiler]
        if not shutil.which(cxx):
            continue
        wrapper = {"OMPI_CXX": cxx, "OMPI_CC": COMPILERS[compiler]}
        peak = shop.directory / f"peak-{compiler}.o"
        call(["mpicc.openmpi", "-O2", "-c", PROGRAMS / "peak.c", "-o", peak], wrapper)
        ways = {"native": ["mpicxx.openmpi"], "commsan": [COMMSAN, "cxx", "mpicxx.openmpi"]}
        if shop.tsan_runs(compiler):
            ways["tsan"] = ["mpicxx.openmpi", "-fsanitize=thread"]
        # By this commsan, not by one of before.
        shutil.rmtree(CODES / f"{compiler}-commsan", ignore_errors=True)
        for way, command in ways.items():
            # Open MPI's modules for Fortran are gfortran's, and LLVM's has no such sanitizer.
            has_fortran = compiler == "gcc" and way != "tsan" and shutil.which("gfortran")
            fortran = " ".join(map(str, command)).replace("mpicxx", "mpif90").replace(" cxx ", " fc ")
            build = [ROOT / "bench" / "codes.sh", CODES, f"{compiler}-{way}", peak,
                     fortran if has_fortran else "", *command]
            call(build, wrapper, timeout=1200)

        def variants(program, ranks, *arguments, before=()):
            def run(way, **options):
                path = CODES / f"{compiler}-{way}" / program
                return [*before, *shop.run("Open MPI", ranks, path, *arguments, **options)]

            yield Variant("native", run("native"))
            # miniFE sends from what it receives into: a true finding.
            checked = run("commsan", checked=True, options=["--fail-on=never"])
            yield Variant("commsan", checked, 1.2)
            yield Variant("recompiled, run alone", run("commsan"))
            if (CODES / f"{compiler}-tsan" / program).exists() and "tsan" in ways:
                options = {"TSAN_OPTIONS": "report_bugs=0", "OMPI_MCA_memory": "^patcher"}
                plain = [*shop.tsan_prefix, *run("tsan")]
                yield Variant("ThreadSanitizer", plain, None, options, judged=False)

        for ranks in (1, 8):
            job = ("lulesh", ranks, "-s", side // round(ranks ** (1 / 3)), "-i", steps)
            setting = f"{compiler}, LULESH on {ranks}"
            yield Comparison("codes", setting, "ms/step", 1e3 / steps, list(variants(*job)))
        size_of = [f"--n{axis}={grid}" for axis in "xyz"]
        rated = [ROOT / "bench" / "rated.sh", shop.directory / "rated", cells]
        job = ("xhpcg", 2, *size_of, f"--rt={seconds}")
        hpcg = list(variants(*job, before=rated))
        yield Comparison("codes", f"{compiler}, HPCG on 2", "ms/Gflop", 1e3, hpcg)
        job = ("minife", 2, *(argument for axis in "xyz" for argument in (f"-n{axis}", elements)))
        minife = list(variants(*job, before=rated))
        yield Comparison("codes", f"{compiler}, miniFE on 2", "s", 1, minife)
        if (CODES / f"{compiler}-native" / "tealeaf").exists():
            tealeaf = list(variants("tealeaf", 2, before=rated))
            yield Comparison("codes", f"{compiler}, TeaLeaf on 2", "s", 1, tealeaf)


def traffic(shop, size):
    """One-sided calls only."""
    for mpi in MPIS:
        native = shop.build("traffic", mpi)
        hooks = shop.build("traffic", mpi, how="commsan")
        variants = [
            Variant("native", shop.run(mpi, 2, native, size.seconds)),
            Variant("commsan", shop.run(mpi, 2, hooks, size.seconds, checked=True), 1.4),
            Variant(
                "commsan, not recompiled",
                shop.run(mpi, 2, native, size.seconds, checked=True),
                1.4,
            ),
        ]
        yield Comparison("traffic", mpi, "µs/round", 1e6, variants)


def symmetric(shop, size):
    """One-sided calls of OpenSHMEM only, with Open MPI."""
    native = shop.build("symmetric")
    hooks = shop.build("symmetric", how="commsan")
    for mode in ("put", "atomic"):
        arguments = (mode, size.seconds)
        variants = [
            Variant("native", shop.run("Open MPI", 2, native, *arguments)),
            Variant("commsan", shop.run("Open MPI", 2, hooks, *arguments, checked=True)),
        ]
        for variant in variants:
            variant.environment = {"OMPI_MCA_osc": "^rdma"}  # docs/openshmem.md
        yield Comparison("symmetric", f"OpenSHMEM, {mode}", "µs/round", 1e6, variants)


def gups(shop, size):
    """One-sided calls that never go on where the one before ended."""
    words, updates = size.gups
    for mpi in MPIS:
        native = shop.build("gups", mpi)
        hooks = shop.build("gups", mpi, how="commsan")
        for mode in ("accumulate", "getput"):
            arguments = (mode, words, updates)
            variants = [
                Variant("native", shop.run(mpi, 2, native, *arguments)),
                Variant("commsan", shop.run(mpi, 2, hooks, *arguments, checked=True)),
            ]
            yield Comparison("gups", f"{mpi}, {mode}", "ns/update", 1e9 / updates, variants)


def growing(shop, program, counts, seconds, what, measure):
    """A program that is told how many there are of something; `measure` gives the unit for a number."""
    for mpi in MPIS:
        native = shop.build(program, mpi)
        for count in counts:
            arguments = (native, count, seconds)
            variants = [
                Variant("native", shop.run(mpi, 2, *arguments)),
                Variant("commsan", shop.run(mpi, 2, *arguments, checked=True)),
            ]
            yield Comparison(program, f"{mpi}, {count} {what}", *measure(count), variants)


def pending(shop, size):
    """More and more operations that read the same bytes, and are complete all at once."""
    each = lambda count: ("ns/operation", 1e9 / count)
    yield from growing(shop, "pending", size.pending, size.seconds, "pending", each)


def windows(shop, size):
    """One-sided synchronisation while more and more windows are open."""
    each = lambda _: ("µs/fence", 1e6)
    yield from growing(shop, "windows", size.windows, size.seconds, "open", each)


def nodes(shop, size):
    """Order between nodes: both are this machine, so the network costs nothing and processors are shared."""
    mpi = "MPICH"  # Open MPI 4.1 has windows between nodes that do not end
    agent = shop.directory / "ssh"
    agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\nexec sh -c "$*"\n')
    agent.chmod(0o755)
    launch = [MPIS[mpi][1], "-launcher", "ssh", "-launcher-exec", agent, "-hosts", "a:1,b:1"]
    check = [COMMSAN, "run", "--quiet", "--output", "RUN_DIRECTORY", "--"]
    native = shop.build("nodes", mpi)
    for kind in ("pingpong", "allreduce", "fence", "lock"):
        job = [*launch, "-n", 2, native, kind, size.seconds]
        variants = [Variant("native", job), Variant("commsan", [*check, *job])]
        yield Comparison("nodes", f"{mpi}, {kind}", "µs", 1e6, variants)


def window(shop, size):
    """Loads and stores of window memory, all of which are noted."""
    nx, ny = size.window
    for compiler in COMPILERS:
        if not shutil.which(COMPILERS[compiler]):
            continue
        native = shop.build("window", compiler=compiler)
        hooks = shop.build("window", compiler=compiler, how="commsan")

        def command(program, checked=True):
            return shop.run("Open MPI", 1, program, nx, ny, size.seconds, checked=checked)

        variants = [
            Variant("native", command(native, False)),
            Variant("commsan", command(hooks), 6.0),
            Variant("commsan, not recompiled", command(native), 1.4),
        ]
        if shop.tsan_runs(compiler):
            tsan = shop.build("window", compiler=compiler, how="tsan")
            options = {"TSAN_OPTIONS": "report_bugs=0", "OMPI_MCA_memory": "^patcher"}
            plain = [*shop.tsan_prefix, *command(tsan, False)]
            variants.append(Variant("ThreadSanitizer", plain, None, options))
        yield Comparison("window", compiler, "ns/cell", 1e9, variants)


def shared(shop, size):
    """Loads and stores of memory that two ranks share, told and compared at each barrier."""
    nx, ny = size.shared
    for compiler in COMPILERS:
        if not shutil.which(COMPILERS[compiler]):
            continue
        native = shop.build("shared", compiler=compiler)
        hooks = shop.build("shared", compiler=compiler, how="commsan")

        def command(program, checked=True):
            return shop.run("Open MPI", 2, program, nx, ny, size.seconds, checked=checked)

        variants = [
            Variant("native", command(native, False)),
            Variant("commsan", command(hooks), 6.0),
        ]
        yield Comparison("shared", compiler, "ns/cell", 1e9, variants)


def ranks(shop, size):
    """How time and memory grow with the number of ranks that know of each other, which share the cores."""
    mpi = "Open MPI"  # it yields to other ranks while it waits
    shared = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    native = shop.build("ranks", mpi)
    hooks = shop.build("ranks", mpi, how="commsan")
    for number in size.ranks:
        variants = [
            Variant("native", shop.run(mpi, number, native, size.steps), environment=shared),
            Variant("commsan", shop.run(mpi, number, hooks, size.steps, checked=True),
                    environment=shared),
        ]
        yield Comparison("ranks", f"{number} ranks", "ms/step", 1e3, variants)


def launches(shop, size):
    """Launches of kernels, which commsan looks at without touching what they touch."""
    if "Open MPI" not in MPIS:
        return
    program = shop.build_kernels(PROGRAMS / "launches.cu")
    for bytes_, shown in ((4096, "4 KiB"), (1 << 20, "1 MiB"), (1 << 26, "64 MiB")):

        def command(program, checked):
            return shop.run("Open MPI", 1, program, bytes_, size.seconds / 10, checked=checked)

        variants = [
            Variant("native", command(program, False), environment=SIMULATED),
            Variant("commsan", command(program, True), environment=SIMULATED, most=2e-6),
        ]
        if shop.tsan_runs("gcc"):
            marks = shop.build("marks", how="tsan")
            options = {"TSAN_OPTIONS": "report_bugs=0", "OMPI_MCA_memory": "^patcher"}
            plain = [*shop.tsan_prefix, *command(marks, False)]
            variants.append(
                Variant("marks of ThreadSanitizer", plain, None, options, judged=False)
            )
        yield Comparison("launches", f"of {shown}", "µs/launch", 1e6, variants)


def kernels(shop, size):
    """A whole program with kernels, on the same simulated devices."""
    if "Open MPI" not in MPIS:
        return
    native = shop.build_kernels(JACOBI)
    hooks = shop.build_kernels(JACOBI, how="commsan")
    arguments = size.jacobi
    variants = [
        Variant("native", shop.run("Open MPI", 2, native, *arguments), environment=SIMULATED),
        Variant("commsan", shop.run("Open MPI", 2, hooks, *arguments, checked=True), 1.1,
                environment=SIMULATED),
    ]
    nx, ny, steps = arguments
    yield Comparison("kernels", f"{nx} x {ny}", "ms/step", 1e3 / steps, variants)


def profile(shop, size):
    """Counting what is moved: in calls that do nothing else, in a whole program, and in kernels."""
    for mpi in MPIS:
        program = shop.build("calls", mpi)
        variants = [
            Variant("native", shop.run(mpi, 1, program, size.seconds)),
            Variant("profiled", shop.run(mpi, 1, program, size.seconds, profiled=True), most=150e-9),
        ]
        yield Comparison("profile", f"{mpi}, one call", "ns", 1e9, variants)
    source = (HEAT / "heat.in").read_text()
    nx, ny, steps = size.edge
    for key, value in (("nx", nx), ("ny", ny), ("steps", steps)):
        source = re.sub(rf"(?m)^{key} = \d+", f"{key} = {value}", source)
    file = shop.directory / "edge.in"
    file.write_text(source)
    for mpi in MPIS:
        native = shop.build("heat", mpi)
        variants = [
            Variant("native", shop.run(mpi, 2, native, file)),
            Variant("profiled", shop.run(mpi, 2, native, file, profiled=True), 1.03),
        ]
        yield Comparison("profile", f"{mpi}, halo of 8 KiB", "ms/step", 1e3 / steps, variants)
    if "Open MPI" not in MPIS:
        return
    program = shop.build_kernels(PROGRAMS / "peers.cu")
    variants = [
        Variant("native", shop.run("Open MPI", 1, program, *size.peers), environment=SIMULATED),
        Variant("profiled", shop.run("Open MPI", 1, program, *size.peers, profiled=True), 1.5,
                environment=SIMULATED),
    ]
    width, rows, steps = size.peers
    yield Comparison("profile", f"kernels, {width} x {rows}", "ms/step", 1e3 / steps, variants)


BENCHMARKS = {
    "stencil": stencil,
    "pingpong": pingpong,
    "heap": heap,
    "halo": halo,
    "guards": guards,
    "npb": npb,
    "codes": codes,
    "traffic": traffic,
    "symmetric": symmetric,
    "gups": gups,
    "pending": pending,
    "windows": windows,
    "nodes": nodes,
    "window": window,
    "shared": shared,
    "ranks": ranks,
    "launches": launches,
    "kernels": kernels,
    "profile": profile,
}


def run_once(shop, variant):
    shop.runs += 1
    directory = shop.directory / f"run-{shop.runs}.commsan"
    command = [directory if part == "RUN_DIRECTORY" else part for part in variant.command]
    output, wall = call(command, variant.environment)
    shutil.rmtree(directory, ignore_errors=True)
    measured = re.findall(r"(?:measured|time loop) ([0-9.e+-]+) s", output)
    measured += re.findall(r"Elapsed time += +([0-9.e+-]+) \(s\)", output)
    # Of the seconds that NAS's benchmarks print, short runs have no digit left.
    measured += [1 / float(rate) for rate in re.findall(r"Mop/s total += +([0-9.]+)", output)]
    peaks = re.findall(r"peak\s+(\d+) kB", output)
    if len(measured) != 1 or not peaks:
        raise Failed(f"{variant.name}: no measurement in this output:\n{tail(output)}")
    variant.measured.append(float(measured[0]))
    variant.peak.append(max(int(peak) for peak in peaks))
    variant.wall.append(wall)


def measure(shop, size, comparison):
    for number in range(size.rounds):
        for variant in comparison.variants:
            where = f"{comparison.benchmark}, {comparison.setting}: {variant.name}"
            note(f"{where} ({number + 1}/{size.rounds})")
            run_once(shop, variant)
    note("")


def note(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def ratios(variant, base):
    """Of neighbouring runs, so that what slows the machine for a while slows both."""
    return [mine / theirs for mine, theirs in zip(variant.measured, base.measured)]


def table(comparisons):
    head = ["benchmark", "setting", "variant", "time", "unit", "ratio", "min–max", "target"]
    head += ["peak MiB", "wall s"]
    rows = [head, ["---"] * 3 + ["---:", "---"] + ["---:"] * 5]
    for comparison in comparisons:
        base = comparison.variants[0]
        for variant in comparison.variants:
            ratio, span, target = "", "", ""
            if variant is not base:
                values = ratios(variant, base)
                ratio = f"{statistics.median(values):.2f}"
                span = f"{min(values):.2f}–{max(values):.2f}"
                target = f"≤ {variant.target:g}" if variant.target else ""
                if variant.most:
                    target = f"≤ +{variant.most * comparison.scale:g} {comparison.unit}"
            rows.append(
                [
                    comparison.benchmark,
                    comparison.setting,
                    variant.name,
                    f"{statistics.median(variant.measured) * comparison.scale:.3g}",
                    comparison.unit,
                    ratio,
                    span,
                    target,
                    f"{statistics.median(variant.peak) / 1024:.0f}",
                    f"{statistics.median(variant.wall):.2f}",
                ]
            )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def means(comparisons):
    """Of the benchmarks that are many programs: geometric means of their ratios."""
    groups = {}
    for comparison in [c for c in comparisons if c.benchmark in ("npb", "codes")]:
        of, what = comparison.setting.split(", ")
        if comparison.benchmark == "npb":
            of += f", class {what.split()[-1]}"
        base = comparison.variants[0]
        for variant in comparison.variants[1:]:
            where = f"{comparison.benchmark}, {of}: {variant.name}"
            groups.setdefault(where, []).append(statistics.median(ratios(variant, base)))
    for where, each in groups.items():
        span = f"{min(each):.2f} to {max(each):.2f}"
        yield f"{where}: {statistics.geometric_mean(each):.3f}, {len(each)} programs, {span}"


def verdicts(comparisons):
    """Each target, and whether it was met."""
    for comparison in comparisons:
        base = comparison.variants[0]
        where = f"{comparison.benchmark}, {comparison.setting}"
        for variant in [variant for variant in comparison.variants[1:] if variant.judged]:
            if variant.most:
                pairs = zip(variant.measured, base.measured)
                more = statistics.median(mine - theirs for mine, theirs in pairs)
                text = f"{where}: {variant.name}: {more * comparison.scale:.2f} {comparison.unit}"
                yield more <= variant.most, f"{text} more, target {variant.most * comparison.scale:g}"
            if variant.name == "ThreadSanitizer":
                hooks = comparison.variants[1]
                gain = statistics.median(ratios(variant, hooks))
                yield gain >= 2, f"{where}: {gain:.2f} times as fast as ThreadSanitizer, target 2"
                continue
            if variant.target:
                ratio = statistics.median(ratios(variant, base))
                text = f"{where}: {variant.name}: ratio {ratio:.2f}, target {variant.target:g}"
                yield ratio <= variant.target, text
            native, peak = statistics.median(base.peak), statistics.median(variant.peak)
            text = f"{where}: {variant.name}: {(peak - native) / 1024:+.0f} MiB on"
            text += f" {native / 1024:.0f} MiB, target {MEMORY_TARGET}"
            yield peak <= native * 1.1 + 64 * 1024, text


def machine():
    """What the numbers depend on."""

    def first(command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return (done.stdout or done.stderr).strip().splitlines()[0]
        except (OSError, IndexError):
            return "?"

    model = "?"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "machine": f"{model}, {cores()} cores, Linux {platform.release()}",
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()) + " (1, 5, 15 minutes)",
        "compilers": "; ".join(first([name, "--version"]) for name in COMPILERS.values()),
        "MPI": f"{first(['mpirun.openmpi', '--version'])}; "
        + re.sub(r"\s+", " ", first(["mpichversion"])),
        "commsan": first([COMMSAN, "--version"]),
    }


def prepare_environment():
    os.environ.pop("COMMSAN_OPTIONS", None)
    if os.geteuid() == 0:
        os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    # Only where it cannot be avoided: Open MPI polls less eagerly when told that cores are shared.
    if cores() < 2:
        os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        print("warning: two ranks share one core, so these times mean nothing", file=sys.stderr)
    for mpi in [mpi for mpi in MPIS if not shutil.which(MPIS[mpi][0])]:
        print(f"warning: {mpi} is missing and left out", file=sys.stderr)
        del MPIS[mpi]
    if "Open MPI" not in MPIS:
        raise Failed("Open MPI is missing; `make setup` installs it")
    if not os.access(COMMSAN, os.X_OK):
        raise Failed(f"{COMMSAN} is missing; `make build` makes it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="only see that everything works")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"default {FULL.rounds}")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all numbers, too")
    arguments = parser.parse_args()
    unknown = set(arguments.benchmarks) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    size = QUICK if arguments.quick else FULL
    if arguments.rounds:
        size = dataclasses.replace(size, rounds=max(1, arguments.rounds))

    comparisons = []
    try:
        prepare_environment()
        facts = machine()
        with tempfile.TemporaryDirectory(prefix="commsan-bench-") as directory:
            shop = Workshop(pathlib.Path(directory))
            for name in arguments.benchmarks or BENCHMARKS:
                for comparison in BENCHMARKS[name](shop, size):
                    measure(shop, size, comparison)
                    comparisons.append(comparison)
    except (Failed, subprocess.TimeoutExpired) as error:
        note("")
        print(f"error: {error}", file=sys.stderr)
        return 1

    for key, value in facts.items():
        print(f"- {key}: {value}")
    print(f"- rounds: {size.rounds}\n\n{table(comparisons)}\n")
    for mean in means(comparisons):
        print(f"- geometric mean, {mean}")
    if arguments.json:
        numbers = {"facts": facts, "comparisons": [dataclasses.asdict(c) for c in comparisons]}
        arguments.json.write_text(json.dumps(numbers, indent=1, default=str) + "\n")
    if arguments.quick:
        print("Quick run: everything works; the times mean nothing.")
        return 0
    missed = [text for met, text in verdicts(comparisons) if not met]
    for text in missed:
        print(f"- missed: {text}")
    if not missed:
        print("All targets are met.")
    return 1 if missed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
