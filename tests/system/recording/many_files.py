#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A program that maps more files than there is room for at one time, one after the other: none is left out, and stacks stay whole.
FILES in the environment is another number of files than 36,000,
PACE of files in ten milliseconds than 10. Needs root and a backend; usage: many_files.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, FIXTURES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
FILES = int(os.environ.get("FILES", "36000"))
PACE = os.environ.get("PACE", "10")


class ManyFiles(TraceCase):
    def test_each_is_met_and_the_first_one_is_still_known(self):
        program = os.path.join(FIXTURES, "fixture_many_files")
        raw = self.db + ".raw"
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--force", "--keep-raw", raw, "-e", "getppid,getpgrp", "--", program, str(FILES), PACE],
                       check=True, timeout=1800 * SLOWNESS)
        self.assertEqual(self.rows("SELECT cause, sum(count) FROM loss GROUP BY 1"), [])
        calls = self.rows("SELECT kind, \"trigger\", ended FROM v_event WHERE kind IN ('getppid', 'getpgrp') ORDER BY id")
        self.assertEqual([(kind, ended) for kind, _, ended in calls], [("getppid", "root")] * (FILES // 10000) + [("getpgrp", "root")])
        self.assertEqual({trigger for kind, trigger, _ in calls if kind == "getpgrp"}, {"main"})
        files = subprocess.run([USCOPE, "raw", raw, "--type", "file"], capture_output=True, text=True, check=True).stdout.splitlines()
        serials = [int(line.split(" file=")[1].split()[0]) for line in files if "uscope-many-files" in line]
        self.assertEqual(len(serials), FILES)
        self.assertEqual(len(set(serials)), FILES, "serials were used again")


if __name__ == "__main__":
    unittest.main()
