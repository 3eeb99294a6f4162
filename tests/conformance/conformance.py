#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a fixture under `uscope record` and compares the trace with what the fixture's source says (expectations.py).

usage: conformance.py --uscope PROGRAM --fixture PROGRAM --source FILE [--static] [--stripped] [--keep FOLDER]
Prints each failure and, last, `N passed, N failed`; exits with 1 where anything failed.
"""

import argparse
import ctypes
import itertools
import os
import shlex
import subprocess
import sys
import tempfile

from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS
from expectations import Matcher, check_run, parse_source
from trace import Trace


def without_randomness():
    """For a child before its exec: no address space randomisation, with which the number of brk calls changes."""
    addr_no_randomize = 0x0040000
    ctypes.CDLL(None).personality(addr_no_randomize)


def environment():
    # PYTHONHASHSEED: the order of Python's sets, and with it its allocations. LC_ALL: no locale files to look for.
    return {**os.environ, "PYTHONHASHSEED": "0", "LC_ALL": "C"}


def record(uscope, options, command, output, stdout=subprocess.PIPE, timeout=120, **more):
    return subprocess.run(
        [uscope, "record", *BACKEND_OPTIONS, *options, "-o", output, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=timeout * SLOWNESS,
        check=False,
        text=True,
        errors="replace",
        **more,
    )


def run_one(arguments, fixture, run, folder, number):
    output = os.path.join(folder, f"{os.path.basename(fixture)}.{number}.db")
    done = record(arguments.uscope, run.options, [fixture, *run.arguments], output)
    failures = []
    if done.returncode != run.status:
        failures.append(f"exit status {done.returncode}, not {run.status}: {done.stderr.strip()[-500:]}")
    if not os.path.exists(output):
        return [*failures, f"no trace was written: {done.stderr.strip()[-500:]}"]
    matcher = Matcher(os.path.basename(fixture), arguments.static, arguments.stripped)
    return failures + check_run(run, Trace(output), matcher)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", default=os.environ.get("USCOPE", "uscope"))
    parser.add_argument("--fixture", required=True, action="append", help="repeatable: several builds of one source")
    parser.add_argument("--source", required=True)
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--stripped", action="store_true")
    parser.add_argument("--keep", help="keep the traces in this folder")
    arguments = parser.parse_args()

    runs = parse_source(arguments.source)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for fixture, (number, run) in itertools.product(map(os.path.abspath, arguments.fixture), enumerate(runs)):
            failures = run_one(arguments, fixture, run, arguments.keep or scratch, number)
            passed += not failures
            failed += bool(failures)
            if failures:
                print(f"FAILED {os.path.basename(fixture)}: {run.title()}")
                command = ["record", *BACKEND_OPTIONS, *run.options, "-o", "x.db", "--", fixture, *run.arguments]
                print(f"  reproduce: {shlex.join([arguments.uscope, *command])}")
                for failure in failures[:40]:
                    print(f"  {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
