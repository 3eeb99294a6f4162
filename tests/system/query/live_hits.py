#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope query` of what runs, for classes beside system calls: samples and times off the CPU of a program that is known to compute and to
sleep. Needs root and BPF; usage: live_hits.py USCOPE FIXTURES"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402

# 600 ms of its own processor time, then a sleep of 400 ms.
PROGRAM = """
import time
while time.process_time() < 0.6:
    pass
time.sleep(0.4)
"""
MS = 1_000_000


class LiveHits(AttachCase):
    def ask(self, question, *options):
        return subprocess.run([USCOPE, "query", "--format", "json", *options, question, "--", "/usr/bin/python3", "-I", "-S", "-c", PROGRAM],
                              capture_output=True, text=True, timeout=WAIT, check=False)

    def answers(self, question, *options):
        done = self.ask(question, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sum(answer["lost"] for answer in answers), 0)
        return answers

    def test_samples_stand_for_the_time_on_the_processor(self):
        [answer] = self.answers("SELECT class, sum(a1), count(*), count(stack_id), min(how) FROM v_event WHERE class = 'sample' GROUP BY class", "--once")
        [[name, time_ns, samples, stacks, how]] = answer["rows"]
        self.assertEqual((name, how), ("sample", "hit"))
        self.assertGreater(time_ns, 500 * MS)
        self.assertLess(time_ns, 2000 * MS)
        self.assertEqual(stacks, samples)

    def test_times_off_the_processor_have_kernel_frames(self):
        [answer] = self.answers("SELECT kind, max(dur_ns), count(*), max(folded) FROM v_event WHERE class IN ('offcpu', 'syscall') AND class <> 'syscall' "
                                "AND kind = 'sleeping' AND folded GLOB '*nanosleep*' GROUP BY 1", "--once")
        [[kind, longest_ns, times, folded]] = answer["rows"]
        self.assertEqual((kind, times), ("sleeping", 1))
        self.assertGreater(longest_ns, 390 * MS)
        self.assertTrue(folded.endswith("_[k]"), folded)

    def test_calls_and_others_are_events_of_one_answer(self):
        answers = self.answers("SELECT class, count(*) FROM v_event WHERE class IN ('syscall', 'sample', 'offcpu') GROUP BY 1 ORDER BY 1", "--every", "200ms")
        self.assertGreater(len(answers), 2)
        rows = [row for answer in answers for row in answer["rows"]]
        self.assertEqual({name for name, _ in rows}, {"offcpu", "sample", "syscall"})

    def test_a_question_that_names_none_gets_none(self):
        for condition in ("class <> 'signal'", "class IS NOT NULL"):
            [answer] = self.answers(f"SELECT DISTINCT class FROM v_event WHERE {condition}", "--once")
            self.assertEqual(answer["rows"], [["syscall"]])

    def test_what_is_for_recordings_alone(self):
        done = self.ask("SELECT count(*) FROM v_event WHERE class IN ('sample', 'usdt', 'kfunction')")
        self.assertEqual(done.returncode, 2)
        self.assertIn("events of usdt, kfunction cannot be asked of what runs", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
