#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""An io_uring that was set up before `deadlock` attaches, and that has neither a descriptor nor a mapping, may end a wait: tests/deadlock/rings.c.
Needs root and a backend; usage: rings.py USCOPE RINGS"""
import json
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

RINGS = os.path.abspath(sys.argv.pop(2))
USCOPE = os.path.abspath(sys.argv.pop(1))


class Rings(unittest.TestCase):
    def verdict(self, how):
        with subprocess.Popen([RINGS, str(6 * SLOWNESS), how], stdout=subprocess.PIPE, text=True) as process:
            said = process.stdout.readline()
            if said == "no rings\n":
                self.skipTest("this kernel sets up no such ring")
            self.assertEqual(said, "waits\n")
            time.sleep(0.3)
            done = subprocess.run([USCOPE, "deadlock", *BACKEND_OPTIONS, "--pid", str(process.pid), "--format", "json"], capture_output=True,
                                  text=True, timeout=60 * SLOWNESS, check=False)
            self.assertIsNone(process.poll(), done.stderr)
            process.kill()
        return json.loads(done.stdout)["verdict"]

    def test_a_ring_that_proc_does_not_show(self):
        self.assertEqual([self.verdict(how) for how in ("own", "thread")], ["none", "none"])

    def test_the_same_wait_without_a_ring(self):
        self.assertEqual(self.verdict("none"), "deadlock")


if __name__ == "__main__":
    unittest.main()
