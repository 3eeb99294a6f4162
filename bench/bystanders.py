#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What those pay who do not ask for tracing: a program that is not traced while another one is, a program after the tracer
has gone, and one that is traced and makes hardly any calls.

The first two are loops of getppid, in turn alone, beside a tracer of something else, beside empty programs on the same two raw
tracepoints, and after both are gone: added nanoseconds a call, medians and quartiles over the rounds. The third
is sysbench's computation: the run time of the BPF programs (kernel.bpf_stats_enabled) and the processor time of the tracer's
own process while the command ran, of the command's.

usage: bystanders.py --build FOLDER [--rounds N] [--calls N] [--seconds N] [--json FILE] [--check]
Needs root, bpftool and sysbench.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from figures import machine, quartiles
from tracing import Failed, beside, empty_programs

STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
NEIGHBOUR_BOUND, NEIGHBOUR_AIM = 40, 20  # ns a call beyond empty programs
COMPUTATION_BOUND, COMPUTATION_AIM = 1, 0.1  # per cent


class Loop:
    def __init__(self, build, calls):
        self.command = [os.path.join(build, "tests", "fixtures", "fixture_getppid_loop"), str(calls), "5"]
        self.calls = calls

    def ns(self):
        said = subprocess.run(self.command, capture_output=True, text=True, timeout=300, check=True).stdout
        return int(re.search(r"^(\d+)$", said, re.MULTILINE)[1]) / self.calls


def neighbours(uscope, loop, rounds, folder):
    costs = {"beside uscope": [], "beside empty programs": [], "after detaching": []}
    sleeper = subprocess.Popen(["sleep", "3600"])
    command = [uscope, "record", "-o", os.path.join(folder, "t.db"), "--pid", str(sleeper.pid)]
    tracers = {"beside uscope": lambda: beside(command, "Ctrl-C ends tracing", folder), "beside empty programs": empty_programs}
    try:
        loop.ns()
        for _ in range(rounds):
            before = loop.ns()
            for name, tracer in tracers.items():
                with tracer():
                    meanwhile = loop.ns()
                time.sleep(0.2)
                after = loop.ns()
                costs[name].append(meanwhile - (before + after) / 2)
                costs["after detaching"].append(after - before)
                before = after
    finally:
        sleeper.kill()
        sleeper.wait()
    return costs


def run_time_ns():
    programs = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout)
    return sum(one.get("run_time_ns", 0) for one in programs if one.get("name", "").startswith("on_"))


def own_seconds(pid):
    """Of the process itself, without its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as children:
        for child in children.read().split():
            with contextlib.suppress(OSError), open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                if comm.read().strip() == "sysbench":
                    return int(child)
    return None


def computation(uscope, seconds, folder):
    """Per cent of the command's processor time: the programs', and the tracer's."""
    with open(STATISTICS, encoding="ascii") as file:
        before = file.read()
    with open(STATISTICS, "w", encoding="ascii") as file:
        file.write("1")
    try:
        work = ["sysbench", "cpu", f"--threads={os.cpu_count()}", f"--time={seconds}", "run"]
        traced = subprocess.Popen([uscope, "record", "-o", os.path.join(folder, "c.db"), "--", *work], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE)
        programs = tracer = command = 0.0
        start = None  # what loading the programs took, once, is not of the computation
        while traced.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                pid = command_of(traced.pid)
                if pid:
                    start = own_seconds(traced.pid) if start is None else start
                    command, tracer, programs = own_seconds(pid), own_seconds(traced.pid) - start, run_time_ns() / 1e9
            time.sleep(0.05)
        if traced.returncode != 0 or not command:
            raise Failed(f"the computation was not traced: {traced.stderr.read().decode()[-300:]}")
    finally:
        with open(STATISTICS, "w", encoding="ascii") as file:
            file.write(before)
    return {"programs": 100 * programs / command, "tracer": 100 * tracer / command, "command_seconds": command}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000000)
    parser.add_argument("--seconds", type=int, default=10, help="of computation")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true", help="fail where a bound is not met")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    uscope = os.path.join(build, "uscope")
    with tempfile.TemporaryDirectory() as folder:
        try:
            costs = neighbours(uscope, Loop(build, arguments.calls), arguments.rounds, folder)
            work = computation(uscope, arguments.seconds, folder)
        except (Failed, OSError, subprocess.SubprocessError) as error:
            print(f"bystanders.py: {error}", file=sys.stderr)
            return 2
    beyond = [ours - empty for ours, empty in zip(costs["beside uscope"], costs["beside empty programs"])]
    for name, values in {**costs, "uscope beyond empty programs": beyond}.items():
        low, middle, high = quartiles(values)
        print(f"{name:30} {middle:8.1f} ns a call (quartiles {low:.1f} to {high:.1f})")
    added = work["programs"] + work["tracer"]
    print(f"computation: programs {work['programs']:.3f} %, tracer {work['tracer']:.3f} % of {work['command_seconds']:.1f} s")
    met = quartiles(beyond)[1] <= NEIGHBOUR_BOUND and added <= COMPUTATION_BOUND
    print(f"bounds: a neighbour {NEIGHBOUR_BOUND} ns (aim {NEIGHBOUR_AIM}), computation {COMPUTATION_BOUND} % (aim {COMPUTATION_AIM}): "
          + ("met" if met else "MISSED"))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "ns_a_call": costs, "beyond_empty": beyond, "computation": work}, file, indent=1)
    return 1 if arguments.check and not met else 0


if __name__ == "__main__":
    sys.exit(main())
