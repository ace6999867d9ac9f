"""Sizes, variants and comparisons of benchmarks, and the workshop that builds and runs programs."""

import dataclasses
import os
import pathlib
import platform
import subprocess
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
