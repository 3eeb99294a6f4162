#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What an answer of `uscope query` costs in processor time, and how long the first one takes. Two processes of python make calls of some ten
kinds, a few thousand in a second. Each round asks, for several builds in turn, three questions in three sessions each: with an answer every
200 ms, with one each second, and with one after the first second. The processor time of the tracer and of its children is taken from the
first answer of a session to its last one, so that neither its beginning nor its end counts.
  each second  of the second session, in percent of a processor
  an answer    (the first session's time in a second - the second's) / the answers that it has more
  first        how long the third session took, from start to end, beyond its second

Limits: at a rate of calls that rings have to carry, a session takes more; servers.py measures that.

usage: query_answers.py --build FOLDER [--build FOLDER …] [--rounds N] [--json FILE]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from figures import machine, spread

QUESTIONS = {
    "calls, errors, p99 by call": (
        "SELECT kind, count(*) AS calls, count(errno) AS errors, quantile(dur_ns, 0.99) AS p99 FROM v_event GROUP BY kind"),
    "by function": "SELECT kind, \"trigger\", count(*) AS calls FROM v_event GROUP BY kind, \"trigger\"",
    "event by event": "SELECT kind, group_concat(DISTINCT errno) AS errors, count(*) AS calls FROM v_event GROUP BY kind",
}
LOOP = """
import os, time
file = os.open("/proc/self/status", os.O_RDONLY)
while True:
    for _ in range(5):
        os.getppid()
        os.lseek(file, 0, 0)
        os.read(file, 100)
        os.stat("/etc/passwd")
        os.access("/nowhere", 0)
        os.close(os.dup(file))
        os.sched_yield()
        os.getpgid(0)
    time.sleep(0.01)
"""
SECONDS = 4


class Failed(Exception):
    pass


def processor_ns(pid):
    """Of a process and its children, in all their threads."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
            total += int(file.read().split()[0])
        with open(f"/proc/{pid}/task/{thread}/children", encoding="utf-8") as file:
            total += sum(processor_ns(child) for child in file.read().split())
    return total


def ask(build, question, pids, seconds, *options):
    """A session: how long it took, its answers in a second, and its processor time in a second of those between the first and the last."""
    targets = [word for pid in pids for word in ("-p", str(pid))]
    command = [os.path.join(os.path.abspath(build), "uscope"), "query", *targets, "--for", f"{seconds}s", "--format", "json", *options, question]
    began, answers, marks = time.monotonic(), [], []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            answers.append(json.loads(line))
            if answers[-1]["until_ns"] - answers[0]["from_ns"] < (seconds - 0.5) * 1e9:  # its end is not near
                marks.append((time.monotonic(), processor_ns(process.pid)))
    took = time.monotonic() - began
    if process.returncode or any(answer["lost"] or not answer["rows"] for answer in answers):
        raise Failed(f"{' '.join(command)}: exit status {process.returncode}, answers {answers}")
    if len(marks) < 2:
        return took, 0, 0
    window = marks[-1][0] - marks[0][0]
    return took, (len(marks) - 1) / window, (marks[-1][1] - marks[0][1]) / 1e9 / window


def measure(build, question, pids):
    _, often, often_busy = ask(build, question, pids, SECONDS, "--every", "200ms")
    _, seldom, seldom_busy = ask(build, question, pids, SECONDS, "--every", "1s")
    first, _, _ = ask(build, question, pids, 1, "--once")
    return {"answer_ms": 1e3 * (often_busy - seldom_busy) / (often - seldom), "each_second_percent": 100 * seldom_busy,
            "first_ms": 1e3 * (first - 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True, action="append", help="a release build folder; more than once: measured in turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the results here")
    arguments = parser.parse_args()
    figures = {(name, build): {} for name in QUESTIONS for build in arguments.build}
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(2)]
    try:
        time.sleep(0.5)
        for number in range(arguments.rounds):
            for (name, build), of_build in figures.items():
                for figure, value in measure(build, QUESTIONS[name], [loop.pid for loop in loops]).items():
                    of_build.setdefault(figure, []).append(value)
            print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    for (name, build), of_build in figures.items():
        middle = {figure: statistics.median(values) for figure, values in of_build.items()}
        print(f"{name:28}{build:32}an answer {middle['answer_ms']:6.2f} ms   each second {middle['each_second_percent']:5.2f} %   "
              f"first {middle['first_ms']:6.0f} ms")
    if arguments.json:
        results = [{"question": name, "build": build, **{figure: spread(values, 2) for figure, values in of_build.items()}}
                   for (name, build), of_build in figures.items()]
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "results": results}, file, indent=2)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
