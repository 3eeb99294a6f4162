#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What one traced call costs, against the peers, on one machine in one run.

Each case is a loop of getppid (tests/fixtures) that prints the nanoseconds it took of a processor, so that others on the machine spoil little;
under strace, which works while the loop waits, those by the clock count. Every round runs, in turn, the loop
alone, under uscope, alone with frame pointers, under bpftrace's frame-pointer `ustack`, and now and then under
`strace -k`; a slow minute of the machine then hits all of them. The cost of a call is (time traced - time alone) / calls,
round by round; the median over the rounds is reported, with the quartiles. uscope's run is rejected, and the benchmark
fails, where an event is missing or a loss was counted.

Limits: one thread, one kind of call, hot caches. bpftrace counts in the kernel and writes nothing; uscope writes every
event with its arguments and times. bpftrace needs a twin of the program that was compiled with frame pointers.

usage: bench.py --build FOLDER [--rounds N] [--calls N] [--case NAME]... [--json FILE] [--check]
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from figures import machine, spread

# name: fixture, its second argument, frames kept (-S, ustack(N)), largest ratio to bpftrace that is accepted, aim
CASES = {
    "getppid-5": ("getppid_loop", "5", 5, 0.3, 0.25),
    "getppid-20": ("getppid_loop", "20", 20, 0.6, 0.3),
    "stacks-10000": ("many_stacks", "10000", 5, 0.45, 0.4),
}


class Failed(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()[-400:]}")
    return done


def loop_time(text, clock=""):
    """Of a processor; with `wall `, by the clock."""
    match = re.search(rf"^{clock}(\d+)$", text, re.MULTILINE)
    if not match:
        raise Failed(f"the loop printed no time: {text[:200]!r}")
    return int(match[1])


class Case:
    def __init__(self, arguments, name, scratch):
        self.name, self.scratch = name, scratch
        fixture, self.argument, self.frames, self.bound, self.aim = CASES[name]
        self.calls, self.strace_calls = arguments.calls, arguments.strace_calls
        folder = os.path.join(os.path.abspath(arguments.build), "tests", "fixtures")
        self.program = os.path.join(folder, f"fixture_{fixture}")
        self.twin = self.program + "_fp"
        self.uscope = os.path.join(os.path.abspath(arguments.build), "uscope")
        self.costs = {"uscope": [], "bpftrace": [], "strace": []}
        self.native = {"plain": [], "frame pointers": []}

    def command(self, program, calls):
        return [program, str(calls), self.argument]

    def alone(self, program, calls=None):
        calls = calls or self.calls
        return loop_time(run(self.command(program, calls)).stdout) / calls

    def under_uscope(self):
        trace = os.path.join(self.scratch, "bench.db")
        done = run(
            [self.uscope, "record", "--mode", "4", "-S", str(self.frames), "-o", trace, "--"]
            + self.command(self.program, self.calls)
        )
        database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        lost = database.execute("SELECT cause, sum(count) FROM loss GROUP BY cause").fetchall()
        if any(count for cause, count in lost if cause != "verify_skipped"):
            raise Failed(f"uscope lost: {lost}")
        (events,) = database.execute("SELECT count(*) FROM event JOIN kind ON kind.id = kind_id WHERE name = 'getppid'").fetchone()
        if events != self.calls:
            raise Failed(f"{events} events of {self.calls} calls")
        (shallow,) = database.execute(
            "SELECT count(*) FROM event JOIN kind ON kind.id = kind_id LEFT JOIN stack ON stack.id = stack_id "
            "WHERE name = 'getppid' AND coalesce(depth, 0) <> ?",
            (self.frames,),
        ).fetchone()
        if shallow:
            raise Failed(f"{shallow} stacks do not have {self.frames} frames")
        database.close()
        return loop_time(done.stdout) / self.calls

    def under_bpftrace(self):
        program = f"tracepoint:syscalls:sys_enter_getppid /pid == cpid/ {{ @[ustack({self.frames})] = count(); }}"
        done = run(
            ["bpftrace", "-e", program, "-c", " ".join(self.command(self.twin, self.calls))],
            env={**os.environ, "BPFTRACE_MAP_KEYS_MAX": "65536"},
        )
        counted = sum(int(count) for count in re.findall(r"\]: (\d+)$", done.stdout, re.MULTILINE))
        if counted != self.calls:
            raise Failed(f"bpftrace counted {counted} of {self.calls} calls")
        return loop_time(done.stdout) / self.calls

    def under_strace(self):
        done = run(["strace", "-f", "-k", "-o", "/dev/null", "--"] + self.command(self.program, self.strace_calls))
        return loop_time(done.stdout, "wall ") / self.strace_calls

    def round(self, number):
        """A B A B: each traced run stands between runs of the same program alone."""
        before = self.alone(self.program)
        traced = self.under_uscope()
        after = self.alone(self.program)
        self.native["plain"] += [before, after]
        self.costs["uscope"].append(traced - (before + after) / 2)
        before = self.alone(self.twin)
        traced = self.under_bpftrace()
        after = self.alone(self.twin)
        self.native["frame pointers"] += [before, after]
        self.costs["bpftrace"].append(traced - (before + after) / 2)
        if number < 3:
            self.costs["strace"].append(self.under_strace() - self.native["plain"][-1])

    def result(self):
        # The ratio of each round's neighbours, not of two medians: it is less moved by the machine's slow phases.
        ratios = [ours / theirs for ours, theirs in zip(self.costs["uscope"], self.costs["bpftrace"])]
        return {
            "case": self.name,
            "frames": self.frames,
            "calls": self.calls,
            "native_ns": {name: spread(values) for name, values in self.native.items()},
            "added_ns_per_call": {name: spread(values) for name, values in self.costs.items()},
            "ratio_to_bpftrace": spread(ratios, 4),
            "ratio_bound": self.bound,
            "ratio_aim": self.aim,
            "lost": 0,
        }


