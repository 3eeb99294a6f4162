#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Counts what loading a raw trace costs, for several builds of bench/loader in turn.

    bench/loader_count.py [--events N] [--rounds N] [--json FILE] LOADER_BENCH…

For each of three traces (a server's, copies, questions about relative paths: bench/loader/synthetic_trace.h) each
program writes its own raw trace and loads it. The instructions are counted by callgrind, which counts the same on a
busy machine. With --rounds, it is also loaded that often without callgrind, by all programs in turn, and the medians of
time, processor time and memory are printed. All ratios are to the first program.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = ("server", "copies", "stats")


def count(bench, raw, events):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", bench, "--load", raw, "--events", events],
        capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"loader_count: {bench} failed under callgrind: {run.stderr.strip()}")
    return int(found[1])


def measure(bench, raw, events):
    start = time.monotonic()
    child = os.posix_spawn(bench, [bench, "--load", raw, "--events", events], os.environ)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"loader_count: {bench} failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("benches", nargs="+", metavar="LOADER_BENCH")
    parser.add_argument("--events", default="100000")
    parser.add_argument("--stacks", default="5000")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--calls", choices=KINDS, action="append")
    parser.add_argument("--no-count", action="store_true")
    parser.add_argument("--folder", help="where traces and databases are made", default="/var/tmp")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results = []
    for calls in options.calls or KINDS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            raws = [os.path.join(folder, f"{number}.raw") for number in range(len(options.benches))]
            for bench, raw in zip(options.benches, raws):
                subprocess.run([bench, "--write", raw, "--calls", calls, "--events", options.events,
                                "--stacks", options.stacks], check=True)
            rows = [{"calls": calls, "bench": bench} for bench in options.benches]
            if not options.no_count:
                for row, raw in zip(rows, raws):
                    row["instructions"] = count(row["bench"], raw, options.events)
            rounds = [[] for _ in rows]
            for _ in range(options.rounds):
                for row, raw, measures in zip(rows, raws, rounds):
                    measures.append(measure(row["bench"], raw, options.events))
            for row, measures in zip(rows, rounds):
                if measures:
                    for name, values in zip(("seconds", "processor_seconds", "peak_mib"), zip(*measures)):
                        row[name] = statistics.median(values)
            results += rows
        for row in rows:
            line = f"{calls:7}"
            for name, unit in (("instructions", "M instructions"), ("seconds", "s"), ("processor_seconds", "s of a "
                               "processor"), ("peak_mib", "MiB")):
                if name in row:
                    scale = 1e6 if name == "instructions" else 1
                    line += f"  {row[name] / scale:,.2f} {unit} ({row[name] / rows[0][name]:.3f})"
            print(f"{line}  {row['bench']}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
