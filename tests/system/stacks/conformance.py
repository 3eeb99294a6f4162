#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a fixture under `uscope record` and compares the trace with what the fixture's source says (expectations.py).

usage: conformance.py --uscope PROGRAM --fixture PROGRAM --source FILE [--static] [--stripped] [--keep FOLDER]
Prints each failure and, last, `N passed, N failed`; exits with 1 where anything failed.
"""

import argparse
import contextlib
import itertools
import os
import shlex
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from expectations import Matcher, check_run, parse_source  # noqa: E402
from trace import Trace  # noqa: E402
from traced_command import record  # noqa: E402


def run_one(arguments, fixture, run, folder, number):
    output = os.path.join(folder, f"{os.path.basename(fixture)}.{number}.db")
    done = record(arguments.uscope, run.options, [fixture, *run.arguments], output)
    failures = []
    if done.returncode != run.status:
        failures.append(f"exit status {done.returncode}, not {run.status}: {done.stderr.strip()[-500:]}")
    if not os.path.exists(output):
        return [*failures, f"no trace was written: {done.stderr.strip()[-500:]}"]
    matcher = Matcher(os.path.basename(fixture), arguments.static, arguments.stripped)
    failures += check_run(run, Trace(output), matcher)
    return failures + (unread_files(output) if failures else [])


def unread_files(output):
    """Why a stack may end where a file's code begins: for the eye of whoever looks at a failure."""
    with contextlib.closing(sqlite3.connect(f"file:{output}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT path, state, trouble FROM unwind_table WHERE trouble IS NOT NULL").fetchall()
    return [f"file {path} ({state}): {trouble}" for path, state, trouble in rows[:10]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", default=os.environ.get("USCOPE", "uscope"))
    parser.add_argument("--fixture", required=True, action="append", help="repeatable: several builds of one source")
    parser.add_argument("--source", required=True)
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--stripped", action="store_true")
    parser.add_argument("--keep", help="keep the traces in this folder")
    arguments = parser.parse_args()

    runs = parse_source(arguments.source, arguments.static)
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
