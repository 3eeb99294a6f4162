#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope record` and `load` under small limits (ulimit), which root may not raise here: each works, or names the limit and how to raise it.
Needs root and BPF; usage: small_limits.py USCOPE"""
import ctypes
import os
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
PR_CAPBSET_DROP = 24
CAP_SYS_RESOURCE = 24
NO_TRACE = 125
prctl = ctypes.CDLL(None).prctl


class SmallLimits(TraceCase):
    def run_with(self, limit, most, *command):
        def restrict():
            if prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0) != 0:
                os._exit(1)
            resource.setrlimit(limit, (most, most))
        return subprocess.run((USCOPE, *command), preexec_fn=restrict, capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)

    def record_with(self, limit, most):
        return self.run_with(limit, most, "record", "--force", "-o", self.db, "--", "true")

    # The names of a program that has line tables are found on a large stack.
    def test_of_the_stack(self):
        for kib in (64, 88, 128, 160):
            done = self.run_with(resource.RLIMIT_STACK, kib << 10, "record", "-q", "--force", "--keep-raw", self.path("kept"), "-o", self.db, "--", USCOPE, "--version")
            self.assertEqual((done.returncode, done.stderr), (0, ""), kib)
            self.assertEqual(self.rows("SELECT count(*) > 0 FROM v_event"), [(1,)])
            done = self.run_with(resource.RLIMIT_STACK, kib << 10, "load", "--force", "-o", self.db, self.path("kept"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(".part")], [])

    def test_of_open_files(self):
        for most in (24, 40, 200):
            done = self.record_with(resource.RLIMIT_NOFILE, most)
            self.assertEqual(done.returncode, NO_TRACE, done.stderr)
            self.assertRegex(done.stderr, rf"the limit is {most}\b|only {most} files")
            self.assertIn("raise the limit: ulimit -n 4096", done.stderr)

    # Nothing can be written, and nothing is left that would be in the way of the next recording.
    def test_of_file_sizes(self):
        done = self.record_with(resource.RLIMIT_FSIZE, 0)
        self.assertEqual(done.returncode, NO_TRACE, done.stderr)
        self.assertIn("raise the limit of file sizes (ulimit -f)", done.stderr)
        self.assertIn("nothing was recorded", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])
        with open(f"{self.db}.raw.part", "wb"):
            pass
        done = subprocess.run([USCOPE, "record", "-q", "-o", self.db, "--", "true"], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(self.db)])

    def test_of_memory(self):
        done = self.record_with(resource.RLIMIT_AS, 900 << 20)
        self.assertEqual(done.returncode, NO_TRACE, done.stderr)
        self.assertRegex(done.stderr, r"must have \d+ MiB of addresses, and the limit is 900")
        self.assertIn("raise the limit: ulimit -v unlimited", done.stderr)


if __name__ == "__main__":
    unittest.main()
