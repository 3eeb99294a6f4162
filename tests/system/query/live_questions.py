#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Random questions of a program while it runs, against the answers that SQLite gives over a recording of the same program. The questions are
those of unit.query: of its calls, of functions that it calls, and of tracepoints. USCOPE_QUERY_QUESTIONS is how many of calls (30 unless told;
in guests 8; a third as many of the others), USCOPE_QUERY_SEED the seed. Needs root and a backend; usage: live_questions.py USCOPE FIXTURES RANDOM_QUESTIONS"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

RANDOM_QUESTIONS = os.path.abspath(sys.argv.pop(3))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS  # noqa: E402

QUESTIONS = int(os.environ.get("USCOPE_QUERY_QUESTIONS", 30))
SEED = os.environ.get("USCOPE_QUERY_SEED", "1")
CALLS = "read,write,openat,lseek,close,exit_group"  # all of them are the fixture's own
# Of what else is asked: options of `record`, and the condition that chooses the same.
HITS = {
    "ufunction": (["ufunction:{}:ask_kernel%return", "ufunction:{}:deep%return"], "class = 'ufunction' AND kind IN ('nginx:ask_kernel', 'nginx:deep')"),
    "tracepoint": (["tracepoint:syscalls:sys_enter_lseek", "tracepoint:syscalls:sys_exit_lseek", "tracepoint:syscalls:sys_enter_write"],
                   "class = 'tracepoint' AND (kind GLOB 'syscalls:*_lseek' OR kind = 'syscalls:sys_enter_write')"),
}
# What is another in each run, and what stands in its place.
SAME_EACH_TIME = {"ts_ns": "a2", "dur_ns": "result", "pid": "depth", "tid": "a1", "stack_id": "a3"}
OVERFLOW = "integer overflow"
RULED_OUT = "has a name for which WHERE may hold"  # of hits: nothing would be traced


def repeatable(question):
    return re.sub(r"\b(" + "|".join(SAME_EACH_TIME) + r")\b", lambda word: SAME_EACH_TIME[word[0]], question)


def as_recorded(recorded, question):
    """The options of the recording that has what a question makes uscope attach: functions last to their return where it names a result."""
    return recorded if re.search(r"\bresult\b", question, re.IGNORECASE) else [word.removesuffix("%return") for word in recorded]


def narrowed(question, condition):
    """The same of these events alone."""
    head, source, tail = question.partition(" FROM v_event")
    alias = " AS e" if tail.startswith(" AS e") else ""
    tail = tail[len(alias):]
    if tail.startswith(" WHERE "):
        tail = " AND " + tail[len(" WHERE "):]
    return f"{head}{source}{alias} WHERE ({condition}){tail}"


def equal_values(one, other, wild):
    """To the last digit. Where numbers of all sizes are, an integer and a REAL may be one group, which is shown by the one or the other:
    tests/unit/query/plan/oracle_test.cpp says the same."""
    if type(one) is not type(other) and wild:
        return None not in (one, other) and not isinstance(one, (str, list, dict)) and not isinstance(other, (str, list, dict)) and one == other
    return type(one) is type(other) and one == other


def equal_rows(rows, others, wild, in_order):
    """Each row of the one has a row of the other: the same one if they are in order."""
    left = list(others)
    if len(rows) != len(left):
        return False
    for row in rows:
        places = range(1) if in_order else range(len(left))
        found = next((at for at in places if all(equal_values(a, b, wild) for a, b in zip(row, left[at]))), None)
        if found is None:
            return False
        del left[found]
    return True


class LiveQuestions(AttachCase):
    def answer(self, *words):
        """Its rows, or SQLite's words on why there are none."""
        done = subprocess.run([USCOPE, "query", "--format", "json", *words], capture_output=True, text=True, timeout=WAIT, check=False)
        if done.returncode != 0:
            for why in (OVERFLOW, RULED_OUT):
                if why in done.stderr:
                    return why
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        answer = json.loads(done.stdout)
        self.assertFalse(answer.get("lost"), words)
        return answer["rows"]

    def test_live_answers_are_those_of_a_recording(self):
        self.assertGreaterEqual(self.ask(QUESTIONS, ["-e", CALLS], ["-e", CALLS], lambda question: question) * 2, QUESTIONS)

    @unittest.skipIf(BACKEND == "kmod", "the module has no probes")
    def test_live_answers_about_hits_are_those_of_a_recording(self):
        for name, (targets, condition) in HITS.items():
            options = [word for target in targets for word in ("-t", target.format(self.path("nginx")))]
            answered = self.ask(QUESTIONS // 3, ["-e", "none", *options], [], lambda question, condition=condition: narrowed(question, condition))
            self.assertGreater(answered, 0)

    def ask(self, count, recorded, asked, made_of):
        """How many questions had rows for an answer."""
        names = [self.path(name) for name in ("nginx", "php")]
        for name in names:
            shutil.copy(os.path.join(FIXTURES, "fixture_asked"), name)
        stores = {}

        def store_of(how, options):
            if (how, *options) not in stores:
                stores[how, *options] = path = self.path(f"{len(stores)}.db")
                said = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, *options, "-o", path, "--", names[0], how, names[1]],
                                      capture_output=True, text=True, timeout=WAIT, check=False)
                self.assertEqual(said.returncode, 0, said.stderr)
            return stores[how, *options]

        made = subprocess.run([RANDOM_QUESTIONS, str(count), SEED], capture_output=True, text=True, check=True).stdout
        summed, answered = 0, 0
        for number, question in enumerate(made_of(repeatable(line)) for line in made.splitlines()):
            how = "wild" if number % 2 else "tame"
            with self.subTest(seed=SEED, number=number, how=how, question=question):
                stored = self.answer(store_of(how, as_recorded(recorded, question)), question)
                live = self.answer(*BACKEND_OPTIONS, "--once", *asked, question, "--", names[0], how, names[1])
                summed += "summed at each event" in subprocess.run([USCOPE, "query", "--explain", question], capture_output=True, text=True, check=True).stdout
                if live == RULED_OUT:
                    self.assertLessEqual(len(stored), 1)  # nothing, or one row of no events
                    continue
                answered += live not in (OVERFLOW, [])
                same = live == stored or equal_rows(live, stored, how == "wild", how == "tame" and " ORDER BY " in question)
                self.assertTrue(same, f"\nlive:   {live}\nstored: {stored}")
        print(f"{count} questions (seed {SEED}): {summed} summed in the kernel, {answered} with rows")
        self.assertGreater(summed, 0)
        return answered


if __name__ == "__main__":
    unittest.main()
