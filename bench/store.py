#!/usr/bin/env python3
"""Measures what a profile leaves: its size on disk, and how long it takes after the program's end.

Both should not grow with the number of messages, since ranks add up what they move.
docs/benchmarks.md tells what is measured.
"""

import argparse
import csv
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import run
import workshop

COUNTS = [10_000, 1_000_000, 100_000_000]
SIZE_TARGET = 1 << 20  # bytes
MERGE_TARGET = 1.0  # seconds


def ended(command):
    """Runs a command; seconds from the program's end to the command's, and in all."""
    begin = time.time()
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace")
    now = time.time()
    end = re.search(r"ended ([0-9.]+)", done.stdout + done.stderr)
    if done.returncode != 0 or not end:
        sys.exit(f"{' '.join(map(str, command))}\n{workshop.tail(done.stdout + done.stderr)}")
    return now - float(end[1]), now - begin


def transfers(directory, count):
    """What the stored table says, which must be all that was sent."""
    out = directory.parent / "csv"
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([workshop.COMMSAN, "export", "--csv", out, directory], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    with open(out / "transfers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = sum(int(row["count"]) for row in rows if row["kind"] == "point-to-point")
    if found != count:
        sys.exit(f"{count} messages were sent, {found} are told in {out}/transfers.csv")
    return len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS, metavar="MESSAGES")
    options = parser.parse_args()
    run.prepare_environment()
    missed = False
    print("| messages | native | profiled | rows | on disk | after the end, native | profiled |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        shop = workshop.Workshop(pathlib.Path(scratch))
        program = shop.build("messages")
        directory = pathlib.Path(scratch) / "messages.commsan"
        for count in options.counts:
            times = []
            for _ in range(options.rounds):
                shutil.rmtree(directory, ignore_errors=True)
                plain = ended(shop.run("Open MPI", 2, program, count))
                command = shop.run("Open MPI", 2, program, count, profiled=True)
                command = [directory if part == "RUN_DIRECTORY" else part for part in command]
                times.append((*plain, *ended(command)))
            size = sum(f.stat().st_size for f in directory.rglob("*") if f.is_file())
            rows = transfers(directory, count)
            plain_end, plain, end, profiled = (statistics.median(t) for t in zip(*times))
            missed |= size > SIZE_TARGET or end - plain_end > MERGE_TARGET
            print(f"| {count:,} | {plain:.2f} s | {profiled:.2f} s | {rows} | {size / 1024:.0f} KiB "
                  f"| {plain_end:.2f} s | {end:.2f} s |", flush=True)
    print(f"\nTargets: {SIZE_TARGET >> 10} KiB, and {MERGE_TARGET} s more than without a profile, "
          "whatever the number of messages.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
