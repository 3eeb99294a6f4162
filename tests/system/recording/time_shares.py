#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Where the time of a program goes, of which the kernel's own clocks say the same (tests/fixtures/time_shares.c). Needs root and a backend
with samples and times off the CPU; usage: time_shares.py USCOPE FIXTURE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from traced_command import record  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
FIXTURE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "fixture_time_shares"
TURNS = "60"  # of a tenth of a second


def stolen_ns():
    """What a hypervisor has taken of all CPUs so far: a thread that is on one then runs by all clocks, and is not sampled."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class TimeShares(TraceCase):
    def run_under(self, *options):
        """What `uscope time` says, and what the threads said themselves, by name."""
        stolen = stolen_ns()
        done = record(USCOPE, options, [FIXTURE, TURNS], self.db)
        self.stolen_ns = stolen_ns() - stolen
        self.assertEqual(done.returncode, 0, done.stderr)
        own = {line["thread"]: line for line in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(sorted(own), ["burner", "reader", "waiter"])
        return json.loads(self.said("--format", "json")), own

    def said(self, *options):
        done = subprocess.run([USCOPE, "time", self.db, *options], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def thread(self, time, name):
        [line] = [line for line in time["threads"]["lines"] if line["thread"] == name]
        return line

    def points_apart(self, part, whole, own_part, own_whole, most=2):
        """The two shares differ by no more than `most` points."""
        self.assertLessEqual(abs(100 * part / whole - 100 * own_part / own_whole), most, f"{part}/{whole} and {own_part}/{own_whole}")

    def running_in(self, time, function):
        return sum(line["running_ns"] for line in time["running"]["lines"] if line["function"] == function)

    def check_burner(self, time, own):
        """Running, and where."""
        burner = self.thread(time, "burner")
        wall = own["burner"]["wall_ns"]
        self.points_apart(burner["total_ns"], wall, 1, 1)
        self.points_apart(burner["running_ns"], burner["total_ns"], own["burner"]["cpu_ns"], wall)
        # No other thread runs there.
        self.points_apart(self.running_in(time, "burns_most"), burner["total_ns"], own["burner"]["most_ns"], wall)
        self.points_apart(self.running_in(time, "burns_some"), burner["total_ns"], own["burner"]["some_ns"], wall)
        return burner

    def check_times_off(self, time, own):
        """As many as the kernel counted of each thread up to its last line, and a few while it writes that and ends."""
        for name, told in own.items():
            line = self.thread(time, name)
            self.assertIn(line["times_off"] - told["switches"], range(0, 6), (line, told))

    def check_adding_up(self, time):
        everything = time["all"]
        self.assertLessEqual(abs(everything["difference_ns"]), 0.02 * everything["total_ns"], everything)
        for line in time["threads"]["lines"]:
            off = sum(line[part] for part in ("sleeping_ns", "blocked_ns", "stopped_ns", "for_cpu_ns"))
            self.assertEqual(line["not_running_ns"], off)
            # Threads that live for a moment are below what samples can tell.
            if line["total_ns"] > 1_000_000_000:
                too_much = line["running_ns"] + off - line["total_ns"]
                self.assertLessEqual(too_much, 0.02 * line["total_ns"], line)
                self.assertLessEqual(-too_much, 0.02 * line["total_ns"] + min(self.stolen_ns, 0.1 * line["total_ns"]), line)

    def test_all_three(self):
        time, own = self.run_under("-t", "sample:999", "-t", "offcpu")
        self.assertEqual(time["recorded"], {"samples": True, "off_cpu": True, "calls": "all"})
        self.check_adding_up(time)
        self.check_times_off(time, own)
        burner = self.check_burner(time, own)
        wall = own["burner"]["wall_ns"]
        self.points_apart(burner["not_running_ns"], burner["total_ns"], wall - own["burner"]["cpu_ns"], wall)
        [sleep] = [call for call in burner["inside"] if call["call"] in ("nanosleep", "clock_nanosleep")]
        self.points_apart(sleep["total_ns"], burner["total_ns"], own["burner"]["slept_ns"], wall)
        self.assertGreater(sleep["sleeping_ns"], 0.9 * sleep["total_ns"] - sleep["for_cpu_ns"])

        for name, call, function, waker in (("waiter", "futex", "waits_for_turn", "burner"), ("reader", "read", "reads_pipe", "")):
            line = self.thread(time, name)
            self.points_apart(line["running_ns"], line["total_ns"], own[name]["cpu_ns"], own[name]["wall_ns"])
            self.points_apart(line["sleeping_ns"] + line["for_cpu_ns"], line["total_ns"], 1, 1)
            self.assertEqual(line["inside"][0]["call"], call)
            self.assertGreater(line["inside"][0]["in_calls_off_ns"], 0.9 * line["total_ns"])
            [wait] = [wait for wait in time["waiting"]["lines"] if (wait["call"], wait["trigger"]["function"]) == (call, function)]
            self.assertEqual(wait["state"], "sleeping")
            if waker:  # main has the program's own name
                self.assertEqual(wait["wakers"][0]["thread"], waker, wait)
            self.assertEqual(wait["wakers"][0]["who"], "thread", wait)
        text = self.said()
        self.assertIn("\nRUNNING BY FUNCTION", text)
        self.assertRegex(text, r"sleeping +futex +waits_for_turn .*burner\[")

    def test_without_calls(self):
        time, own = self.run_under("-e", "none", "-t", "sample:999", "-t", "offcpu")
        self.assertEqual(time["recorded"], {"samples": True, "off_cpu": True, "calls": "none"})
        self.check_adding_up(time)
        self.check_times_off(time, own)
        self.check_burner(time, own)

    def test_times_off_the_cpu_alone(self):
        time, own = self.run_under("-e", "none", "-t", "offcpu")
        self.assertEqual(time["recorded"], {"samples": False, "off_cpu": True, "calls": "none"})
        self.check_times_off(time, own)
        for name in own:
            line = self.thread(time, name)
            self.points_apart(line["running_ns"], line["total_ns"], own[name]["cpu_ns"], own[name]["wall_ns"])

    def test_samples_and_calls(self):
        time, own = self.run_under("-t", "sample:999")
        self.assertEqual(time["recorded"], {"samples": True, "off_cpu": False, "calls": "all"})
        self.check_burner(time, own)
        self.assertEqual(time["waiting"]["lines"], [])
        waiter = self.thread(time, "waiter")
        self.points_apart(waiter["not_running_ns"], waiter["total_ns"], 1, 1)
        self.assertEqual(waiter["inside"][0]["call"], "futex")


if __name__ == "__main__":
    unittest.main()
