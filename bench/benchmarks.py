"""A function for each benchmark, by its name, which yields comparisons; BENCHMARKS lists them."""

import re
import shutil
import sys

from workshop import (
    CODES,
    COMMSAN,
    COMPILERS,
    Comparison,
    DIST,
    HEAT,
    JACOBI,
    MPIS,
    NPB,
    PROGRAMS,
    QUICK,
    ROOT,
    SIMULATED,
    Variant,
    call,
)


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


def calls_alone(shop, size, program, name, unit, target):
    """Two ranks that do nothing but call MPI, recompiled and not."""
    for mpi in MPIS:
        native = shop.build(program, mpi)
        hooks = shop.build(program, mpi, how="commsan")
        command = shop.run(mpi, 2, hooks, size.seconds, checked=True)
        unmodified = shop.run(mpi, 2, native, size.seconds, checked=True)
        variants = [
            Variant("native", shop.run(mpi, 2, native, size.seconds)),
            Variant("commsan", command, target),
            Variant("commsan, not recompiled", unmodified, target),
        ]
        yield Comparison(name, mpi, unit, 1e6, variants)


def pingpong(shop, size):
    """MPI calls only."""
    return calls_alone(shop, size, "pingpong", "ping-pong", "µs/round trip", 1.35)


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
    return calls_alone(shop, size, "traffic", "traffic", "µs/round", 1.4)


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
