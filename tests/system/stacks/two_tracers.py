#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Two tracers attached to one run at once must write the same: processes, threads, calls, arguments, results, stacks.

usage: two_tracers.py --uscope PROGRAM [--exit-status N] [--least CALLS] [--damage] -- COMMAND [ARG...]
`uscope record -o outer.db -- uscope record -o inner.db -- COMMAND`; with USCOPE_TEST_BACKEND=kmod the outer tracer is the module and the
inner one BPF, else both are BPF. compare_traces.py compares. Then copies of the inner trace are damaged, one value each (--damage), and the
comparison must say so: it is worth nothing if it finds no difference.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import BACKEND  # noqa: E402
from compare_traces import compare  # noqa: E402

# What is done to the inner trace, and a word of the difference that must be told.
MIDDLE = "(SELECT id FROM event WHERE stack_id IS NOT NULL AND how = 'returned' AND result IS NOT NULL LIMIT 1 OFFSET 3)"
DAMAGES = [
    (f"UPDATE event SET result = result + 1 WHERE id = {MIDDLE}", ": result: "),
    (f"UPDATE event SET a1 = a1 + 1 WHERE id = {MIDDLE}", "only in the inner trace"),
    (f"UPDATE event SET how = 'killed' WHERE id = {MIDDLE}", ": how: "),
    (f"UPDATE event SET ts_ns = ts_ns + 60000000000 WHERE id = {MIDDLE}", "only in the "),
    (f"UPDATE event SET dur_ns = dur_ns + 60000000000 WHERE id = {MIDDLE}", ": duration: "),
    (f"UPDATE event SET stack_id = NULL WHERE id = {MIDDLE}", ": frame 0: "),
    (f"DELETE FROM event WHERE id = {MIDDLE}", "only in the outer trace"),
    (f"UPDATE event SET kind_id = (SELECT max(id) FROM kind WHERE id <> event.kind_id) WHERE id = {MIDDLE}", "only in the "),
    ("UPDATE frame SET rel_pc = rel_pc + 1 WHERE id = (SELECT frame_id FROM stack_frame JOIN event USING (stack_id) "
     "WHERE position = 1 AND inline_depth = 0 LIMIT 1)", ": frame "),
    (f"UPDATE stack SET ended = 'budget' WHERE id = (SELECT stack_id FROM event WHERE id = {MIDDLE})", ": stack's end: "),
    ("UPDATE module SET path = path || 'x'", ": frame 0: "),
    ("UPDATE process SET exit_code = 77", ": exit_code: "),
    ("UPDATE process SET pid = pid + 100000", "only in the inner trace"),
    ("UPDATE thread SET name = 'other'", ": name: "),
    ("UPDATE image SET argv = '[\"other\"]'", ": images: "),
    ("INSERT INTO loss (ts_ns, until_ns, cause, count) VALUES (1, 2, 'ring_full', 3)", "lost: "),
]


def undetected(outer, inner):
    """Damages that the comparison did not tell."""
    missed = []
    for number, (statement, word) in enumerate(DAMAGES):
        damaged = f"{inner}.damaged-{number}"
        shutil.copyfile(inner, damaged)
        with sqlite3.connect(damaged) as database:
            database.execute(statement)
        database.close()
        if not any(word in difference for difference in compare(outer, damaged).differences):
            missed.append(statement)
        os.unlink(damaged)
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uscope", default="uscope")
    parser.add_argument("--exit-status", type=int, default=0)
    parser.add_argument("--least", type=int, default=20, help="calls that must have been compared")
    parser.add_argument("--damage", action="store_true", help="does the comparison find differences?")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the traces there")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    first = BACKEND or "bpf"
    with tempfile.TemporaryDirectory() as scratch:
        outer, inner = (os.path.join(arguments.keep or scratch, name) for name in ("outer.db", "inner.db"))
        done = subprocess.run(
            [arguments.uscope, "record", "--backend", first, "-o", outer, "--",
             arguments.uscope, "record", "--backend", "bpf", "-o", inner, "--", *arguments.command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", timeout=280, check=False)
        if done.returncode != arguments.exit_status:
            print(f"exit status {done.returncode}, not {arguments.exit_status}: {done.stderr.strip()[-600:]}")
            return 1
        found = compare(outer, inner)
        for difference in found.differences[:40]:
            print(difference)
        print(f"{first} and bpf: {found.summary()}")
        failed = bool(found.differences) or found.events < arguments.least
        if arguments.damage:
            missed = undetected(outer, inner)
            for statement in missed:
                print(f"not noticed: {statement}")
            print(f"{len(DAMAGES) - len(missed)} of {len(DAMAGES)} damages found")
            failed = failed or bool(missed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
