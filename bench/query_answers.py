#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What an answer of `uscope query` costs in processor time, and how long the first one takes. Two processes of python make calls of some ten
kinds, a few thousand in a second. Each round asks, for several builds in turn, three questions in three sessions each: with an answer every
200 ms for 4 s, with one answer after 4 s, and with one after 1 s. Of these follow, for the tracer and the process that answers together,
  an answer    (the first session's time - the second's) / the answers that it has more
  standing     (the second's - the third's) / 3 s, in percent of a processor: what a session costs beside its answers
  each second  standing + an answer each second, in percent of a processor
  first        how long the third session took, from start to end, beyond its second

Limits: the processor time is that of the session and of its children that it waits for. At a rate of calls that rings have to carry, a
session takes more; servers.py measures that.

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
EVERY, LONG, SHORT = 0.2, 4, 1  # seconds


class Failed(Exception):
    pass


class Session:
    """Of one build, with a question: how many answers came, and what they took."""

    def __init__(self, build, question, pids, seconds, *options):
        targets = [word for pid in pids for word in ("-p", str(pid))]
        command = [os.path.join(os.path.abspath(build), "uscope"), "query", *targets, "--for", f"{seconds}s", "--format", "json", *options,
                   question]
        began = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            answers = [json.loads(line) for line in process.stdout if line.startswith("{")]
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - began
        self.processor = usage.ru_utime + usage.ru_stime
        self.answers = len(answers)
        if process.returncode or any(answer["lost"] or not answer["rows"] for answer in answers):
            raise Failed(f"{' '.join(command)}: exit status {process.returncode}, answers {answers}")


def measure(build, question, pids):
    often = Session(build, question, pids, LONG, "--every", f"{int(EVERY * 1000)}ms")
    once = Session(build, question, pids, LONG, "--once")
    short = Session(build, question, pids, SHORT, "--once")
    answer = (often.processor - once.processor) / (often.answers - once.answers)
    standing = (once.processor - short.processor) / (LONG - SHORT)
    return {"answer_ms": 1e3 * answer, "standing_percent": 100 * standing, "each_second_percent": 100 * (standing + answer),
            "first_ms": 1e3 * (short.seconds - SHORT)}


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
        print(f"{name:28}{build:32}an answer {middle['answer_ms']:6.2f} ms   standing {middle['standing_percent']:5.2f} %   "
              f"each second {middle['each_second_percent']:5.2f} %   first {middle['first_ms']:6.0f} ms")
    if arguments.json:
        results = [{"question": name, "build": build, **{figure: spread(values, 2) for figure, values in of_build.items()}}
                   for (name, build), of_build in figures.items()]
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "results": results}, file, indent=2)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