def text(results):
    yield f"{'case':13}{'what':22}{'median ns':>11}{'quartiles':>24}{'runs':>6}"
    for result in results:
        lines = [(f"alone, {name}", figures) for name, figures in result["native_ns"].items()]
        names = {
            "uscope": "uscope adds",
            "bpftrace": f"bpftrace ustack({result['frames']})",
            "strace": "strace -k adds",
        }
        lines += [(names[name], figures) for name, figures in result["added_ns_per_call"].items()]
        for name, figures in lines:
            low, high = figures["quartiles"]
            yield f"{result['case']:13}{name:22}{figures['median']:>11,.1f}{f'{low:,.1f} … {high:,.1f}':>24}{figures['runs']:>6}"
        ratio = result["ratio_to_bpftrace"]
        low, high = ratio["quartiles"]
        met = "met" if ratio["median"] <= result["ratio_bound"] else "NOT met"
        yield (
            f"{result['case']:13}{'uscope / bpftrace':22}{ratio['median']:>11.2f}{f'{low:.2f} … {high:.2f}':>24}"
            f"{ratio['runs']:>6}   must be ≤ {result['ratio_bound']}: {met} (aim {result['ratio_aim']}); no event lost"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True, help="a release build folder")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=500000)
    parser.add_argument("--strace-calls", type=int, default=500)
    parser.add_argument("--case", action="append", choices=CASES, default=[])
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is above its bound")
    arguments = parser.parse_args()

    facts = machine()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        cases = [Case(arguments, name, scratch) for name in arguments.case or CASES]
        try:
            for number in range(arguments.rounds):
                for case in cases:
                    case.round(number)
                    print(f"round {number + 1}/{arguments.rounds} {case.name}: uscope {case.costs['uscope'][-1]:.0f} ns, "
                          f"bpftrace {case.costs['bpftrace'][-1]:.0f} ns", file=sys.stderr)
        except (Failed, OSError, subprocess.TimeoutExpired) as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1
        results = [case.result() for case in cases]
    print("\n".join(text(results)))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "results": results}, file, indent=2)
            file.write("\n")
    above = any(result["ratio_to_bpftrace"]["median"] > result["ratio_bound"] for result in results)
    return 1 if arguments.check and above else 0


if __name__ == "__main__":
    sys.exit(main())
