#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Locks that libraries and run-time systems have of their own: what threads wait for is named, and who has it. Needs root and a
backend; usage: library_locks.py USCOPE FIXTURES"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

PROGRAM = os.path.join(FIXTURES, "deadlock_library_locks")
FUTEX = "202"


class LibraryLocks(AttachCase):
    def hung(self, *command, threads=2, waiting=1, **pipes):
        """A process of so many threads, of which so many wait for a futex."""
        process = self.start(*command, **pipes)

        def hangs():
            tids = os.listdir(f"/proc/{process.pid}/task")
            return len(tids) == threads and sum(self.call_of(process.pid, tid) == FUTEX for tid in tids) >= waiting

        self.wait_for(hangs, f"{command} does not wait")
        return process

    @staticmethod
    def call_of(pid, tid):
        with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
            return file.read().split()[0]

    def look(self, pid, status):
        command = [USCOPE, "deadlock", "--pid", str(pid), *BACKEND_OPTIONS, "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def test_a_handler_interrupted_who_has_the_lock(self):
        for scenario, lock in (("time_zone", "a lock inside libc (time zone)"), ("memory", "a lock inside libc (malloc)"), ("own_mutex", "a mutex")):
            with self.subTest(scenario):
                pid = self.hung(PROGRAM, scenario).pid
                (finding,) = self.look(pid, 1)["findings"]
                (thread,) = finding["threads"]
                self.assertEqual((finding["type"], finding["verdict"]), ("self_deadlock", "deadlock"), finding)
                self.assertEqual((thread["tid"], thread["lock"], thread["held_by"]), (pid, lock, [pid]))

    def test_a_stream_is_named_and_who_has_it(self):
        pid = self.hung(PROGRAM, "stream", stdin=subprocess.PIPE).pid
        (thread,) = self.look(pid, 0)["blocked"]
        (reader,) = (int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid)
        self.assertEqual((thread["primitive"], thread["held_by"]), ("stream_lock", [reader]))

    def test_a_condition_variable_is_one_object(self):
        process = self.hung(PROGRAM, "destroyed", waiting=2, stdout=subprocess.PIPE)
        address = process.stdout.readline().strip()
        found = self.look(process.pid, 1)
        self.assertEqual({thread["primitive"] for thread in found["blocked"]}, {"condition_variable"}, found)
        self.assertEqual({thread["address"] for thread in found["blocked"]}, {address if isinstance(address, str) else address.decode()})


if __name__ == "__main__":
    unittest.main(verbosity=2)
