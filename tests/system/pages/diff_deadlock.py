#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The pages of diff and deadlock, of recordings made here, in headless Chromium. Needs root, a backend, node and chromium.

usage: diff_deadlock.py USCOPE HANGS, a program of tests/deadlock"""
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from traced_command import record  # noqa: E402

USCOPE, HANGS = (os.path.abspath(path) for path in sys.argv[1:3])
# What a reader of markup, or of the direction of writing, would take for more than a name.
HOSTILE = "/tmp/\u202e</script><img src=x onerror=alert(1)>"


def run(status, *command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100 * SLOWNESS, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != status:
        sys.exit(f"{command}: exit status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    print(done.stdout, end="")


def compared(folder):
    for name, files in (("good.db", ["/etc/passwd"] * 20), ("bad.db", ["/etc/passwd"] * 5 + [HOSTILE] * 5 + [f"/nowhere/{i}" for i in range(10)])):
        done = record(USCOPE, [], ["cat", *files], os.path.join(folder, name))
        if not os.path.exists(os.path.join(folder, name)):
            sys.exit(f"no recording: {done.stderr}")
    page = os.path.join(folder, "diff.html")
    run(0, USCOPE, "diff", "--normal", os.path.join(folder, "good.db"), "--abnormal", os.path.join(folder, "bad.db"), "--html", page)
    run(0, "node", os.path.join(HERE, "diff_page.mjs"), page)
    run(0, "node", os.path.join(HERE, "random_reader.mjs"), page, "40", "2")


def hung(folder):
    trace, page = os.path.join(folder, "hung.db"), os.path.join(folder, "deadlock.html")
    # What was launched lives on, and keeps what it was given for output.
    with tempfile.TemporaryFile() as output:
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", trace, "--until-stall", "1s", "--", HANGS, "abba"], stdout=output,
                       stderr=output, stdin=subprocess.DEVNULL, timeout=60 * SLOWNESS, check=False)
    with sqlite3.connect(trace) as database:
        left = [pid for (pid,) in database.execute("SELECT pid FROM process WHERE end_ns IS NULL")]
    try:
        run(1, USCOPE, "deadlock", trace, "--html", page)
        run(0, "node", os.path.join(HERE, "deadlock_page.mjs"), page)
        run(0, "node", os.path.join(HERE, "random_reader.mjs"), page, "40", "3")
        # Of what runs: the page is written by a process that may still write.
        run(1, USCOPE, "deadlock", *BACKEND_OPTIONS, "--pid", str(left[0]), "--html", page, "--force")
        with open(page, encoding="utf-8") as file:
            if '"target":"' not in file.read():
                sys.exit("the page of what runs has no data")
    finally:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def nothing(folder):
    """The page of a program that ended well has no graph."""
    page = os.path.join(folder, "none.html")
    run(0, USCOPE, "deadlock", os.path.join(folder, "good.db"), "--html", page)
    run(0, "node", os.path.join(HERE, "no_deadlock_page.mjs"), page)


def main():
    with tempfile.TemporaryDirectory() as folder:
        compared(folder)
        nothing(folder)
        hung(folder)


main()
