#!/usr/bin/env python3
"""Measures what `commsan lint` costs: keeping bitcode when a program is compiled, and reading it back.

The programs are generated: C++ with OpenMP and MPI, classes, templates and calls from file to file.
docs/benchmarks.md tells what is measured.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = pathlib.Path(os.environ.get("COMMSAN_DIST", ROOT / "target" / "dist"))
COMMSAN = str(DIST / "bin" / "commsan")
ENVIRONMENT = {**os.environ, "OMPI_CXX": "clang++-19", "MPICH_CXX": "clang++-19"}
COMPILE = [COMMSAN, "cxx", "mpicxx", "-fopenmp", "-g", "-c"]
LINES = 5000  # of a file

# Lines, and the most seconds that lint may take.
SIZES = [(5_000, 1.0), (50_000, None), (500_000, 60.0)]
MEMORY_TARGET = 4096  # MiB
KEEPING_TARGET = 1.03

HEAD = """#include <mpi.h>
#include <omp.h>
#include <string>
#include <vector>

extern MPI_Comm world;
void step_{next}(int depth, double *out);

template <typename T> struct Field{number} {{
  std::vector<T> cells;
  explicit Field{number}(std::size_t size) : cells(size) {{}}
  T sum(std::size_t from, std::size_t to) const {{
    T total{{}};
    for (std::size_t i = from; i < to && i < cells.size(); i++) total += cells[i] * T(i % 7);
    return total;
  }}
}};
"""

FUNCTION = """
static double part_{number}_{part}(const Field{number}<double> &field, double *out, int rank) {{
  double local = field.sum({part}, {part} + 64);
#pragma omp parallel
  {{
    double mine = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < 256; i++) {{
      double x = out[i] + local;
      if (x > {part}) {{
        mine += x / (i + 1);
      }} else if (x < -{part}) {{
        mine -= x * (i + 2);
      }} else {{
        mine += 1;
      }}
      switch (i % 5) {{
      case 0: mine += 1; break;
      case 1: mine *= 2; break;
      default: mine -= 3; break;
      }}
    }}
#pragma omp critical
    out[0] += mine;
#pragma omp barrier
#pragma omp master
    {{
      MPI_Request request[2];
      MPI_Irecv(out + 256, 256, MPI_DOUBLE, rank ^ 1, {part}, world, &request[0]);
      MPI_Isend(out, 256, MPI_DOUBLE, rank ^ 1, {part}, world, &request[1]);
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }}
#pragma omp barrier
#pragma omp single
    {{
      if (rank == 0) MPI_Send(out, 8, MPI_DOUBLE, 1, {part}, world);
      if (rank == 1) MPI_Recv(out, 8, MPI_DOUBLE, 0, {part}, world, MPI_STATUS_IGNORE);
    }}
  }}
  std::string name = "part " + std::to_string({part});
  for (char c : name) local += c;
  MPI_Allreduce(MPI_IN_PLACE, &local, 1, MPI_DOUBLE, MPI_SUM, world);
  return local;
}}
"""

STEP = """
void step_{number}(int depth, double *out) {{
  int rank;
  MPI_Comm_rank(world, &rank);
  Field{number}<double> field(1024);
{calls}
  if (depth > 0) step_{next}(depth - 1, out);
}}
"""

MAIN = """
MPI_Comm world;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  world = MPI_COMM_WORLD;
  std::vector<double> out(1024);
  step_0(argc, out.data());
  MPI_Finalize();
  return 0;
}
"""


class Failed(Exception):
    """A command failed."""


def measured(command, environment=ENVIRONMENT, codes=(0,)):
    """Runs a command; returns wall and user seconds, and the most memory in MiB."""
    begin = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise Failed(f"{' '.join(command)}\nended with {child.returncode}:\n{said}")
    return time.monotonic() - begin, usage.ru_utime, usage.ru_maxrss / 1024


def source(number, count):
    """The text of one file of `count`."""
    following = (number + 1) % count
    text = HEAD.format(number=number, next=following)
    parts = 0
    while text.count("\n") < LINES - 200:
        text += FUNCTION.format(number=number, part=parts)
        parts += 1
    calls = "\n".join(f"  out[{part}] = part_{number}_{part}(field, out, rank);"
                      for part in range(parts))
    text += STEP.format(number=number, next=following, calls=calls)
    return text + (MAIN if number == 0 else "")


def write(directory, lines):
    """Writes a program; returns its files."""
    count = max(1, lines // LINES)
    files = []
    for number in range(count):
        file = directory / f"part{number}.cpp"
        file.write_text(source(number, count))
        files.append(file)
    return files


def compile_all(files, jobs):
    """Compiles them for lint; returns the objects."""
    objects, running = [], []
    for file in files:
        target = file.with_suffix(".o")
        objects.append(str(target))
        running.append(subprocess.Popen([*COMPILE, "-O0", str(file), "-o", str(target)],
                                        env=ENVIRONMENT))
        while len(running) >= jobs:
            if running.pop(0).wait() != 0:
                raise Failed(f"{file} does not compile")
    if any(child.wait() != 0 for child in running):
        raise Failed("a file does not compile")
    return objects


def keeping(directory, rounds):
    """Compiling with and without keeping bitcode, in turn."""
    file = write(directory, LINES)[0]
    command = [*COMPILE, "-O2", str(file), "-o", str(directory / "kept.o")]
    ratios, with_it, sizes = [], [], []
    for _ in range(rounds):
        _, without, _ = measured(command, {**ENVIRONMENT, "COMMSAN_LINT": "off"})
        size = (directory / "kept.o").stat().st_size
        _, kept, _ = measured(command)
        sizes.append((directory / "kept.o").stat().st_size / size)
        ratios.append(kept / without)
        with_it.append(kept)
    ratio = statistics.median(ratios)
    print(f"| compile {LINES} lines, user time | {statistics.median(with_it):.2f} s, ratio "
          f"{ratio:.3f} ({min(ratios):.3f}-{max(ratios):.3f}), objects {statistics.median(sizes):.2f} "
          f"times as large | {KEEPING_TARGET} |")
    return ratio <= KEEPING_TARGET


def reading(directory, lines, target, rounds, jobs):
    """Lint of a program of so many lines."""
    objects = compile_all(write(directory, lines), jobs)
    runs = [measured([COMMSAN, "lint", *objects], codes=(0, 66)) for _ in range(rounds)]
    wall = statistics.median(run[0] for run in runs)
    user = statistics.median(run[1] for run in runs)
    peak = max(run[2] for run in runs)
    wanted = f"{target} s, {MEMORY_TARGET} MiB" if target else ""
    print(f"| lint {lines} lines | {wall:.2f} s ({user:.2f} s user), {peak:.0f} MiB | {wanted} |")
    return (target is None or wall <= target) and peak <= MEMORY_TARGET


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, action="append", help="sizes other than the usual")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    chosen = parser.parse_args()
    targets = dict(SIZES)
    sizes = [(n, targets.get(n)) for n in chosen.lines] if chosen.lines else SIZES
    print("| what | measured | target |\n|---|---|---|")
    met = True
    with tempfile.TemporaryDirectory() as directory:
        met &= keeping(pathlib.Path(directory), chosen.rounds)
    for lines, target in sizes:
        with tempfile.TemporaryDirectory() as directory:
            rounds = chosen.rounds if lines < 100_000 else 1
            met &= reading(pathlib.Path(directory), lines, target, rounds, chosen.jobs)
    return 0 if met or not chosen.check else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
