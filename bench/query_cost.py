#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a question (`uscope query`) adds to a call, against bpftrace's same question, in one run: a loop of getppid that prints the
nanoseconds it took, in turn alone, under each question of uscope's, and under bpftrace's. The cost of a call is (time under a tracer - time
alone) / calls, round by round, with the runs alone before and after. An answer that does not count each call fails the benchmark.

Limits: one thread, one kind of call, hot caches, few keys. bpftrace asks at the entry of calls only; uscope knows their result and time, and
so is there at the return, too. For stacks bpftrace needs a twin of the program that was compiled with frame pointers.

usage: query_cost.py --build FOLDER [--rounds N] [--calls N] [--json FILE] [--check]
"""

import argparse
import json
import os
import re
import sys

from bench import Failed, loop_time, run
from figures import machine, spread

# name: uscope's question, bpftrace's, whether it needs frame pointers, largest ratio of the two that is accepted
QUESTIONS = {
    "filter, key, count": (
        "SELECT kind, count(*) AS n FROM v_event WHERE a0 >= 0 GROUP BY kind",
        "tracepoint:raw_syscalls:sys_enter /pid == cpid && args->args[0] >= 0/ { @[args->id] = count(); }", False, 0.5),
    "by stack": (
        'SELECT "trigger", count(*) AS n FROM v_event WHERE kind = \'getppid\' GROUP BY 1',
        "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack(5)] = count(); }", True, 0.6),
    "with times and errors": (
        "SELECT kind, count(*) AS n, count(errno) AS errors, quantile(dur_ns, 0.99) AS p99 FROM v_event GROUP BY kind", None, False, None),
}


class Loop:
    def __init__(self, arguments):
        folder = os.path.join(os.path.abspath(arguments.build), "tests", "fixtures")
        self.program = os.path.join(folder, "fixture_getppid_loop")
        self.uscope = os.path.join(os.path.abspath(arguments.build), "uscope")
        self.calls = arguments.calls

    def command(self, twin):
        return [self.program + ("_fp" if twin else ""), str(self.calls), "5"]

    def alone(self, twin):
        return loop_time(run(self.command(twin)).stdout) / self.calls

    def asked(self, question):
        said = run([self.uscope, "query", "--once", "--format", "json", question, "--", *self.command(False)]).stdout
        answer = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
        at = answer["columns"].index("n")
        if answer["lost"] or max(row[at] for row in answer["rows"]) < self.calls:
            raise Failed(f"the answer lacks calls: {answer}")
        return loop_time(said) / self.calls

    def bpftrace(self, program, twin):
        said = run(["bpftrace", "-e", program, "-c", " ".join(self.command(twin))]).stdout
        if max((int(count) for count in re.findall(r"\]: (\d+)$", said, re.MULTILINE)), default=0) < self.calls:
            raise Failed(f"bpftrace's answer lacks calls: {said[-300:]}")
        return loop_time(said) / self.calls

    def added(self, traced, twin=False):
        before = self.alone(twin)
        during = traced()
        return during - (before + self.alone(twin)) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True, help="a release build folder")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=500000)
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is above its bound")
    arguments = parser.parse_args()
    loop = Loop(arguments)
    costs = {name: {"uscope": [], "bpftrace": []} for name in QUESTIONS}
    try:
        for number in range(arguments.rounds):
            for name, (question, program, twin, _) in QUESTIONS.items():
                costs[name]["uscope"].append(loop.added(lambda question=question: loop.asked(question)))
                if program:
                    costs[name]["bpftrace"].append(
                        loop.added(lambda program=program, twin=twin: loop.bpftrace(program, twin), twin))
            print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    results, above = [], False
    for name, (_, program, _, bound) in QUESTIONS.items():
        result = {"question": name, "added_ns_per_call": {who: spread(values) for who, values in costs[name].items() if values}}
        line = f"{name:24}uscope {result['added_ns_per_call']['uscope']['median']:7.0f} ns"
        if program:
            result["ratio_to_bpftrace"] = spread([ours / theirs for ours, theirs in zip(*costs[name].values())], 3)
            ratio = result["ratio_to_bpftrace"]["median"]
            above |= ratio > bound
            line += (f"   bpftrace {result['added_ns_per_call']['bpftrace']['median']:7.0f} ns   ratio {ratio:.2f}, must be ≤ {bound}: "
                     f"{'met' if ratio <= bound else 'NOT met'}")
        print(line)
        results.append(result)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "results": results}, file, indent=2)
            file.write("\n")
    return 1 if arguments.check and above else 0


if __name__ == "__main__":
    sys.exit(main())
