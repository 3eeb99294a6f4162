#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a hit of a probe costs (a tracepoint, a function of a program), in one run: a loop that prints the processor time it took, in turn alone,
beside an empty BPF program at the same place, under `uscope query` with a question that counts hits by kind, under the same question of a
probe that is never hit (what uscope's hooks of system calls take, and no hit does), under `uscope record`, under bpftrace's same question, and
under a program of bpftrace's that does nothing there. An answer that does not count each hit fails the benchmark.

What a duration costs, from a function's entry to its return, is told by the kernel's own count of what programs take (BPF_ENABLE_STATS): the two
runs of uscope's program, less two of an empty one's at the same places. Differences of loops would drown in how the kernel steps over a `ret`,
which it does with empty programs, too: on some machines that are guests themselves for 10 µs.

"Beyond an empty probe" is (under the question - under the question that is never hit) - (beside the empty program - alone), so that hooks of
system calls do not count; bpftrace's is (under its question - under its empty program), and the ratio is that of the two. "Added" is (under a
tracer - alone), hooks and all. bpftrace 0.17 has no uprobe.multi, so its uprobes come by perf, whose empty ones cost something else. Cycles are nanoseconds times the processor's nominal frequency.

Limits: one thread, one kind of hit, hot caches, few keys.

usage: probe_cost.py --build FOLDER [--rounds N] [--calls N] [--json FILE] [--check]
"""

import argparse
import contextlib
import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from bench import Failed, loop_time, run
from figures import machine, quartiles, spread
from tracing import PROG_LOAD, RETURN_ZERO, bpf

KPROBE, TRACEPOINT, LINK_CREATE, ENABLE_STATS, UPROBE_MULTI = 2, 5, 28, 32, 48  # include/uapi/linux/bpf.h
PERF_EVENT_OPEN, PERF_TYPE_TRACEPOINT, IOC_ENABLE, IOC_SET_BPF = 298, 2, 0x2400, 0x40042408  # x86-64; include/uapi/linux/perf_event.h
MOST_CYCLES, MOST_TIMED_CYCLES, MOST_RATIO = 220, 430, 0.8  # what Fay took for a function, and what is asked of uscope beside bpftrace
BYTES_TO_RETURN = 7  # of the fixture's `called`: push, mov, lea, pop


def load_empty(kind, attach_type=0):
    code, license_text = ctypes.create_string_buffer(RETURN_ZERO, 16), ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, (kind, 4), (2, 4), (ctypes.addressof(code), 8), (ctypes.addressof(license_text), 8), (0, 44), (attach_type, 4))


@contextlib.contextmanager
def empty_at_tracepoint(name):
    with open(f"/sys/kernel/tracing/events/{name.replace(':', '/')}/id", encoding="ascii") as file:
        number = int(file.read())
    program, libc = load_empty(TRACEPOINT), ctypes.CDLL(None, use_errno=True)
    attributes = ctypes.create_string_buffer(struct.pack("=IIQ", PERF_TYPE_TRACEPOINT, 112, number) + struct.pack("=5Q", 0, 0, 0, 1, 0), 112)
    event = libc.syscall(PERF_EVENT_OPEN, attributes, -1, 0, -1, 0)
    if event < 0 or libc.ioctl(event, IOC_SET_BPF, program) or libc.ioctl(event, IOC_ENABLE, 0):
        raise OSError(ctypes.get_errno(), "an empty program at a tracepoint: " + os.strerror(ctypes.get_errno()))
    try:
        yield
    finally:
        os.close(event)
        os.close(program)


def place_of(program, function):
    """A function's place in its file: of what these fixtures are, PIE without gaps between text and file, by readelf's own words."""
    symbol = re.search(rf"^\s*\d+: ([0-9a-f]+) .* {function}$", run(["readelf", "-sW", program]).stdout, re.MULTILINE)
    address = int(symbol[1], 16)
    for offset, start, size in re.findall(r"LOAD\s+(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)", run(["readelf", "-lW", program]).stdout):
        if 0 <= address - int(start, 16) < int(size, 16):
            return address - int(start, 16) + int(offset, 16)
    raise Failed(f"{function} of {program} is in no segment")


@contextlib.contextmanager
def empty_in_file(path, place):
    program = load_empty(KPROBE, UPROBE_MULTI)
    text, offsets = ctypes.create_string_buffer(path.encode()), (ctypes.c_uint64 * 1)(place)
    link = bpf(LINK_CREATE, (program, 4), (0, 4), (UPROBE_MULTI, 4), (0, 4), (ctypes.addressof(text), 8), (ctypes.addressof(offsets), 8),
               (0, 8), (0, 8), (1, 4), (0, 4), (0, 4), (0, 4))
    try:
        yield
    finally:
        os.close(link)
        os.close(program)


@contextlib.contextmanager
def runs_are_counted():
    """While it lasts, the kernel counts how often BPF programs run, and how long. That takes time itself, of empty ones, too."""
    counting = bpf(ENABLE_STATS, (0, 4))  # BPF_STATS_RUN_TIME
    try:
        yield
    finally:
        os.close(counting)


def nanoseconds_a_run(pid):
    """Of a process's programs at functions, all together; None: they have not run, or it has ended."""
    runs = nanoseconds = 0
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as file:
                fields = dict(re.findall(r"^(\w+):\s+(\d+)$", file.read(), re.MULTILINE))
                if fields.get("prog_type") == str(KPROBE):
                    runs += int(fields["run_cnt"])
                    nanoseconds += int(fields["run_time_ns"])
    return nanoseconds / runs if runs else None


