#!/usr/bin/env python3
"""Runs all test programs of the workspace, several at a time.

`cargo test` runs one after the other; many of them wait for compilers, launchers or time limits,
and leave a core idle. Each program's output comes when it has ended. At the end stand how long each
took and its processor time. Usage: tests.py WORKERS ARGUMENT..., the arguments of `cargo test`.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

# Those that take a minute or more, longest first, so that none of them is alone at the end: the
# test and its crate. All others take seconds, and fill the gaps.
LONG = [
    ("cases", "commsan"),
    ("slurm", "commsan"),
    ("rma", "commsan"),
    ("nodes", "commsan"),
    ("lint", "commsan"),
    ("builds", "compiler-wrapper"),
    ("programs", "simnccl"),
    ("stuck", "commsan"),
    ("robust", "commsan"),
]


class Program:
    """A test program, as cargo has built it."""

    def __init__(self, message):
        self.executable = message["executable"]
        self.directory = os.path.dirname(message["manifest_path"])
        self.name = (message["target"]["name"], os.path.basename(self.directory))
        source = os.path.relpath(message["target"]["src_path"], self.directory)
        self.title = f"{self.name[1]} {source}"
        self.seconds = self.processor_seconds = 0.0
        self.failed = False

    def place(self):
        """Where in the order it begins."""
        return LONG.index(self.name) if self.name in LONG else len(LONG)

    def run(self, cargo):
        """Runs it as cargo does, and returns what it prints."""
        environment = {**os.environ, "CARGO": cargo, "CARGO_MANIFEST_DIR": self.directory}
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            child = subprocess.Popen(
                [self.executable],
                cwd=self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - started
            self.processor_seconds = used.ru_utime + used.ru_stime
            self.failed = child.returncode != 0
            output.seek(0)
            text = output.read()
        if self.failed:
            text += f"error: {self.title} ended with {child.returncode}\n".encode()
        return text


def built(cargo, arguments):
    """Builds all test programs; those that cargo would run."""
    command = [cargo, "test", *arguments, "--no-run", "--message-format=json-render-diagnostics"]
    build = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if build.returncode:
        sys.exit(build.returncode)
    messages = map(json.loads, build.stdout.splitlines())
    return [
        Program(message)
        for message in messages
        if message["reason"] == "compiler-artifact"
        and message["profile"]["test"]
        and message["executable"]
    ]


def main():
    workers, arguments = int(sys.argv[1]), sys.argv[2:]
    cargo = os.environ.get("CARGO") or "cargo"
    programs = built(cargo, arguments)
    waiting = sorted(programs, key=Program.place)
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                program = waiting.pop(0)
            text = program.run(cargo)
            with lock:
                print(f"     Running {program.title}", flush=True)
                sys.stdout.buffer.write(text)
                sys.stdout.flush()

    started = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    programs.sort(key=lambda program: -program.processor_seconds)
    print("\nProcessor time, seconds; and from begin to end:")
    for program in programs[:20]:
        print(f"{program.processor_seconds:8.1f} {program.seconds:8.1f}  {program.title}")
    total = sum(program.processor_seconds for program in programs)
    print(f"{total:8.1f} {time.monotonic() - started:8.1f}  all {len(programs)} test programs")
    failed = [program.title for program in programs if program.failed]
    if failed:
        print("error: failed: " + ", ".join(failed))
    sys.exit(bool(failed))


main()
