#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Stacks through trampolines in anonymous memory that keep no frame pointer, as Python's `-X perf` makes them: `sub $8,%rsp; call *%rcx;
add $8,%rsp; ret`, and the form that saves rbp. Their callers use rbp for something else. Needs root and a backend; usage: trampolines.py USCOPE
FIXTURE"""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

FIXTURE = os.path.abspath(sys.argv.pop(2))
USCOPE = os.path.abspath(sys.argv.pop(1))
DEPTH = 5  # as tests/fixtures/trampolines.c has it


class Trampolines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-trampolines-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def stacks(self, *arguments):
        db = os.path.join(self.folder, "trace.db")
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--force", "-e", "getppid", "-o", db, "--", FIXTURE, *arguments],
                              capture_output=True, text=True, timeout=120 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT ended, folded FROM v_event WHERE kind = 'getppid' ORDER BY id").fetchall()

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
