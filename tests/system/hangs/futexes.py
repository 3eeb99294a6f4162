#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What futex calls wait for: tests/fixtures/futexes.c says it of its own. Needs root and BPF (or the module).

usage: futexes.py USCOPE FIXTURE"""
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
SECOND = 1_000_000_000


class Futexes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-futexes-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.database, said = cls.record()
        cls.said = [line.split() for line in said.splitlines()]
        cls.waits = {}
        rows = cls.database.execute(
            "SELECT futex_wait.*, kind.name AS call, event.how FROM futex_wait JOIN event ON event.id = event_id JOIN kind ON kind.id = kind_id "
            "JOIN thread ON thread.id = thread_id ORDER BY event.ts_ns").fetchall()
        cls.wait_rows = rows
        for line, row in zip(cls.said, rows):
            cls.waits[line[0]] = row

    @classmethod
    def record(cls, *options, command=(FIXTURE,)):
        path = os.path.join(cls.folder.name, "trace.db")
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, *options, "-o", path, "--", *command], capture_output=True, text=True,
                              timeout=60 * SLOWNESS, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        database.row_factory = sqlite3.Row
        cls.addClassCleanup(database.close)
        return database, done.stdout

    def test_nothing_is_lost(self):
        self.assertEqual(self.database.execute("SELECT cause FROM loss").fetchall(), [])

    def test_each_wait_has_a_row(self):
        self.assertGreaterEqual(len(self.said), 15)
        self.assertEqual(len(self.wait_rows), len(self.said))

    def test_address_operation_and_expected_value(self):
        for name, address, op, expected, *_ in self.said:
            row = self.waits[name]
            with self.subTest(name):
                self.assertEqual((row["address"], row["op"], row["expected"]), (int(address), int(op), int(expected)))

    def test_words_around_the_address(self):
        for name, _, _, _, start, words, _ in self.said:
            row = self.waits[name]
            with self.subTest(name):
                if words == "-":
                    self.assertIsNone(row["words"])
                else:
                    self.assertEqual((row["words_from"], row["words"].hex().upper()), (int(start), words))

    def test_keys_are_equal_where_the_futex_is_the_same(self):
        keys = {name: self.waits[name]["key"] for name, *_ in self.said}
        known = {name: key for name, key in keys.items() if name != "unmapped"}
        self.assertNotIn(None, known.values())
        same = {name: (name if other == "-" else other) for name, *_, other in self.said}
        for name in known:
            for other in known:
                with self.subTest(f"{name}, {other}"):
                    self.assertEqual(keys[name] == keys[other], same[name] == same[other])
        shared = {name for name, key in known.items() if key.startswith("file:")}
        self.assertEqual(shared, {"shared", "shared_again", "shared_child"})

    def test_timeouts(self):
        self.assertEqual(self.waits["relative"]["timeout_ns"], SECOND + 500)
        for name, seconds in (("absolute", 5), ("real", 7), ("waitv", 5), ("wait_call", 5)):
            with self.subTest(name):
                self.assertLessEqual(self.waits[name]["timeout_ns"], seconds * SECOND + SECOND // 100)
                self.assertGreater(self.waits[name]["timeout_ns"], (seconds - 2) * SECOND)
        for name in ("private", "not_shared", "priority", "shared"):
            self.assertIsNone(self.waits[name]["timeout_ns"])

    def test_timeouts_in_a_time_namespace(self):
        """The clock that absolute ones are of is 100,000 s before the host's there."""
        database, said = self.record(command=("unshare", "--time", "--monotonic=100000", "--fork", FIXTURE))
        names = [line.split()[0] for line in said.splitlines()]
        rows = database.execute("SELECT timeout_ns FROM futex_wait JOIN event ON event.id = event_id ORDER BY event.ts_ns").fetchall()
        self.assertEqual(len(rows), len(names))
        left = dict(zip(names, (row["timeout_ns"] for row in rows)))
        self.assertEqual(left["relative"], SECOND + 500)
        for name, seconds in (("absolute", 5), ("real", 7), ("waitv", 5), ("wait_call", 5)):
            with self.subTest(name):
                self.assertLessEqual(left[name], seconds * SECOND + SECOND // 100)
                self.assertGreater(left[name], (seconds - 2) * SECOND)

    def test_a_timeout_in_a_time_namespace_that_is_met_under_way(self):
        script = "import threading; lock = threading.Lock(); lock.acquire(); print(flush=True); lock.acquire(timeout=100)"
        path = os.path.join(self.folder.name, "attached.db")
        with subprocess.Popen(["unshare", "--time", "--monotonic=100000", "--fork", "--kill-child", "/usr/bin/python3", "-c", script],
                              stdout=subprocess.PIPE) as waiter:
            try:
                waiter.stdout.readline()
                time.sleep(0.5 * SLOWNESS)
                done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--duration", "1s", "-o", path, "--pid", str(waiter.pid)],
                                      capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
            finally:
                waiter.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.addCleanup(database.close)
        [(left,)] = database.execute("SELECT timeout_ns FROM futex_wait").fetchall()
        self.assertLessEqual(left, 100 * SECOND)
        self.assertGreater(left, 30 * SECOND)

    def test_calls_of_several_futexes(self):
        self.assertEqual((self.waits["waitv"]["call"], self.waits["waitv"]["futexes"]), ("futex_waitv", 2))
        self.assertEqual(self.waits["wait_call"]["call"], "futex_wait")
        self.assertEqual(self.waits["private"]["futexes"], 1)

    def test_wakes_of_shared_memory_have_its_key(self):
        rows = self.database.execute("SELECT address, count, key, kind.name FROM futex_wake JOIN event ON event.id = event_id "
                                     "JOIN kind ON kind.id = kind_id ORDER BY event_id").fetchall()
        shared = [row for row in rows if row["key"] == self.waits["shared"]["key"]]
        self.assertEqual([(row["address"], row["count"]) for row in shared], [(self.waits["shared_child"]["address"], 3)])
        self.assertIn((self.waits["absolute"]["address"], 4, self.waits["absolute"]["key"], "futex_wake"), [tuple(row) for row in rows])
        # Those of one process alone are told by their events.
        private = self.database.execute("SELECT count(*) FROM event JOIN kind ON kind.id = kind_id WHERE name = 'futex' AND a1 = 129 AND a2 = 3 "
                                        "AND event.id NOT IN (SELECT event_id FROM futex_wake)").fetchone()[0]
        self.assertEqual(private, 1)

    def test_waits_are_told_of_without_strings_too(self):
        database, said = self.record("--no-strings")
        self.assertEqual(database.execute("SELECT count(*) FROM futex_wait WHERE words IS NOT NULL").fetchone()[0],
                         sum(1 for line in said.splitlines() if line.split()[5] != "-"))


if __name__ == "__main__":
    unittest.main()
