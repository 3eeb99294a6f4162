#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs the tests of a build folder with ctest: run-tests.py BUILD [--label LABEL] [--without LABEL] [--beside COMMAND]

Limits of time are there against tests that hang, and are those of a quiet machine. How slow this one is, is measured first, and told: all
limits are multiplied by that, those of ctest and those in the tests themselves (USCOPE_TEST_PATIENCE, tests/support/py/backend.py).

COMMAND, a shell's, runs meanwhile with what the tests leave of the CPUs: many of them wait. What it prints comes after theirs.

Afterwards it repeats what failed tests said of their failure, and lists the cases that were skipped, the second tries of those tests that
have one (tests/support/twice.py), and the twenty tests that took longest. The last line is ctest's own summary; the exit status is ctest's, or 1 where the tests passed and COMMAND failed.
"""

import argparse
import contextlib
import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SLOWEST = 20
REPEATED = 40  # lines of each test that failed, at most
MOST_OUTPUT = 1 << 20  # bytes of a test, as far as they are kept
AT_ONCE = 2 * (os.cpu_count() or 1)  # of tests that wait half of their time; others count twice (PROCESSORS in tests/vm and tests/system)
USUAL_START = 0.001  # seconds that a quiet machine takes to start a program, and to see it end
LEAST_PATIENCE, MOST_PATIENCE = 2, 20  # others may come to use the machine later
# What a skipped case leaves in its test's output: GoogleTest's case with its reason above it, and unittest's with it behind.
SKIPPED = re.compile(r"^(?:.*: Skipped\n(?P<reason>(?:(?!\[ ).*\n){0,4}))?\[  SKIPPED \] (?P<name>\w+\.\S+) \(\d"
                     r"|^(?P<test>\w+) \([\w.]+\)(?:\n.*)? \.\.\. skipped (?P<why>.*)$", re.MULTILINE)
FAILURE = re.compile(r"Failure$|\bFAILED\b|\bFAIL\b|\bERROR:|^\w*(Error|Wrong)\b")
BEHIND = 7  # lines behind such a line that belong to it
RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) .*?([0-9.]+) sec")


def measure_start(seconds=2):
    """How long the start of a program takes now, in seconds."""
    began, starts = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        subprocess.run(["/bin/true"], check=True)
        starts += 1
    return (time.monotonic() - began) / starts


def choose_patience():
    start = measure_start()
    patience = min(max(start / USUAL_START, LEAST_PATIENCE), MOST_PATIENCE)
    print(f"A program starts in {start * 1000:.1f} ms here, where {USUAL_START * 1000:.0f} ms are usual: limits of tests are multiplied by {patience:.1f}", flush=True)
    return patience


def handle_signals():
    """A shell without job control lets what it starts with & ignore SIGINT and SIGQUIT, and so all that comes of it: tests send them. SIGTERM
    ends this program by its way out, on which files and groups that are there for a while go."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


