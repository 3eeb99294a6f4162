#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The page of a report, of a recording made here, in headless Chromium. Needs root, a backend, node and chromium.

usage: report.py USCOPE"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from traced_command import record  # noqa: E402

USCOPE = os.path.abspath(sys.argv[1])
# What a reader of markup, or of the direction of writing, would take for more than a name.
HOSTILE = "/tmp/\u202e</script><img src=x onerror=alert(1)>"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100 * SLOWNESS, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{command}: exit status {done.returncode}:\n{done.stdout}{done.stderr}")
    print(done.stdout, end="")


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace, page = os.path.join(folder, "shell.db"), os.path.join(folder, "shell.html")
        script = 'for i in 1 2 3 4 5; do cat /etc/passwd; sleep 0.05; done; cat "$0" /nowhere; exit 0'
        done = record(USCOPE, [], ["sh", "-c", script, HOSTILE], trace)
        if not os.path.exists(trace):
            sys.exit(f"no recording: {done.stderr}")
        run(USCOPE, "report", trace, "--html", page)
        run("node", os.path.join(HERE, "report_page.mjs"), page)
        run("node", os.path.join(HERE, "random_reader.mjs"), page, "60", "1")


main()
