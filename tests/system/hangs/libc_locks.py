#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Locks of libc's own, with and without libc's debug information: what threads wait for, who has it, and that nobody is accused who goes
on. Needs root and a backend; usage: libc_locks.py USCOPE FIXTURES"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT, in_calls  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from hidden_debug import HIDE_DEBUG  # noqa: E402

PROGRAM = os.path.join(FIXTURES, "deadlock_libc_locks")
FUTEX = 202
WAYS = {"as installed": [], "without debug information": HIDE_DEBUG}
# What the program does, and a handler while it does it (or both): the part of libc whose lock that is.
PAIRS = {
    "localtime_localtime": "time zone",
    "localtime_tzset": "time zone",
    "strftime_mktime": "time zone",
    "malloc_malloc": "malloc",
    "realloc_calloc": "malloc",
    "malloc_fork": "malloc",
    "setenv_setenv": "environment",
    "setenv_unsetenv": "environment",
    "setenv_putenv": "environment",
    "atexit_atexit": "exit",
    "atexit_on_exit": "exit",
    "syslog_syslog": "syslog",
    "syslog_closelog": "syslog",
    "random_srandom": "random",
    "getpwnam_getpwnam": "names of users and hosts",
}


class LibcLocks(AttachCase):
    def waits(self, process, scenario, threads):
        def waiting():
            return sum(call is not None and call[0] == FUTEX for call in in_calls(process.pid).values()) == threads

        self.wait_for(waiting, f"{scenario} does not wait")

    def look(self, pid, way):
        command = [*WAYS[way], USCOPE, "deadlock", "--pid", str(pid), *BACKEND_OPTIONS, "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return json.loads(done.stdout)

    def test_a_handler_interrupted_who_has_the_lock(self):
        started = {scenario: self.start(PROGRAM, scenario) for scenario in PAIRS}
        for scenario, part in PAIRS.items():
            self.waits(started[scenario], scenario, 1)
            for way in WAYS:
                with self.subTest(scenario=scenario, way=way):
                    pid = started[scenario].pid
                    found = self.look(pid, way)
                    self.assertEqual(len(found["findings"]), 1, found)
                    (finding,) = found["findings"]
                    (thread,) = finding["threads"]
                    self.assertEqual((finding["type"], finding["verdict"]), ("self_deadlock", "deadlock"), finding)
                    self.assertEqual((thread["tid"], thread["held_by"], thread["primitive"]), (pid, [pid], "libc_lock"))
                    # Without names, a function that is called by a jump leaves no frame that tells its part.
                    locks = [f"a lock inside libc ({part})"] + (["a lock inside libc"] if WAYS[way] else [])
                    self.assertIn(thread["lock"], locks)

    def test_two_threads_with_a_stream_and_a_mutex(self):
        process = self.start(PROGRAM, "stream_cycle")
        self.waits(process, "stream_cycle", 2)
        for way in WAYS:
            with self.subTest(way):
                found = self.look(process.pid, way)
                self.assertEqual(len(found["findings"]), 1, found)
                (finding,) = found["findings"]
                self.assertEqual((finding["type"], finding["verdict"]), ("cycle", "deadlock"), finding)
                self.assertEqual({thread["primitive"] for thread in finding["threads"]}, {"mutex", "stream_lock"})

    def test_another_thread_has_the_lock(self):
        process = self.start(PROGRAM, "time_zone_of_fifo")
        self.waits(process, "time_zone_of_fifo", 1)
        (opener,) = (tid for tid, call in in_calls(process.pid).items() if call[0] != FUTEX)
        for way in WAYS:
            with self.subTest(way):
                (thread,) = self.look(process.pid, way)["blocked"]
                self.assertEqual((thread["tid"], thread["primitive"], thread["held_by"]), (process.pid, "libc_lock", [opener]))

    def test_nobody_is_accused_who_goes_on(self):
        for scenario in ("contends", "handles"):
            process = self.start(PROGRAM, scenario)
            for way in WAYS:
                for run in range(5):
                    with self.subTest(scenario=scenario, way=way, run=run):
                        found = self.look(process.pid, way)
                        self.assertEqual((found["verdict"], found["findings"]), ("none", []))
            process.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)
