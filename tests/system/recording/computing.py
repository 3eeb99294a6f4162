#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Threads that make no calls: what `report` says of the time before their first call, after their last one, and of those without any; and
what `deadlock` says of them. Needs root, a backend and a C compiler; usage: computing.py USCOPE FIXTURES"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT, in_calls  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "computing.c")
SECOND = 1_000_000_000


class Computing(AttachCase):
    def setUp(self):
        super().setUp()
        self.program = self.path("computing")
        subprocess.run(["cc", "-O1", "-pthread", "-o", self.program, SOURCE], check=True)

    def begin(self, *command):
        """What it starts has written its pid: it computes, or is about to."""
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        pid = int(process.stdout.readline())
        self.addCleanup(self.kill, pid)
        return process, pid

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def said_by(self, verb, *options):
        done = subprocess.run([USCOPE, verb, self.db, *options], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def gaps(self):
        report = json.loads(self.said_by("report", "--format", "json"))
        self.assertEqual(self.rows("SELECT sum(gaps), sum(total_ns) FROM gap_total"),
                         self.rows("SELECT sum(gaps), sum(gap_ns) FROM thread_total"))
        self.assertEqual(report["gap_pairs"]["lines"][0]["total_ns"],
                         max(line["total_ns"] for line in report["gap_pairs"]["lines"]))
        return report["gaps"]["lines"]

    def test_a_thread_without_any_call_is_a_gap(self):
        _, pid = self.begin(self.program, "loop")
        self.wait_for(lambda: list(in_calls(pid).values()) == [None], "it does not compute")
        tracer = self.attach("--pid", str(pid))
        time.sleep(1.2)
        self.finish(tracer)
        [gap] = self.gaps()
        self.assertEqual((gap["tid"], gap["since"], gap["until"], gap["before"], gap["after"]), (pid, "tracing", "tracing", None, None))
        self.assertGreaterEqual(gap["dur_ns"], SECOND)
        self.assertRegex(self.said_by("report"), r"no call while traced +until tracing ended")
        computing = json.loads(self.said_by("deadlock", "--format", "json"))["computing"]
        self.assertEqual([(thread["tid"], thread["waited_by"]) for thread in computing], [(pid, [])])

    def test_the_time_before_the_first_call_and_after_the_last_one(self):
        process, pid = self.begin(self.program, "loop")
        self.wait_for(lambda: list(in_calls(pid).values()) == [None], "it does not compute")
        tracer = self.attach("--pid", str(pid))
        time.sleep(0.5)
        os.kill(pid, signal.SIGUSR1)
        self.assertEqual(process.stdout.readline(), b"signal\n")
        time.sleep(0.8)
        self.finish(tracer)
        first, *_, last = sorted(self.gaps(), key=lambda gap: gap["ts_ns"])
        self.assertEqual((first["since"], first["until"], first["before"], first["after"]["call"]), ("tracing", "call", None, "write"))
        self.assertEqual(first["after"]["function"], "on_signal")
        self.assertGreaterEqual(first["dur_ns"], SECOND // 2)
        self.assertEqual((last["since"], last["until"], last["before"]["call"], last["after"]), ("call", "tracing", "rt_sigreturn", None))
        self.assertGreaterEqual(last["dur_ns"], SECOND * 7 // 10)

    def test_a_launched_command_that_computes_until_it_is_killed(self):
        tracer, pid = self.begin(USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", self.db, "--", self.program, "loop")
        time.sleep(1)
        self.kill(pid)
        tracer.wait(WAIT)
        gap = self.gaps()[0]
        self.assertEqual((gap["tid"], gap["until"], gap["before"]["call"], gap["after"]), (pid, "thread", "write", None))
        self.assertEqual(gap["before"]["function"], "say_pid")
        self.assertGreaterEqual(gap["dur_ns"], SECOND * 9 // 10)
        self.assertIn("until the thread ended", self.said_by("report"))

    def test_a_launched_command_that_is_left_computing(self):
        tracer, pid = self.begin(USCOPE, "record", *BACKEND_OPTIONS, "-q", "--duration", "2", "-o", self.db, "--", self.program, "loop")
        tracer.wait(WAIT)
        gap = max((gap for gap in self.gaps() if gap["tid"] == pid), key=lambda gap: gap["ts_ns"])
        self.assertEqual((gap["until"], gap["before"]["call"], gap["after"]), ("tracing", "write", None))

    def test_what_computes_between_two_calls_is_named(self):
        recorded = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", self.db, "--", self.program, "between"],
                                  capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        [gap] = [gap for gap in self.gaps() if gap["before"] and gap["before"]["call"] == "getppid"]
        self.assertEqual((gap["after"]["call"], gap["within"]), ("getpgrp", {"function": "work", "module": self.program, "fallback": False}))
        self.assertRegex(self.said_by("report"), r"getppid in work +getpgrp in work +work ")

    def test_calls_that_nobody_makes_are_named(self):
        recorded = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-e", "open", "-o", self.db, "--", self.program, "between"],
                                  capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        said = "none of the calls of -e open was made; related calls: -e "
        self.assertIn(said, recorded.stderr)
        self.assertIn(said, self.said_by("report"))

    def test_who_waits_in_a_call_has_no_gap(self):
        process = self.start("sleep", str(WAIT))
        self.wait_for(lambda: None not in in_calls(process.pid).values(), "it does not sleep")
        tracer = self.attach("--pid", str(process.pid))
        time.sleep(0.3)
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT * FROM gap"), [])

    def test_a_holder_that_computes_is_not_blocked(self):
        _, pid = self.begin(self.program, "holder")
        self.wait_for(lambda: list(in_calls(pid).values()).count(None) == 1 and len(in_calls(pid)) == 3, "they do not wait")
        tracer = self.attach("--pid", str(pid))
        time.sleep(1.5)
        self.finish(tracer)
        found = json.loads(self.said_by("deadlock", "--format", "json"))
        self.assertEqual((found["verdict"], found["findings"]), ("none", []))
        tids = {name: tid for tid, name in self.rows("SELECT tid, name FROM thread WHERE tid <> " + str(pid))}
        [holder] = found["computing"]
        self.assertEqual((holder["tid"], holder["name"]), (tids["holder"], "holder"))
        self.assertEqual(sorted(holder["waited_by"]), sorted([pid, tids["waiter"]]))
        self.assertGreaterEqual(holder["idle_ns"], SECOND)
        self.assertEqual({thread["tid"] for thread in found["blocked"]}, {pid, tids["waiter"]})
        self.assertIn(f"thread {holder['tid']} `holder` has made no call for ", found["reason"])
        text = self.said_by("deadlock")
        self.assertIn("COMPUTING", text)
        self.assertIn("; 2 threads wait for it", text)


if __name__ == "__main__":
    unittest.main()
