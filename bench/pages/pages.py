#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the page of a report costs for a large recording: 1,000,000 events of 59 kinds and 500 functions, in 1000 threads.
usage: pages.py BUILD_FOLDER [EVENTS]

BUILD_FOLDER is of cmake -DUSCOPE_BENCH=ON, with uscope and loader_bench built. Prints one JSON object."""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    build, events = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1000000"
    bench, uscope = os.path.join(build, "bench", "loader", "loader_bench"), os.path.join(build, "uscope")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        raw, page = os.path.join(folder, "raw"), os.path.join(folder, "page.html")
        shape = ["--events", events, "--stacks", "40000", "--threads", "1000"]
        subprocess.run([bench, "--write", raw, *shape], check=True)
        subprocess.run([bench, "--load", raw, "--events", events], check=True)
        began = time.monotonic()
        subprocess.run([uscope, "report", raw + ".db", "--html", page], check=True)
        seconds = time.monotonic() - began
        measured = subprocess.run(["node", os.path.join(HERE, "open_page.mjs"), page], check=True, capture_output=True, text=True)
        result = {"write_s": round(seconds, 2), "page_bytes": os.path.getsize(page), **json.loads(measured.stdout)}
    print(json.dumps(result))


main()
