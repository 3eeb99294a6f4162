#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`deadlock` of some threads, and as of a moment: what it says is held against the recorded calls. Needs root and BPF (or the module); usage:
deadlock_parts.py USCOPE FOLDER-OF-TEST-PROGRAMS SCHEMA"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, SCHEMA = os.path.abspath(sys.argv[1]), sys.argv[3]
PROGRAM, PASSED = (os.path.join(os.path.abspath(sys.argv[2]), "deadlock_" + name) for name in ("times", "passed"))
del sys.argv[1:4]
WAIT = 60 * SLOWNESS
EARLY, LATE = {"early-1", "early-2"}, {"late-1", "late-2"}


class Diagnosed(TraceCase):
    def diagnose(self, *options):
        done = subprocess.run([USCOPE, "deadlock", "--format", "json", *options, self.db], capture_output=True, text=True, timeout=WAIT)
        answer = json.loads(done.stdout)
        with open(SCHEMA) as file:
            jsonschema.validate(answer, json.load(file))
        verdicts = {"none": 0, "deadlock": 1, "stall": 1, "undecided": 3}
        self.assertEqual(done.returncode, verdicts[answer["verdict"]])
        return answer

    @staticmethod
    def cycles(answer):
        return [{thread["name"] for thread in finding["threads"]} for finding in answer["findings"] if finding["type"] == "cycle"]


class PassedLocks(Diagnosed):
    def record(self, *command):
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "--force", "-o", self.db, "--", *command], check=False, timeout=WAIT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_nobody_is_accused_who_went_on_later(self):
        for scenario in ("pi", "rw", "shared", "dissolved"):
            self.record(PASSED, scenario)
            for tenth in range(1, 12, 2):
                with self.subTest(scenario=scenario, moment=tenth / 10):
                    self.assertEqual(self.diagnose("--until", f"{tenth / 10}s")["findings"], [])

    def test_what_stays_to_the_end_is_found_before(self):
        for command in ((PASSED, "ended"), (PASSED, "forked"), ("timeout", "-s", "TERM", "1.5", PASSED, "ended")):
            self.record(*command)
            self.assertEqual(self.cycles(self.diagnose("--until", "0.1s")), [])
            for moment in ("0.6s", "1s", "1.3s"):
                with self.subTest(command=command[-1], moment=moment):
                    self.assertEqual(self.cycles(self.diagnose("--until", moment)), [{"one", "other"}])


