#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs the tests of a build folder with ctest: run-tests.py BUILD [--label LABEL] [--beside COMMAND] [--after-guests COMMAND]

The commands, a shell's, run meanwhile with what the tests leave of the CPUs: many of them wait. What they print comes after what the tests
print. `--beside` starts with the tests and may be kept waiting for minutes (SCHED_IDLE). `--after-guests` starts when the last guest
(vm.NAME) has ended, since guests leave nothing; it gets a tenth of a CPU at least, so that a command that has limits of its own keeps to them.

Afterwards it repeats what failed tests said of their failure, and lists the cases that were skipped, the second tries of those tests that
have one (tests/support/twice.py), and the twenty tests that took longest. The last line is ctest's own summary; the exit status is ctest's,
or 1 where the tests passed and a command failed.
"""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SLOWEST = 20
REPEATED = 40  # lines of each test that failed, at most
MOST_OUTPUT = 1 << 20  # bytes of a test, as far as they are kept
AT_ONCE = 2 * (os.cpu_count() or 1)  # of tests that wait half of their time; others count twice (PROCESSORS in tests/vm and tests/system)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\w+\.\S+) \(\d", re.MULTILINE)
FAILURE = re.compile(r"Failure$|\bFAILED\b|\bFAIL\b|\bERROR:|^\w*(Error|Wrong)\b")
BEHIND = 7  # lines behind such a line that belong to it
STARTED = re.compile(r"^\s*Start\s+\d+: (\S+)")
RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) .*?([0-9.]+) sec")
GUEST = "vm."
IDLE = ("chrt", "--idle", "0")
LOW = ("nice", "-n", "10")


def run(build, retries, results, guests_ended, *options):
    """ctest's exit status, the seconds that each test took, ctest's summary line. Calls `guests_ended` when no guest runs any more."""
    seconds, summary, guests = {}, "", set()
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", f"-j{AT_ONCE}",
               "--output-junit", str(results), "--test-output-size-passed", str(MOST_OUTPUT), *options]
    environment = {**os.environ, "USCOPE_TEST_RETRIES": str(retries)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment) as ctest:
        for line in ctest.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            started, found = STARTED.match(line), RESULT.match(line)
            if started and started.group(1).startswith(GUEST):
                guests.add(started.group(1))
            elif found:
                seconds[found.group(1)] = float(found.group(2))
                if guests == {found.group(1)}:
                    guests_ended()
                guests.discard(found.group(1))
            elif "tests passed," in line:
                summary = line.rstrip()
    return ctest.returncode, seconds, summary


class Beside:
    """A command that runs beside the tests. It has a session of its own, which can be ended as a whole. The kernel shares CPUs out by
    session first, where it has autogroups: there a priority counts within a session only, and the session gets one, too."""

    def __init__(self, command, priority, autogroup):
        self.command, self.priority, self.autogroup = command, priority, autogroup
        self.process, self.output = None, None

    def start(self):
        """Once: a second call does nothing."""
        if self.command is None or self.process is not None:
            return
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*self.priority, "bash", "-c", self.command], stdout=self.output, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        with contextlib.suppress(OSError):
            pathlib.Path(f"/proc/{self.process.pid}/autogroup").write_text(self.autogroup, encoding="ascii")

    def end(self):
        """Waits for it, prints what it printed, and returns its exit status; 0 without a command."""
        if self.command is None:
            return 0
        self.start()
        status = self.process.wait()
        self.output.seek(0)
        print(f"\n== {self.command}: exit status {status}", flush=True)
        sys.stdout.write(self.output.read().decode(errors="replace"))
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)


def skipped_cases(results):
    """Tests by GoogleTest say it in their output. ctest's own log does not last: a test that asks ctest for the tests that there are
    begins it anew."""
    return sorted(set(SKIPPED.findall(results.read_text(encoding="utf-8", errors="replace")))) if results.exists() else []


def failures(results):
    """(name, what it said of its failure) of each test that failed: the lines that say so, with those behind them, else its last lines."""
    try:
        cases = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"{results}: {error}")
        return
    for case in cases:
        if case.get("status") != "fail":
            continue
        lines = (case.findtext("system-out") or "").rstrip().splitlines()
        near = sorted({near for at, line in enumerate(lines) if FAILURE.search(line) for near in range(at, min(at + BEHIND, len(lines)))})
        yield case.get("name"), ([lines[at] for at in near] or lines[-REPEATED:])[:REPEATED]


def show(title, names):
    print(f"{len(names)} {title}" + "".join(f"\n  {name}" for name in names))


def main():
    parser = argparse.ArgumentParser(usage="run-tests.py BUILD [--label LABEL] [--beside COMMAND] [--after-guests COMMAND]")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--label")
    parser.add_argument("--beside")
    parser.add_argument("--after-guests")
    arguments = parser.parse_args()
    chosen = ["-L", f"^{arguments.label}$"] if arguments.label else []
    retries = arguments.build.resolve() / "retries.log"
    retries.write_text("", encoding="utf-8")
    results = arguments.build.resolve() / "results.xml"
    results.unlink(missing_ok=True)
    with Beside(arguments.beside, IDLE, "19") as beside, Beside(arguments.after_guests, LOW, "10") as later:
        beside.start()
        status, seconds, summary = run(arguments.build, retries, results, later.start, *chosen)
        later.start()
        for each in (beside, later):
            if each.end() != 0:
                status = status or 1

    print()
    for name, lines in failures(results):
        print(f"{name} failed:", *lines, sep="\n  ")
    show("test cases skipped", skipped_cases(results))
    show("second tries", retries.read_text(encoding="utf-8").splitlines())
    print(f"The {min(SLOWEST, len(seconds))} slowest of {len(seconds)} tests:")
    for name, taken in sorted(seconds.items(), key=lambda each: -each[1])[:SLOWEST]:
        print(f"  {taken:7.1f} s  {name}")
    print(summary or "ctest printed no summary")
    return status


if __name__ == "__main__":
    sys.exit(main())