class Case:
    """A probe that a loop hits once a turn."""

    def __init__(self, arguments, name, loop, hit, never, target, bpftrace):
        folder = os.path.join(os.path.abspath(arguments.build), "tests", "fixtures")
        self.name, self.calls = name, arguments.calls
        self.uscope = os.path.join(os.path.abspath(arguments.build), "uscope")
        self.program = os.path.join(folder, "fixture_" + loop[0])
        self.command = [self.program, str(self.calls), *loop[1:]]
        self.hit, self.never, self.target, self.asks_bpftrace = hit, never, target.format(self.program), bpftrace.format(self.program)

    def each(self, text):
        return loop_time(text) / self.calls

    def alone(self):
        return self.each(run(self.command).stdout)

    def empty(self):
        with empty_in_file(self.program, place_of(self.program, "called")) if self.name == "ufunction" else empty_at_tracepoint(self.target.split(":", 1)[1]):
            return self.alone()

    def asked(self, kind, expected):
        question = f"SELECT kind, count(*) AS n FROM v_event WHERE class = '{self.name}' AND kind = '{kind}' GROUP BY kind"
        said = run([self.uscope, "query", "--once", "--format", "json", question, "--", *self.command]).stdout
        answer = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
        if answer["lost"] or sum(row[1] for row in answer["rows"]) != expected:
            raise Failed(f"the answer lacks hits: {answer}")
        return self.each(said)

    def timed(self):
        """From entry to return: a probe at each, and a histogram of what is between. Nanoseconds a turn, and of both runs of the program."""
        question = f"SELECT kind, count(*) AS n, hist(dur_ns) FROM v_event WHERE class = '{self.name}' AND kind = '{self.hit}' GROUP BY kind"
        counted = 0
        with subprocess.Popen([self.uscope, "query", "--once", "--format", "json", question, "--", *self.command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                counted = nanoseconds_a_run(process.pid) or counted
                time.sleep(0.02)
            said = process.stdout.read()
        answer = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
        if not counted or answer["lost"] or sum(row[1] for row in answer["rows"]) != self.calls:
            raise Failed(f"the answer lacks hits: {answer}, or nothing counted them: {counted}")
        return self.each(said), 2 * counted

    def bpftrace_timed(self):
        place = self.asks_bpftrace.split(" ", 1)[0]
        program = (f"{place} /pid == cpid/ {{ @begun[tid] = nsecs; }} {place.replace('uprobe:', 'uretprobe:')} /@begun[tid]/ "
                   "{ @took = hist(nsecs - @begun[tid]); delete(@begun[tid]); }")
        return self.each(run(["bpftrace", "-e", program, "-c", " ".join(self.command)]).stdout)

    def empty_twice(self):
        """At the function's first instruction and at its last one, its only way out."""
        place = place_of(self.program, "called")
        with empty_in_file(self.program, place), empty_in_file(self.program, place + BYTES_TO_RETURN):
            return self.alone(), 2 * nanoseconds_a_run("self")

    def recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run([self.uscope, "record", "-q", "-e", "none", "--no-strings", "-t", self.target, "-o", os.path.join(folder, "x.db"), "--", *self.command])
        return self.each(said.stdout)

    def bpftrace_empty(self):
        return self.each(run(["bpftrace", "-e", self.asks_bpftrace.split(" ", 1)[0] + " { }", "-c", " ".join(self.command)]).stdout)

    def bpftrace(self):
        said = run(["bpftrace", "-e", self.asks_bpftrace, "-c", " ".join(self.command)]).stdout
        if max((int(count) for count in re.findall(r"\]: (\d+)$", said, re.MULTILINE)), default=0) < self.calls:
            raise Failed(f"bpftrace's answer lacks hits: {said[-300:]}")
        return self.each(said)

    def round(self):
        """Nanoseconds a turn, of each way."""
        before = self.alone()
        times = {"empty": self.empty(), "never": self.asked(self.never, 0), "count": self.asked(self.hit, self.calls),
                 "record": self.recorded(), "bpftrace": self.bpftrace(), "bpftrace's empty program": self.bpftrace_empty()}
        alone = (before + self.alone()) / 2
        beyond = times["count"] - times["never"] - (times["empty"] - alone)
        of_bpftrace = times["bpftrace"] - times["bpftrace's empty program"]
        durations = {}
        if self.name == "ufunction":
            with runs_are_counted():
                (empty, empty_runs), (timed, runs) = self.empty_twice(), self.timed()
                times |= {"empty programs at entry and return": empty, "histogram of durations": timed,
                          "bpftrace's histogram of durations": self.bpftrace_timed()}
            durations = {"durations beyond": runs - empty_runs}
        return {"beyond": beyond, "bpftrace beyond": of_bpftrace, "ratio": beyond / of_bpftrace, **durations,
                **{f"{way} adds": time - alone for way, time in times.items()}}


def gigahertz():
    """Nominal: of the time stamp counter, as the kernel found it."""
    said = subprocess.run(["sh", "-c", "dmesg 2>/dev/null; cat /proc/cpuinfo"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"tsc: Detected ([0-9.]+) MHz", said) or re.search(r"^cpu MHz\s*: ([0-9.]+)$", said, re.MULTILINE)
    return float(found[1]) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True, help="a release build folder")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=300000)
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--check", action="store_true", help="fail where a bound is not met")
    arguments = parser.parse_args()
    call = "syscalls:sys_enter_getppid"
    cases = [Case(arguments, "tracepoint", ("function_loop", "getppid"), call, "syscalls:sys_enter_getsid", "tracepoint:" + call,
                  "tracepoint:" + call + " /pid == cpid/ {{ @[probe] = count(); }}"),
             Case(arguments, "ufunction", ("function_loop",), "fixture_function_loop:called", "libc.so.6:getsid", "ufunction:{}:called",
                  "uprobe:{}:called /pid == cpid/ {{ @[probe] = count(); }}")]
    ghz, results, missed = gigahertz(), [], False
    for case in cases:
        try:
            rounds = [case.round() for _ in range(arguments.rounds)]
        except Failed as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            return 1
        figures = {name: spread([one[name] for one in rounds], 3 if name == "ratio" else 1) for name in rounds[0]}
        cycles = quartiles([one["beyond"] * ghz for one in rounds])
        met = cycles[1] <= MOST_CYCLES and figures["ratio"]["median"] <= MOST_RATIO
        missed |= not met
        print(f"{case.name:12}keyed count {figures['beyond']['median']:6.0f} ns, {cycles[1]:.0f} cycles ({cycles[0]:.0f} to {cycles[2]:.0f}) beyond an empty probe, "
              f"must be ≤ {MOST_CYCLES}; {figures['ratio']['median']:.2f} of bpftrace's {figures['bpftrace beyond']['median']:.0f} ns, must be ≤ {MOST_RATIO}: {'met' if met else 'NOT met'}")
        print("            added: " + ", ".join(f"{name[:-5]} {figures[name]['median']:.0f} ns" for name in figures if name.endswith(" adds")))
        if "durations beyond" in figures:
            low, timed, high = quartiles([one["durations beyond"] * ghz for one in rounds])
            missed |= timed > MOST_TIMED_CYCLES
            print(f"            histogram of durations {figures['durations beyond']['median']:.0f} ns, {timed:.0f} cycles ({low:.0f} to {high:.0f}) beyond empty programs at entry and return, by the kernel's count, "
                  f"must be ≤ {MOST_TIMED_CYCLES}: {'met' if timed <= MOST_TIMED_CYCLES else 'NOT met'}")
        results.append({"probe": case.name, "gigahertz": ghz, "beyond_cycles": spread([one["beyond"] * ghz for one in rounds]), **figures})
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "results": results}, file, indent=2)
            file.write("\n")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
