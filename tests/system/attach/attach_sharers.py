#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Processes with one memory (tests/fixtures/sharers.c): one replaces a library at its address, the other one calls it. What is called must have
the names of the library that is there. Needs root and a backend; usage: attach_sharers.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import FIXTURES, AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

SHARERS = os.path.join(FIXTURES, "fixture_sharers")
TURNS, CALLS = 6, 3


class Sharers(AttachCase):
    def calls(self, child):
        """The functions of each call of the child, in the order of time."""
        stacks = {}
        for event, function in self.rows(
                "SELECT event.id, frame.function FROM event JOIN kind ON kind.id = kind_id JOIN thread ON thread.id = thread_id "
                f"JOIN stack_frame USING(stack_id) JOIN frame ON frame.id = frame_id WHERE kind.name = 'getppid' AND tid = {child} "
                "ORDER BY ts_ns, position"):
            stacks.setdefault(event, []).append(function)
        return list(stacks.values())

    def judge(self, child):
        stacks = self.calls(child)
        self.assertEqual(len(stacks), TURNS * CALLS)
        for number, functions in enumerate(stacks):
            there, other = ("first", "second") if number // CALLS % 2 == 0 else ("second", "first")
            for name in ("leaf_", "relay_"):
                self.assertIn(name + there, functions, number)
                self.assertNotIn(name + other, functions, number)
        return stacks

    def start_sharers(self, *before):
        process = self.start(*before, SHARERS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return process, int(process.stdout.readline())

    def test_launched(self):
        process, child = self.start_sharers(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--")
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.judge(child)

    def test_attached_to(self):
        process, child = self.start_sharers()
        time.sleep(0.2)
        tracer = self.attach("--pid", str(process.pid))
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.ends(tracer)
        self.judge(child)
        [(processes, spaces)] = self.rows("SELECT count(*), count(DISTINCT space) FROM process")
        self.assertEqual((processes, spaces), (2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