@contextlib.contextmanager
def longer_limits(build, patience):
    """While this lasts, ctest reads tests' limits from a file of its own (tests/limits)."""
    file = build.resolve() / "limits.cmake"
    file.unlink(missing_ok=True)
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = []
    for test in json.loads(listed)["tests"]:
        limit = {each["name"]: each["value"] for each in test.get("properties", [])}.get("TIMEOUT")
        if limit:
            lines.append(f'set_tests_properties([=[{test["name"]}]=] PROPERTIES TIMEOUT {limit * patience:.0f})\n')
    file.write_text("".join(lines), encoding="utf-8")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def run(build, retries, results, patience, *options):
    """ctest's exit status, the seconds that each test took, ctest's summary line."""
    seconds, summary = {}, ""
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", f"-j{AT_ONCE}",
               "--output-junit", str(results), "--test-output-size-passed", str(MOST_OUTPUT), *options]
    environment = {**os.environ, "USCOPE_TEST_RETRIES": str(retries), "USCOPE_TEST_PATIENCE": f"{patience:.1f}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment) as ctest:
        for line in ctest.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            found = RESULT.match(line)
            if found:
                seconds[found.group(1)] = float(found.group(2))
            elif "tests passed," in line:
                summary = line.rstrip()
    return ctest.returncode, seconds, summary


def write_existing(path, text):
    with open(os.open(path, os.O_WRONLY), "w", encoding="ascii") as file:
        file.write(text)


def make_idle_group():
    """A control group whose processes run while nobody else wants a CPU; None where the CPU controller has no such groups."""
    for root in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"):
        group = pathlib.Path(root, f"uscope-tests-{os.getpid()}")
        try:
            group.mkdir()
            write_existing(group / "cpu.idle", "1")
            return group
        except OSError:
            remove_group(group)
    return None


def remove_group(group):
    """Processes that were killed are in it until they are gone."""
    for _ in range(20):
        try:
            group.rmdir()
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                return
        time.sleep(0.05)


def start_beside(command, output, group):
    """In a session of its own, which can be ended as a whole. The kernel shares CPUs out by group first, or by session, where it has
    autogroups: SCHED_IDLE counts within those only. Without a group, the session gets the least weight."""
    process = subprocess.Popen(["chrt", "--idle", "0", "bash", "-c", (f"echo $$ > {group}/cgroup.procs; " if group else "") + command],
                               stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    with contextlib.suppress(OSError):
        pathlib.Path(f"/proc/{process.pid}/autogroup").write_text("19", encoding="ascii")
    return process


def kill_group(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def end_beside(process, output, name):
    """Waits for it and prints what it printed; its exit status."""
    status = process.wait()
    output.seek(0)
    print(f"\n== {name}: exit status {status}", flush=True)
    sys.stdout.write(output.read().decode(errors="replace"))
    return status


def cases_of(results):
    """The tests that ran, with their output. ctest's own log does not last: a test that asks ctest for the tests that there are begins it
    anew."""
    try:
        return list(xml.etree.ElementTree.parse(results).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"{results}: {error}")
        return []


def skipped_cases(cases):
    """"test: case: reason" of each case that did not run, in C++ and in Python."""
    found = set()
    for case in cases:
        for skipped in SKIPPED.finditer(case.findtext("system-out") or ""):
            reason = " ".join((skipped["reason"] or skipped["why"] or "no reason given").split()).strip("'\"")
            found.add(f"{case.get('name')}: {skipped['name'] or skipped['test']}: {reason}")
    return sorted(found)


def failures(cases):
    """(name, what it said of its failure) of each test that failed: the lines that say so, with those behind them, else its last lines."""
    for case in cases:
        if case.get("status") != "fail":
            continue
        lines = (case.findtext("system-out") or "").rstrip().splitlines()
        near = sorted({near for at, line in enumerate(lines) if FAILURE.search(line) for near in range(at, min(at + BEHIND, len(lines)))})
        yield case.get("name"), ([lines[at] for at in near] or lines[-REPEATED:])[:REPEATED]


def show(title, names):
    print(f"{len(names)} {title}" + "".join(f"\n  {name}" for name in names))


def main():
    parser = argparse.ArgumentParser(usage="run-tests.py BUILD [--label LABEL] [--without LABEL] [--beside COMMAND]")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--label")
    parser.add_argument("--without")
    parser.add_argument("--beside")
    arguments = parser.parse_args()
    chosen = ["-L", f"^{arguments.label}$"] if arguments.label else []
    chosen += ["-LE", f"^{arguments.without}$"] if arguments.without else []
    retries = arguments.build.resolve() / "retries.log"
    retries.write_text("", encoding="utf-8")
    results = arguments.build.resolve() / "results.xml"
    results.unlink(missing_ok=True)
    handle_signals()
    patience = choose_patience()
    with contextlib.ExitStack() as stack:
        stack.enter_context(longer_limits(arguments.build, patience))
        if arguments.beside:
            output = stack.enter_context(tempfile.TemporaryFile())
            group = make_idle_group()
            if group:
                stack.callback(remove_group, group)
            beside = start_beside(arguments.beside, output, group)
            stack.callback(kill_group, beside)
        status, seconds, summary = run(arguments.build, retries, results, patience, *chosen)
        beside_failed = bool(arguments.beside) and end_beside(beside, output, arguments.beside) != 0

    print()
    cases = cases_of(results)
    for name, lines in failures(cases):
        print(f"{name} failed:", *lines, sep="\n  ")
    show("test cases skipped", skipped_cases(cases))
    show("second tries", retries.read_text(encoding="utf-8").splitlines())
    print(f"The {min(SLOWEST, len(seconds))} slowest of {len(seconds)} tests:")
    for name, taken in sorted(seconds.items(), key=lambda each: -each[1])[:SLOWEST]:
        print(f"  {taken:7.1f} s  {name}")
    if beside_failed:
        print(f"What ran beside the tests failed: {arguments.beside}")
    print(summary or "ctest printed no summary")
    return status or (1 if beside_failed else 0)


if __name__ == "__main__":
    sys.exit(main())
