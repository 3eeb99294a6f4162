#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope query` of running programs: intervals add up, losses are counted and stand above the answer, and every end is an orderly one.
Needs root and a backend; usage: live_sessions.py USCOPE FIXTURES"""
import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT, children_of  # noqa: E402
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

COUNT = "SELECT count(*) FROM v_event WHERE kind = 'getppid'"
OF_PROGRAM = (COUNT + " AND process = 'fixture_many_stacks'",
              "SELECT count(*) FROM (SELECT kind, process FROM v_event) WHERE kind = 'getppid' AND process = 'fixture_many_stacks'")
PROGRAM = os.path.join(FIXTURES, "fixture_many_stacks")
CALLS = 1_500_000
SLOW_LOOP = "import os, time\nwhile True: os.getppid(); time.sleep(0.001)"


class LiveSessions(AttachCase):
    def query(self, *words, **kwargs):
        kwargs.setdefault("stdout", subprocess.PIPE)
        session = self.start(USCOPE, "query", *BACKEND_OPTIONS, "--format", "json", *words, stderr=subprocess.PIPE, text=True, **kwargs)
        self.addCleanup(session.stderr.close)
        return session

    def answers(self, session, code=0):
        out, said = session.communicate(timeout=WAIT)
        self.assertEqual(session.returncode, code, said)
        return [json.loads(line) for line in out.splitlines()]

    def test_intervals_add_up(self):
        for question in OF_PROGRAM:
            with self.subTest(question=question):
                session = self.query("--every", "100ms", question, "--", "sh", "-c", f"{PROGRAM} 50000 10 >/dev/null; sleep 0.3; {PROGRAM} 50000 10 >/dev/null")
                answers = self.answers(session)
                self.assertGreater(len(answers), 1)
                self.assertEqual(sum(answer["lost"] for answer in answers), 0)
                self.assertEqual(sum(answer["rows"][0][0] for answer in answers), 100000)
                for before, behind in zip(answers, answers[1:]):
                    self.assertEqual(before["until_ns"], behind["from_ns"])

    def test_each_answer_is_of_its_interval_alone(self):
        """Programs that run one behind the other: their names, functions and events are in the answers of their own intervals, and nothing
        is in those between."""
        of_both = "kind IN ('getppid', 'lseek') AND process LIKE 'fixture%'"
        script = (f"{PROGRAM} 20000 10 >/dev/null; sleep 0.7; {os.path.join(FIXTURES, 'fixture_asked')} keys 100 20000 20 >/dev/null; sleep 0.7; "
                  f"{PROGRAM} 10000 3 >/dev/null")
        summed = f"SELECT process, kind, \"trigger\", count(*) FROM v_event WHERE {of_both} GROUP BY 1, 2, 3"
        for question in (summed, f"SELECT * FROM ({summed})"):
            with self.subTest(question=question):
                whole, = self.answers(self.query("--once", question, "--", "sh", "-c", script))
                answers = self.answers(self.query("--every", "200ms", question, "--", "sh", "-c", script))
                calls = {}
                for answer in answers:
                    self.assertEqual(answer["lost"], 0)
                    self.assertLess(len({row[0] for row in answer["rows"]}), 2, answer)
                    for process, kind, _, count in answer["rows"]:
                        calls[process, kind] = calls.get((process, kind), 0) + count
                self.assertEqual(calls, {("fixture_many_stacks", "getppid"): 30000, ("fixture_asked", "lseek"): 20000})
                self.assertIn([], [answer["rows"] for answer in answers])
                # A stack that is not known in time has no function.
                functions = {(row[0], row[2]) for answer in answers for row in answer["rows"] if row[2] is not None}
                self.assertLessEqual(functions, {(row[0], row[2]) for row in whole["rows"]})

    def test_the_interval_of_a_call_that_waits(self):
        """The one in which it began, where nothing of its end is asked for; else the one in which it ended."""
        for column, place in (("count(*)", 0), ("count(result)", -1)):
            with self.subTest(column=column):
                question = f"SELECT {column} FROM v_event WHERE kind = 'clock_nanosleep'"
                counts = [answer["rows"][0][0] for answer in self.answers(self.query("--every", "500ms", question, "--", "sleep", "2.25"))]
                self.assertGreater(len(counts), 2)
                self.assertEqual((sum(counts), counts[place]), (1, 1), counts)

    def test_what_is_lost_is_counted_in_events(self):
        for question in OF_PROGRAM:
            with self.subTest(question=question):
                script = f"kill -STOP $PPID; {PROGRAM} {CALLS} 1 >/dev/null; kill -CONT $PPID"
                session = self.query("--once", "-e", "getppid", question, "--", "sh", "-c", script)
                answer, = self.answers(session)
                if question == OF_PROGRAM[0]:  # summed in the kernel: no ring has to hold its events
                    self.assertEqual(answer["lost"], 0)
                else:
                    self.assertGreater(answer["lost"], 0)
                self.assertEqual(answer["rows"][0][0] + answer["lost"], CALLS)

    @unittest.skipIf(BACKEND or SLOWNESS > 1, "a guest, which is told its backend, takes minutes for a million keys")
    def test_a_million_keys(self):
        # The kernel keeps some 70,000 until they are fetched: whoever fetches them may have no CPU for a quarter of a second.
        keys, calls, wait_ms = 1_000_000, 1_200_000, 60
        session = self.query("--once", "-e", "lseek",
                             "SELECT count(DISTINCT a1), sum(a1), max(a1), count(*) FROM v_event WHERE kind = 'lseek' AND errno = 'EBADF'",
                             "--", os.path.join(FIXTURES, "fixture_asked"), "keys", str(keys), str(calls), str(wait_ms))
        answer, = self.answers(session)
        self.assertEqual(answer["lost"], 0)
        again = calls - keys
        self.assertEqual(answer["rows"], [[keys, keys * (keys - 1) // 2 + again * (again - 1) // 2, keys - 1, calls]])

    def test_a_process_that_ends(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("-p", str(loop.pid), COUNT)
        self.assertIn('"rows"', session.stdout.readline())
        loop.kill()
        loop.wait()
        self.assertTrue(self.answers(session))

    def test_the_first_answer_comes_soon_after_its_interval(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("-p", str(loop.pid), 'SELECT "trigger", count(*) FROM v_event GROUP BY 1')
        answer = json.loads(session.stdout.readline())
        late = time.monotonic_ns() - answer["until_ns"]
        session.send_signal(signal.SIGINT)
        self.answers(session)
        self.assertGreater(answer["events"], 0)
        self.assertLess(late / 1e9, 1.5 * SLOWNESS)  # 0.5 s on a machine that does nothing else

    def test_an_interrupt_tells_the_last_answer(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        # Nothing shows from outside that tracing has begun. Where that takes long, the interrupt comes before it, and uscope says so, or
        # comes even before uscope asks for signals, and ends it.
        for seconds in (1, 5, 25):
            session = self.query("-p", str(loop.pid), "--every", "1h", COUNT)
            time.sleep(seconds)
            session.send_signal(signal.SIGINT)
            out, said = session.communicate(timeout=WAIT)
            if said.strip() != "uscope: interrupted before tracing began" and (session.returncode, said) != (-signal.SIGINT, ""):
                break
        self.assertEqual(session.returncode, 0, said)
        answer = json.loads(out)
        self.assertGreater(answer["rows"][0][0], 0)

    def test_a_time_that_is_over(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        began = time.monotonic()
        answers = self.answers(self.query("-p", str(loop.pid), "--for", "1500ms", "--every", "500ms", COUNT))
        self.assertLess(time.monotonic() - began, WAIT)
        self.assertEqual(len(answers), 3)

    def test_a_tracer_that_is_killed_leaves_no_process(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("-p", str(loop.pid), COUNT)
        session.stdout.readline()
        helpers = children_of(session.pid)
        self.assertTrue(helpers)
        session.kill()
        session.wait()
        self.wait_for(lambda: not [pid for pid in helpers if os.path.exists(f"/proc/{pid}")], "a helper lives on")

    def test_an_answerer_that_is_killed_is_told_of(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("-p", str(loop.pid), COUNT)
        session.stdout.readline()
        answerer, = [pid for pid in children_of(session.pid) if self.name_of(pid) == "uscope"]
        os.kill(answerer, signal.SIGKILL)
        _, said = session.communicate(timeout=WAIT)
        self.assertEqual(session.returncode, 2)
        self.assertIn("the process that answers was killed", said)

    @staticmethod
    def name_of(pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as name:
            return name.read().strip()

    def test_a_reader_that_goes_ends_it(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("-p", str(loop.pid), "--every", "100ms", COUNT)
        session.stdout.readline()
        session.stdout.close()
        self.assertEqual(session.wait(WAIT), 0)
        session.stdout = None

    def test_an_error_of_the_question_ends_it(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        # Each sum is beyond 64 bits, and no single number is.
        session = self.query("-p", str(loop.pid), "SELECT sum(result | 4611686018427387904) FROM v_event WHERE kind = 'getppid'")
        out, said = session.communicate(timeout=WAIT)
        self.assertEqual((session.returncode, out), (2, ""))
        self.assertIn("integer overflow", said)

    def test_answers_are_kept_in_a_file(self):
        session = self.query("--every", "200ms", "-o", self.db, "SELECT kind, count(*), count(*) FROM v_event GROUP BY kind", "--",
                             "sh", "-c", "sleep 1")
        answers = self.answers(session)
        kept = self.rows("SELECT * FROM answer ORDER BY rowid")
        self.assertEqual([list(row[3:]) for row in kept], [row for answer in answers for row in answer["rows"]])
        self.assertEqual({row[:3] for row in kept}, {(a["from_ns"], a["until_ns"], a["lost"]) for a in answers if a["rows"]})
        self.assertEqual(self.rows("SELECT value FROM fact WHERE name = 'target'"), [("sh",)])
        again = self.query("--once", "-o", self.db, COUNT, "--", "true")
        self.assertIn("--force", again.communicate(timeout=WAIT)[1])
        self.assertEqual(again.returncode, 2)
        self.answers(self.query("--once", "--force", "-o", self.db, COUNT, "--", "true"))
        self.assertEqual(self.rows("SELECT count(*) FROM answer"), [(1,)])
        self.assertEqual(os.listdir(self.folder.name), ["trace.db"])

    def test_all_processes_of_the_machine(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        session = self.query("--all", "SELECT pid, count(*) FROM v_event WHERE kind IN ('getppid', 'execve') GROUP BY pid")
        session.stdout.readline()
        later = self.start("sh", "-c", "exec sleep 0.1")
        later.wait()
        pids = {row[0] for row in json.loads(session.stdout.readline())["rows"]}
        pids |= {row[0] for row in json.loads(session.stdout.readline())["rows"]}
        session.send_signal(signal.SIGINT)
        self.answers(session)
        self.assertLessEqual({loop.pid, later.pid}, pids)
        self.assertNotIn(session.pid, pids)

    def test_on_a_terminal_q_quits_and_the_last_answer_stays(self):
        loop = self.start(sys.executable, "-c", SLOW_LOOP)
        time.sleep(0.3)
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        session = self.start(USCOPE, "query", *BACKEND_OPTIONS, "-p", str(loop.pid), "--every", "200ms",
                             "SELECT kind, count(*) AS calls FROM v_event GROUP BY kind", stdin=theirs, stdout=theirs,
                             stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        seen = bytearray()

        def shows(text):
            if select.select([ours], [], [], 0)[0]:
                with contextlib.suppress(OSError):
                    seen.extend(os.read(ours, 65536))
            return text in seen

        self.wait_for(lambda: shows(b"getppid"), "no answer")
        self.assertIn(b"q quit", seen)
        os.write(ours, b"p")
        self.wait_for(lambda: shows(b"PAUSED"), "no pause")
        os.write(ours, b"q")
        left = b"\x1b[?1049l"  # xterm's other screen
        self.wait_for(lambda: shows(left) and shows(b"\n") and session.poll() is not None, "no end")
        shows(b"")
        self.assertEqual(session.returncode, 0)
        self.assertIn(b"getppid", seen.split(left)[-1])
        os.close(ours)

    def test_a_command_that_is_not_there(self):
        session = self.query("--once", COUNT, "--", "/no/such/program")
        _, said = session.communicate(timeout=WAIT)
        self.assertEqual(session.returncode, 2)
        self.assertIn("/no/such/program", said)


if __name__ == "__main__":
    unittest.main()
