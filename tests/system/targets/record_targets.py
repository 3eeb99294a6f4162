#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`record -t` and `-e none`, as a user gives them. Needs root and BPF; usage: record_targets.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"


class Recordings(TraceCase):
    def record(self, *options, command=("sh", "-c", "sh -c 'kill -CHLD $$'; true")):
        return subprocess.run([USCOPE, "record", "-o", self.db, *options, "--", *command], check=False, capture_output=True, text=True,
                              timeout=120)

    def meta(self, key):
        return [value for (value,) in self.rows("SELECT value FROM meta WHERE key = ?", key)]

    def test_without_calls_there_are_processes(self):
        done = self.record("-e", "none", "--signals")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE class = 'syscall'"), [(0,)])
        self.assertGreater(self.rows("SELECT count(*) FROM v_event WHERE class = 'signal'")[0][0], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM process AS child JOIN process ON child.parent_id = process.id"), [(1,)])
        self.assertEqual(self.meta("targets"), [])

    def test_time_is_recorded_without_calls(self):
        raw = self.path("trace.raw")
        done = self.record("-e", "none", "-t", "sample:500", "-t", "offcpu", "--keep-raw", raw,
                           command=("sh", "-c", "sleep 0.1; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(value) for value in self.meta("targets")], [["sample:500", "offcpu"]])
        records = subprocess.run([USCOPE, "raw", "--type", "hit", raw], check=True, capture_output=True, text=True).stdout
        self.assertGreater(records.count(" hit "), 2, records)

    def test_what_cannot_be_traced_is_refused_before_anything_runs(self):
        for target, what in (("kfunction:vfs_read", "cannot be traced: uscope does not trace kernel functions"),
                             ("ufunction:libc:no_such_function", "no function of libc.so.6 matches 'no_such_function'"),
                             ("ufunction:libc:*", "without --all-matches uscope attaches at most 1,000"),
                             ("tracepoint:sched:sched_swich", "no tracepoint is called so"),
                             ("sample:0", "is no number of samples a second")):
            ran = self.path("ran")
            done = self.record("-t", target, command=("touch", ran))
            self.assertEqual(done.returncode, 125, target)
            self.assertIn(what, done.stderr)
            self.assertFalse(os.path.exists(ran))
            self.assertFalse(os.path.exists(self.db))


if __name__ == "__main__":
    unittest.main()
