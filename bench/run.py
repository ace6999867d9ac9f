"""Measures what commsan costs: builds the programs, runs them in turn, prints a Markdown table.

docs/benchmarks.md tells what is measured and how to read the table.

Here are running, tables, means and verdicts; benchmarks.py has a function for each benchmark, and
workshop.py what builds and runs programs.
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

from benchmarks import BENCHMARKS
from workshop import (
    COMMSAN,
    COMPILERS,
    FULL,
    Failed,
    MEMORY_TARGET,
    MPIS,
    QUICK,
    Workshop,
    call,
    cores,
    tail,
)


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
