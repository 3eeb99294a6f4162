#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A CPU that goes offline and comes back while samples are taken: it is sampled again, and the gap is a loss. Switches CPU 1 off for less
than half a second at a time, so nothing may run beside it. Needs root, BPF and a second CPU that can be switched off; usage: cpu_hotplug.py USCOPE"""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
SWITCH = "/sys/devices/system/cpu/cpu1/online"

# Waits for a line, and then computes on CPU 1; says for how long, by the kernel's account.
COMPUTES = """
import os, resource, sys
print("ready", flush=True)
sys.stdin.readline()
os.sched_setaffinity(0, {1})
began = resource.getrusage(resource.RUSAGE_SELF)
while resource.getrusage(resource.RUSAGE_SELF).ru_utime < began.ru_utime + 0.6:
    sum(range(10000))
now = resource.getrusage(resource.RUSAGE_SELF)
print(now.ru_utime + now.ru_stime)
"""


def switch(on):
    with open(SWITCH, "w", encoding="ascii") as file:
        file.write("1" if on else "0")


class CpuHotplug(TraceCase):
    def setUp(self):
        super().setUp()
        self.assertTrue(os.path.exists(SWITCH), f"{SWITCH}: this machine has no CPU that can be switched off")
        self.addCleanup(switch, True)

    def off_for_a_moment(self):
        switch(False)
        time.sleep(0.2)
        switch(True)

    def assert_sampled(self, least, said):
        """By the kernel's account it ran for longer; without the new clock there are no samples."""
        [(sampled, first)] = self.rows("SELECT sum(a1) / 1e9, min(ts_ns) FROM v_event WHERE class = 'sample'")
        losses = self.rows("SELECT cause, count, ts_ns, until_ns FROM loss")
        self.assertGreater(sampled or 0, least, f"first sample at {first}, losses {losses}: {said}")

    def record(self, *targets):
        options = [word for target in targets for word in ("-t", target)]
        return subprocess.Popen([USCOPE, "record", "-e", "none", "-o", self.db, *options, "--", sys.executable, "-c", COMPUTES],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_cpu_that_comes_back_is_sampled_and_the_gap_is_a_loss(self):
        with self.record("sample:999", "offcpu") as recording:
            self.assertEqual(recording.stdout.readline(), "ready\n")
            self.off_for_a_moment()
            time.sleep(0.2)
            ran, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual(recording.returncode, 0, said)
        self.assert_sampled(0.4 * float(ran), said)
        [(cause, count, length)] = self.rows("SELECT cause, sum(count), max(until_ns - ts_ns) / 1e9 FROM loss GROUP BY cause")
        self.assertEqual(cause, "clock_silent")
        self.assertIn(count, range(1, 400), f"{length} s: {said}")
        self.assertLess(length, 0.4, "it was off for so long, and the loss is what came after it was seen to be off last")
        self.assertRegex(said, r"CPU 1 came online: up to \d+ ms of what ran there have no samples")

    def test_a_cpu_that_was_away_while_nobody_looked_is_sampled(self):
        """The recorder stands still meanwhile, as on a busy machine."""
        with self.record("sample:999") as recording:
            self.assertEqual(recording.stdout.readline(), "ready\n")
            recording.send_signal(signal.SIGSTOP)
            try:
                self.off_for_a_moment()
            finally:
                recording.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            ran, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual(recording.returncode, 0, said)
        self.assert_sampled(0.4 * float(ran), said)
        self.assertEqual(self.rows("SELECT DISTINCT cause FROM loss"), [("clock_silent",)], said)
        self.assertRegex(said, r"CPU 1 was offline for a moment: up to \d+ ms of what ran there have no samples")

    def test_one_that_is_offline_at_the_start_is_sampled_when_it_comes(self):
        switch(False)
        with self.record("sample:999") as recording:
            self.assertEqual(recording.stdout.readline(), "ready\n")
            switch(True)
            time.sleep(0.2)
            ran, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual(recording.returncode, 0, said)
        self.assert_sampled(0.4 * float(ran), said)
        self.assertEqual(self.rows("SELECT DISTINCT cause FROM loss"), [("clock_silent",)])


if __name__ == "__main__":
    unittest.main()
