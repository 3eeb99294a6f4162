#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A process with a write lease on a file that it has mapped as code: opening the file would end the process by SIGIO. It is traced from its
start, and attached to. Needs root and a backend; usage: leases.py USCOPE"""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

HOLDER = """
import fcntl, mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
code = mmap.mmap(file, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
print("ready", flush=True)
input()
time.sleep(0.5)
print(fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_WRLCK)
"""


class Leases(TraceCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("leased")
        shutil.copy("/bin/true", self.file)
        self.holder = [sys.executable, "-c", HOLDER, self.file]

    def is_left_out(self):
        report = subprocess.run([USCOPE, "report", self.db], capture_output=True, text=True, check=True).stdout
        self.assertRegex(report, r"/leased +a process holds a write lease on it")

    def test_of_a_command(self):
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", *self.holder], input="\n", capture_output=True, text=True,
                              timeout=60 * SLOWNESS, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "ready\nTrue\n"), done.stderr)
        self.is_left_out()

    def test_of_a_process_that_runs(self):
        with subprocess.Popen(self.holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            with subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "-p", str(process.pid)], stderr=subprocess.PIPE,
                                  text=True) as recording:
                said = ""
                while "tracing" not in said:
                    said += recording.stderr.readline()
                self.assertEqual(process.communicate("\n", timeout=60 * SLOWNESS)[0], "True\n")
                said += recording.communicate(timeout=60 * SLOWNESS)[1]
        self.assertEqual((process.returncode, recording.returncode), (0, 0), said)
        self.is_left_out()


if __name__ == "__main__":
    unittest.main()
