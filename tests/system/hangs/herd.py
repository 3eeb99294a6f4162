#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A thousand processes with ten descriptors each that wait for each other: found in time, and none is disturbed: no process has run
meanwhile. Needs root and a backend; usage: herd.py USCOPE FIXTURES"""
import json
import os
import resource
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import FIXTURES, AttachCase, USCOPE, WAIT, children_of  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

HERD = os.path.join(FIXTURES, "deadlock_herd")
PROCESSES = 1000
SECONDS = 3 * SLOWNESS  # of a CPU: those of a clock are also other programs'


def in_call(pid, number):
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().split()[0] == str(number)


def processor_seconds():
    """Of the programs that have been waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def switches(pid):
    """How often it has gone to sleep, and has been put off the CPU."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return tuple(int(line.split()[1]) for line in file if "ctxt_switches" in line)


class Herd(AttachCase):
    def test_a_thousand_processes_are_looked_at_in_seconds_and_sleep_on(self):
        herd = self.start(HERD, str(PROCESSES))
        self.wait_for(lambda: len(children_of(herd.pid)) == PROCESSES, "the herd does not gather")
        sheep = children_of(herd.pid)
        self.wait_for(lambda: all(in_call(pid, 0) for pid in sheep) and in_call(herd.pid, 61), "the herd does not come to rest")
        self.assertEqual({len(os.listdir(f"/proc/{pid}/fd")) for pid in sheep}, {10})
        before = {pid: switches(pid) for pid in sheep}
        begun, ran = time.monotonic(), processor_seconds()
        done = subprocess.run([USCOPE, "deadlock", "--pid", str(herd.pid), *BACKEND_OPTIONS, "--format", "json"], capture_output=True,
                              text=True, timeout=WAIT, check=False)
        ran = processor_seconds() - ran
        print(f"{PROCESSES} processes: {time.monotonic() - begun:.2f} s, {ran:.2f} s of a CPU")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["verdict"]), (1, "deadlock"), done.stderr)
        accused = {thread["pid"] for finding in found["findings"] for thread in finding["threads"]}
        self.assertIn(herd.pid, accused)
        self.assertLessEqual(accused, {herd.pid, *sheep})
        self.assertGreaterEqual(len(accused), 2)
        self.assertEqual({pid: switches(pid) for pid in sheep}, before)
        self.assertLessEqual(ran, SECONDS)
        text = subprocess.run([USCOPE, "deadlock", "--pid", str(herd.pid), *BACKEND_OPTIONS], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertLessEqual(len(text.stdout.splitlines()), 60, text.stdout[:4000])


if __name__ == "__main__":
    unittest.main(verbosity=2)
