#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Stacks through trampolines in anonymous memory that keep no frame pointer, as Python's `-X perf` makes them: `sub $8,%rsp; call *%rcx;
add $8,%rsp; ret`, and the form that saves rbp. Their callers use rbp for something else. Needs root and a backend; usage: trampolines.py USCOPE
FIXTURE"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402
from traced_command import record  # noqa: E402

FIXTURE = os.path.abspath(sys.argv.pop(2))
USCOPE = os.path.abspath(sys.argv.pop(1))
DEPTH = 5  # as tests/fixtures/trampolines.c has it


class Trampolines(TraceCase):
    def stacks(self, *arguments):
        done = record(USCOPE, ["-e", "getppid"], [FIXTURE, *arguments], self.db)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.rows("SELECT ended, folded FROM v_event WHERE kind = 'getppid' ORDER BY id")

    def check(self, *arguments):
        stacks = self.stacks(*arguments)
        self.assertEqual(len(stacks), 3)
        for ended, folded in stacks:
            self.assertEqual(ended, "root", folded)
            frames = folded.split(";")
            own = ["[anon]" if frame.startswith("[anon]+") else frame for frame in frames[frames.index("main"):]]
            self.assertEqual(own[:-1], ["main"] + ["level", "through", "[anon]"] * DEPTH + ["level"], folded)

    def test_without_a_frame_pointer(self):
        self.check("a")

    def test_that_save_rbp(self):
        self.check("b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