class DeadlockParts(Diagnosed):
    def setUp(self):
        super().setUp()
        # The program goes on when the recording ends.
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "--duration", "3s", "-o", self.db, "--", PROGRAM], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        for pid, in self.rows("SELECT pid FROM process"):
            os.kill(pid, signal.SIGKILL)
        self.start, = self.rows("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'start_ns'")[0]

    def entry(self, names):
        """When the last of these threads began the wait that it is in at the end, in ns since the start."""
        marks = ",".join("?" * len(names))
        return self.rows(f"SELECT max(ts_ns) FROM v_event WHERE kind = 'futex' AND how <> 'returned' AND thread IN ({marks})",
                         *names)[0][0] - self.start

    def waiting_at(self, moment):
        """Who waits for a futex then, by the recorded calls: tid, name and how long."""
        at = self.start + moment
        return {(tid, name, at - ts) for tid, name, ts in self.rows(
            "SELECT tid, thread, ts_ns FROM v_event WHERE kind = 'futex' AND (a1 & 127) IN (0, 9) AND ts_ns <= ? AND "
            "(dur_ns IS NULL OR ts_ns + dur_ns > ?)", at, at)}

    def test_as_of_a_moment(self):
        early, late = self.entry(EARLY), self.entry(LATE)
        self.assertLess(early, late)
        for moment, cycles in ((early // 2, []), (early - 1000, []), (early + 1, [EARLY]), (early + 200_000_000, [EARLY]),
                               (late - 1000, [EARLY]), (late + 1, [EARLY, LATE]), (late + 500_000_000, [EARLY, LATE])):
            with self.subTest(moment=moment):
                answer = self.diagnose("--until", f"{moment}ns")
                self.assertCountEqual(self.cycles(answer), cycles)
                blocked = {(thread["tid"], thread["name"], thread["waited_ns"]) for thread in answer["blocked"]}
                self.assertEqual(blocked, self.waiting_at(moment))
                # Waits that ended later accuse nobody.
                accused = {thread["name"] for finding in answer["findings"] for thread in finding["threads"]}
                self.assertLessEqual(accused, EARLY | LATE)
                self.assertEqual(answer["part"]["until_ns"], moment)
        whole, same = self.diagnose(), self.diagnose("--until", "9999s")
        self.assertIsNone(whole.pop("part"))
        same.pop("part")
        self.assertEqual(same, whole)

    # `wanter` waited for `holder`, which slept; both went on. The mutex `turn` was passed on while two waited.
    def test_holders_as_of_then(self):
        ts, dur = self.rows("SELECT ts_ns, dur_ns FROM v_event WHERE kind = 'futex' AND thread = 'wanter' AND (a1 & 127) = 0")[0]
        answer = self.diagnose("--until", f"{ts - self.start + dur // 2}ns")
        waiter, = [thread for thread in answer["blocked"] if thread["name"] == "wanter"]
        holder, = self.rows("SELECT DISTINCT tid FROM v_event WHERE thread = 'holder'")[0]
        self.assertEqual((waiter["held_by"], waiter["waited_ns"]), ([holder], dur // 2))
        self.assertEqual({"done"}, {name for name, in self.rows("SELECT name FROM thread WHERE tid = ?", waiter["tid"])})
        # Each thread that has the lock sleeps with it for 0.4 s.
        sleeps = self.rows("SELECT tid, ts_ns, dur_ns FROM v_event WHERE kind = 'clock_nanosleep' AND thread GLOB 'turn-*' ORDER BY ts_ns")
        self.assertEqual(len(sleeps), 3)
        for tid, ts, dur in sleeps[:2]:
            answer = self.diagnose("--until", f"{ts - self.start + dur // 2}ns")
            waiters = [thread for thread in answer["blocked"] if thread["name"].startswith("turn-")]
            self.assertEqual(len(waiters), 2 if tid == sleeps[0][0] else 1)
            for waiter in waiters:
                # Not known after a wake that was for another waiter.
                self.assertIn(waiter["held_by"], ([tid], []))
            if tid == sleeps[0][0]:
                self.assertEqual([waiter["held_by"] for waiter in waiters], [[tid], [tid]])

    def test_some_threads(self):
        self.assertEqual(self.cycles(self.diagnose("--thread", "late-*")), [LATE])
        tid, = self.rows("SELECT tid FROM thread WHERE name = 'early-2'")[0]
        answer = self.diagnose("--tid", str(tid))
        self.assertEqual(self.cycles(answer), [EARLY])
        self.assertEqual([thread["tid"] for thread in answer["blocked"]], [tid])
        self.assertEqual({edge["from"] for edge in answer["edges"]}, {thread["tid"] for thread in answer["findings"][0]["threads"]})
        answer = self.diagnose("--since", f"{self.entry(EARLY) + 1}ns")
        self.assertEqual(self.cycles(answer), [LATE])
        answer = self.diagnose("--thread", "turn-*")
        self.assertEqual((answer["verdict"], answer["findings"]), ("none", []))
        self.assertIn("none of the waits that were asked for", answer["reason"])
        pid, = self.rows("SELECT pid FROM process")[0]
        self.assertCountEqual(self.cycles(self.diagnose("--pid", str(pid))), [EARLY, LATE])
        # Its name was another one then.
        ts, = self.rows("SELECT min(ts_ns) FROM v_event WHERE kind = 'futex' AND thread = 'wanter'")[0]
        self.assertEqual(len(self.diagnose("--thread", "wanter", "--until", f"{ts - self.start + 1}ns")["blocked"]), 1)
        self.assertEqual(self.diagnose("--thread", "wanter")["blocked"], [])
        self.assertEqual(self.diagnose("--thread", "*")["findings"], self.diagnose()["findings"])

    def test_what_is_said(self):
        text = subprocess.run([USCOPE, "deadlock", "--until", "1s", "--thread", "early-*", self.db], capture_output=True, text=True,
                              timeout=WAIT).stdout
        self.assertRegex(text, r"\APART       threads, while they were named early-\*, up to 1.000000 s of ")
        self.assertIn("WARNING   descriptors, file locks, children and monitors are looked at once", re.sub(r"\s+", " ", text).replace(
            "WARNING ", "WARNING   "))
        none = subprocess.run([USCOPE, "deadlock", "--tid", "999999999", self.db], capture_output=True, text=True, timeout=WAIT)
        self.assertIn("the trace has no thread 999999999", none.stderr)
        self.assertIn("no thread that was asked for was there", re.sub(r"\s+", " ", none.stdout))
        page = self.path("page.html")
        subprocess.run([USCOPE, "deadlock", "--html", page, "--thread", "late-*", self.db], capture_output=True, timeout=WAIT)
        with open(page) as file:
            data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', file.read(), re.S).group(1))
        self.assertIn("named late-*", data["target"])
        self.assertEqual(self.cycles(data["diagnosis"]), [LATE])

    def test_of_a_running_application(self):
        program = subprocess.Popen([PROGRAM])
        try:
            time.sleep(2.5 * SLOWNESS)
            look = [USCOPE, "deadlock", *BACKEND_OPTIONS, "--format", "json", "--pid", str(program.pid)]
            answer = json.loads(subprocess.run([*look, "--thread", "early-*"], capture_output=True, text=True, timeout=WAIT).stdout)
            self.assertEqual(self.cycles(answer), [EARLY])
            self.assertEqual({thread["name"] for thread in answer["blocked"]}, EARLY)
            for option in ("--since", "--until"):
                refused = subprocess.run([*look, option, "1s"], capture_output=True, text=True, timeout=WAIT)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("--since and --until are times of a recording", refused.stderr)
        finally:
            program.send_signal(signal.SIGKILL)
            program.wait()


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=2)
