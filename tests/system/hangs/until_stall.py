#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""record --until-stall: ends by itself where threads wait for each other, and not where they only wait. Needs root and a backend.

usage: until_stall.py USCOPE HANGS WAITS CROWD HEALTHY: programs of tests/deadlock"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, HANGS, WAITS, CROWD, HEALTHY = (os.path.abspath(path) for path in sys.argv[1:6])
del sys.argv[1:6]


class UntilStall(TraceCase):
    def record(self, *arguments):
        """What was launched may live on, and keeps what it was given for output."""
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *arguments], stdout=output, stderr=errors,
                                  timeout=60 * SLOWNESS, check=False)
            for file in (output, errors):
                file.seek(0)
            done.stdout, done.stderr = output.read(), errors.read()
        return done

    def started(self, *command):
        process = subprocess.Popen(command)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(0.5 * SLOWNESS)
        return process

    def let_go(self):
        """What was launched goes on untraced, and hangs."""
        for (pid,) in self.rows("SELECT pid FROM process WHERE end_ns IS NULL"):
            os.kill(pid, 9)

    def test_a_launched_program_that_hangs(self):
        began = time.monotonic()
        done = self.record("--until-stall", "1s", "--", HANGS, "abba")
        self.let_go()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertGreater(time.monotonic() - began, 1)
        self.assertIn("DEADLOCK  2 threads wait for each other", done.stderr)
        self.assertIn("threads wait for each other: the command goes on untraced", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(os.listdir(self.folder.name), ["trace.db"])
        again = subprocess.run([USCOPE, "deadlock", self.db], capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn(again.stdout.split("\n\n")[1], done.stderr)

    def test_threads_that_nobody_is_left_to_wake(self):
        done = self.record("--until-stall", "1s", "--", WAITS, "lost_wakeup_join")
        self.let_go()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("STALL ", done.stderr)

    def test_a_child_that_fills_a_pipe(self):
        """No futex is waited for. (Python's own handler of SIGINT might end the wait: it is taken away.)"""
        parent = """
import signal, subprocess
signal.signal(signal.SIGINT, signal.SIG_DFL)
subprocess.Popen(["head", "-c", "1000000", "/dev/zero"], stdout=subprocess.PIPE).wait()
"""
        done = self.record("--until-stall", "1s", "--", sys.executable, "-c", parent)
        self.let_go()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("DEADLOCK  2 threads wait for each other", done.stderr)
        self.assertIn("the read end of pipe:[", done.stderr)

    def test_a_pipeline_that_waits_for_input_is_traced_on(self):
        pipeline = subprocess.Popen(["sh", "-c", "cat | grep x | cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(pipeline.communicate)
        time.sleep(0.5 * SLOWNESS)
        done = self.record("--until-stall", "1s", "--duration", "4s", "--pid", str(pipeline.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("wait for each other", done.stderr)

    def test_a_thousand_threads_are_all_in_the_trace(self):
        """More calls under way than one buffer of the kernel's list holds. The first look comes while they are younger than asked for, the
        next one as soon as all of them are old enough."""
        began = time.monotonic()
        done = self.record("--until-stall", "2s", "--", CROWD, "1000")
        self.let_go()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertLess(time.monotonic() - began, 20 * SLOWNESS)
        [(threads, waiting)] = self.rows(
            "SELECT count(*), count(event_id) FROM thread LEFT JOIN (SELECT thread_id, event_id FROM futex_wait JOIN event ON event.id = event_id "
            "WHERE dur_ns IS NULL) ON thread_id = thread.id WHERE end_ns IS NULL")
        self.assertGreaterEqual(threads, 1000)
        self.assertEqual(waiting, threads)

    def test_a_program_that_hangs_already(self):
        hung = self.started(HANGS, "abba")
        done = self.record("--until-stall", "1s", "--pid", str(hung.pid))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("tracing ended early: threads wait for each other\n", done.stderr)
        self.assertIsNone(hung.poll())

    def test_threads_that_only_wait_are_traced_on(self):
        healthy = self.started(HEALTHY, "pool_sigwait")
        began = time.monotonic()
        done = self.record("--until-stall", "1s", "--duration", "5s", "--pid", str(healthy.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(time.monotonic() - began, 5)
        self.assertNotIn("wait for each other", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["trace.db"])

    def test_a_hang_that_is_younger_than_asked_for_is_let_be(self):
        hung = self.started(HANGS, "abba")
        done = self.record("--until-stall", "1m", "--duration", "3s", "--pid", str(hung.pid))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_end_of_the_command_ends_it(self):
        done = self.record("--until-stall", "1s", "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_futex_calls_must_be_recorded(self):
        done = self.record("-e", "read", "--until-stall", "1s", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("--until-stall looks at futex calls, which -e read leaves out\n  add futex to -e", done.stderr)


if __name__ == "__main__":
    unittest.main()
