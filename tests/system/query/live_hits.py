#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope query` of what runs, for classes beside system calls: samples and times off the CPU of a program that is known to compute and to
sleep; tracepoints, functions and USDT probes of programs that do the same each time, whose answers are those of a recording. Needs root and
BPF; usage: live_hits.py USCOPE FIXTURES"""
import contextlib
import csv
import ctypes
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import SLOWNESS  # noqa: E402

# 600 ms of its own processor time, then a sleep of 400 ms.
PROGRAM = """
import time
while time.process_time() < 0.6:
    pass
time.sleep(0.4)
"""
MS = 1_000_000


class LiveHits(AttachCase):
    def answers(self, question, *options, command=("/usr/bin/python3", "-I", "-S", "-c", PROGRAM)):
        done = subprocess.run([USCOPE, "query", "--format", "json", *options, question, "--", *command], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
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

    def test_a_call_and_a_tracepoint_of_it_are_counted_alike(self):
        """Hits while the same processor is at work on a call are counted, too."""
        [answer] = self.answers("SELECT class, count(*), count(\"trigger\") FROM v_event WHERE class = 'syscall' AND kind = 'getppid' OR class = 'sample' "
                                "OR class = 'tracepoint' AND kind IN ('syscalls:sys_enter_getppid', 'syscalls:sys_exit_getppid') GROUP BY 1", "--once",
                                command=(os.path.join(FIXTURES, "fixture_getppid_loop"), "200000", "5"))
        rows = {name: (events, triggers) for name, events, triggers in answer["rows"]}
        self.assertEqual(rows["syscall"], (200000, 200000))
        self.assertEqual(rows["tracepoint"], (400000, 400000))

    def test_targets_beside_the_question(self):
        loop = (os.path.join(FIXTURES, "fixture_getppid_loop"), "1000", "5")
        [answer] = self.answers("SELECT class, kind, count(*) FROM v_event WHERE kind GLOB '*getppid' GROUP BY 1, 2 ORDER BY 1", "--once",
                                "-t", "tracepoint:syscalls:sys_enter_getppid", command=loop)
        self.assertEqual(answer["rows"], [["syscall", "getppid", 1000], ["tracepoint", "syscalls:sys_enter_getppid", 1000]])
        # What -t names of a class is all that is traced of it.
        [answer] = self.answers("SELECT kind, count(*) FROM v_event WHERE class = 'tracepoint' GROUP BY 1", "--once",
                                "-t", "tracepoint:syscalls:sys_exit_getppid", command=loop)
        self.assertEqual(answer["rows"], [["syscalls:sys_exit_getppid", 1000]])

    def refused(self, question, *target):
        done = subprocess.run([USCOPE, "query", question, *(target or ("--", "/bin/true"))], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), question)
        return done.stderr

    def test_a_question_that_asks_for_too_much_or_nothing_is_refused(self):
        count = "SELECT count(*) FROM v_event WHERE class = "
        self.assertRegex(self.refused(count + "'tracepoint'"), r"asks for [0-9,]+ probes, and without --all-matches uscope attaches at most 1,000")
        self.assertIn("no application is known", self.refused(count + "'ufunction'", "--all"))
        self.assertIn("AND kind GLOB 'libc.so.6:malloc*'", self.refused(count + "'ufunction' AND kind LIKE '%malloc%'", "--all"))
        self.assertIn("did you mean syscalls:sys_enter_getpid", self.refused(count + "'tracepoint' AND kind = 'syscalls:sys_enter_getpid_'"))
        self.assertIn("kinds are called FILE:FUNCTION", self.refused(count + "'ufunction' AND kind = 'libc.so.6:nothing_is_called_so_at_all'"))
        self.assertIn("no file is called 'no_such_file'", self.refused(count + "'ufunction' AND kind = 'no_such_file:main'"))
        self.assertIn("cannot be told which kinds", self.refused("WITH e AS (SELECT * FROM v_event WHERE class = 'usdt') SELECT count(*) FROM e"))
        self.assertIn("is not a target", self.refused("SELECT count(*) FROM v_event", "-t", "nothing:x", "--", "/bin/true"))


SUMMED = "summed at each event"
BY_EVENT = "asked event by event"
# {0} is the scope.
QUESTIONS = (
    (SUMMED, "SELECT class, kind, count(*) FROM v_event WHERE {0} GROUP BY 1, 2"),
    (SUMMED, 'SELECT kind, "trigger", trigger_module, count(*) FROM v_event WHERE {0} GROUP BY 1, 2, 3'),
    (SUMMED, "SELECT kind, how, errno, count(*), count(errno) FROM v_event WHERE {0} GROUP BY 1, 2, 3"),
    (SUMMED, "SELECT process, thread, count(*) FROM v_event WHERE {0} GROUP BY 1, 2"),
    (SUMMED, "SELECT kind, sum(a0 % 1000), min(a1), max(a2), avg(a3 % 64), hist(a0), quantile(a2, 0.5) FROM v_event WHERE {0} GROUP BY 1"),
    (SUMMED, "SELECT a0 & 15 AS low, a1 > 100, count(*) FROM v_event WHERE ({0}) AND a0 <> 3 GROUP BY 1, 2"),
    (SUMMED, "SELECT kind, typeof(max(a0 * 4611686018427387904)), min(a2 * 4611686018427387904) FROM v_event WHERE {0} GROUP BY 1"),
    (SUMMED, "SELECT count(*) FILTER (WHERE ts_ns > 0), count(DISTINCT kind), count(DISTINCT \"trigger\") FROM v_event WHERE {0}"),
    (None, "SELECT kind, folded, depth, ended, count(*) FROM v_event WHERE {0} GROUP BY 1, 2, 3, 4"),
    (BY_EVENT, 'SELECT kind, how, a0, a2, "trigger", depth FROM v_event WHERE {0}'),
)
# Options of `record`, the scope, the command. Static programs: their addresses are the same each time.
ASKED = os.path.join(FIXTURES, "fixture_asked")
PROBES = {
    "ufunction": ([f"ufunction:{ASKED}:ask_kernel", f"ufunction:{ASKED}:deep"],
                  "class = 'ufunction' AND kind IN ('fixture_asked:ask_kernel', 'fixture_asked:deep')", (ASKED, "tame", ASKED)),
    "tracepoint": (["tracepoint:syscalls:sys_enter_lseek", "tracepoint:syscalls:sys_exit_lseek", "tracepoint:syscalls:sys_enter_write"],
                   "class = 'tracepoint' AND (kind GLOB 'syscalls:sys_*_lseek' OR kind = 'syscalls:sys_enter_write')", (ASKED, "tame", ASKED)),
    "usdt": (["usdt:libstdc++:libstdcxx:throw", "usdt:libstdc++:libstdcxx:catch"],
             "class = 'usdt' AND kind GLOB 'libstdc++*:libstdcxx:*' AND kind NOT LIKE '%rethrow'", (os.path.join(FIXTURES, "fixture_exceptions"),)),
}
NO_RANDOM_PLACES = 0x0040000  # personality(2): for what is not static


def same_places():
    ctypes.CDLL(None).personality(NO_RANDOM_PLACES)


class LiveEqualsStored(AttachCase):
    def query(self, *words):
        done = subprocess.run([USCOPE, "query", *words], preexec_fn=same_places, capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertNotIn("LOST", done.stderr)
        return done.stdout

    def test_functions_whose_durations_are_asked_for_last_to_their_return(self):
        db = self.path("returns.db")
        done = subprocess.run([USCOPE, "record", "-q", "-e", "none", "-t", f"ufunction:{ASKED}:handle%return", "-t", f"ufunction:{ASKED}:deep%return", "-o", db,
                               "--", ASKED, "tame", ASKED], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        scope = "class = 'ufunction' AND kind IN ('fixture_asked:handle', 'fixture_asked:deep')"
        for question in ('SELECT kind, how, "trigger", count(*), count(dur_ns), min(dur_ns) >= 0, sum(a0 % 64) FROM v_event WHERE {0} GROUP BY 1, 2, 3',
                         "SELECT kind, how, folded, dur_ns > 0, a0 FROM v_event WHERE {0}",
                         "SELECT kind, how, count(result), sum(result) FROM v_event WHERE {0} GROUP BY 1, 2"):
            stored = sorted(csv.reader(io.StringIO(self.query(db, "--format", "csv", question.format(scope)))))
            self.assertIn("returned", str(stored))
            live = self.query("--once", "--format", "csv", question.format(scope), "--", ASKED, "tame", ASKED)
            self.assertEqual(sorted(csv.reader(io.StringIO(live))), stored)

    def test_an_argument_that_is_not_in_memory_is_not_known(self):
        """In a trace, where events are printed, in sums that the kernel makes, and event by event."""
        unread = os.path.join(FIXTURES, "fixture_unread")
        db = self.path("unread.db")
        printed = subprocess.run([USCOPE, "record", "-q", "-e", "none", "-t", f"usdt:{unread}:uscope_tests:reads", "-o", db,
                                  "--keep-raw", self.path("unread.raw"), "--", unread], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        raw = subprocess.run([USCOPE, "raw", self.path("unread.raw")], capture_output=True, text=True, timeout=WAIT, check=True).stdout
        self.assertEqual(re.findall(r"^\d+ hit .* args=\[(0x\w+) .* unread=(0x\w+)", raw, re.MULTILINE), [("0x2a", "0x0"), ("0x0", "0x1"), ("0x0", "0x0")])
        printed = subprocess.run([USCOPE, "events", db], capture_output=True, text=True, timeout=WAIT, check=True)
        self.assertEqual([line.rpartition(":reads")[2] for line in printed.stdout.splitlines()], ["(arg0=42)", "(arg0=?)", "(arg0=0)"])
        told = subprocess.run([USCOPE, "events", "--format", "json", db], capture_output=True, text=True, timeout=WAIT, check=True)
        events = json.loads(told.stdout)["events"]
        self.assertEqual([event["args"][0] for event in events], ["0x2a", None, "0x0"])
        self.assertEqual([event["args"][1:] for event in events], [["0x0"] * 5] * 3)
        with contextlib.closing(sqlite3.connect(db)) as store:
            self.assertEqual(store.execute("SELECT value, typeof(value) FROM v_argument ORDER BY event_id").fetchall(),
                             [(42, "integer"), (None, "null"), (0, "integer")])
        scope = "class = 'usdt' AND kind = 'fixture_unread:uscope_tests:reads'"
        for way, question, rows in ((BY_EVENT, "SELECT a0, a0 IS NULL FROM v_event WHERE {0}", [["", "1"], ["0", "0"], ["42", "0"]]),
                                    (SUMMED, "SELECT count(*), count(a0), sum(a0), min(a0) FROM v_event WHERE {0}", [["3", "2", "42", "0"]]),
                                    (SUMMED, "SELECT count(*) FROM v_event WHERE ({0}) AND a0 IS NULL", [["1"]])):
            text = question.format(scope)
            self.assertTrue(self.query("--explain", text).startswith(way), text)
            for target in ((db, text), ("--once", text, "--", unread)):
                with self.subTest(target=target):
                    answer = list(csv.reader(io.StringIO(self.query("--format", "csv", *target))))
                    self.assertEqual(sorted(answer[1:]), rows)

    def test_each_question_of_each_class(self):
        for name, (targets, scope, words) in PROBES.items():
            db = self.path(name + ".db")
            options = [word for target in targets for word in ("-t", target)]
            done = subprocess.run([USCOPE, "record", "-q", "-e", "none", *options, "-o", db, "--", *words], preexec_fn=same_places,
                                  capture_output=True, text=True, timeout=WAIT, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            for way, question in QUESTIONS if SLOWNESS == 1 else QUESTIONS[::3]:  # in guests each takes long
                with self.subTest(source=name, question=question):
                    text = question.format(scope)
                    way = way or (BY_EVENT if name == "tracepoint" else SUMMED)
                    self.assertTrue(self.query("--explain", text).startswith(way))
                    stored = sorted(csv.reader(io.StringIO(self.query(db, "--format", "csv", text))))
                    self.assertGreater(len(stored), 1)
                    live = self.query("--once", "--format", "csv", text, "--", *words)
                    self.assertEqual(sorted(csv.reader(io.StringIO(live))), stored)


if __name__ == "__main__":
    unittest.main(verbosity=2)
