#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Real programs with `record -t`: what they print and do is as without probes, hits are those that gdb's breakpoints count, texts and stacks
belong to them. Needs root, gdb, sqlite3 and redis; usage: probe_programs.py USCOPE FIXTURE_FOLDER"""
import collections
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402

USCOPE, FIXTURES = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
TIMEOUT = 120 * SLOWNESS
SQL = "create table numbers(a); insert into numbers values (1), (2), (3); select sum(a) from numbers"
C_LIBRARY = "/lib/x86_64-linux-gnu/libc.so.6"


def command(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=True, **options)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-probes-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "trace.db")

    def record(self, targets, *words, **options):
        """Only what the targets bring; returns what the program printed."""
        arguments = [word for target in targets for word in ("-t", target)]
        done = command(USCOPE, "record", "-q", "-e", "none", "--all-matches", "-o", self.path, *arguments, *words, **options)
        self.assertNotIn("lost", done.stderr)
        return done.stdout

    def rows(self, question):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        self.addCleanup(database.close)
        return database.execute(question).fetchall()

    def counts(self):
        return collections.Counter(dict(self.rows("SELECT kind, count(*) FROM v_event GROUP BY kind")))

    def breakpoints(self, functions, *words):
        asked = [word for name in functions for word in ("-ex", f"break {name}", "-ex", "ignore $bpnum 1000000")]
        told = command("gdb", "-nx", "-batch", "-ex", "set breakpoint pending on", *asked, "-ex", "run", "-ex", "info breakpoints", "--args", *words)
        found = re.findall(r"<(\w+)(?:\+\d+)?>\s+breakpoint already hit (\d+) time", told.stdout)
        return {name: int(count) for name, count in found}

    def test_functions_of_a_library_are_hit_as_often_as_breakpoints(self):
        words = ("sqlite3", "-batch", ":memory:", SQL)
        printed = self.record(["ufunction:libsqlite3:sqlite3_*"], "--", *words)
        self.assertEqual(printed, command(*words).stdout)
        counts = {name.split(":")[1]: count for name, count in self.counts().items()}
        functions = ("sqlite3_step", "sqlite3_prepare_v2", "sqlite3_open_v2", "sqlite3_close", "sqlite3_column_text")
        told = self.breakpoints(functions, *words)
        self.assertGreater(told["sqlite3_step"], 3)
        self.assertEqual({name: counts[name] for name in told}, told)
        # Each stack ends where the program begins.
        self.assertEqual(self.rows("SELECT DISTINCT ended FROM v_event"), [("root",)])

    def test_probes_that_authors_made_tell_of_exceptions(self):
        self.record(["usdt:libstdc++:libstdcxx:throw", "usdt:libstdc++:libstdcxx:catch"], "--", os.path.join(FIXTURES, "fixture_exceptions"))
        self.assertEqual(sorted(self.counts().values()), [3, 3])
        stacks = {folded.split(";")[0] for folded, in self.rows("SELECT folded FROM v_event WHERE kind LIKE '%:throw'")}
        self.assertEqual(len(stacks), 1)

    def test_all_functions_of_a_copy_of_the_c_library(self):
        library = os.path.join(self.folder, "libc.so.6")
        shutil.copy(os.path.realpath(C_LIBRARY), library)
        environment = dict(os.environ, LD_LIBRARY_PATH=self.folder, LC_ALL="C")
        words = ("ls", "-la", "/usr/share")
        printed = self.record([f"ufunction:{library}:*"], "--", *words, env=environment)
        self.assertEqual(printed, command(*words, env=environment).stdout)
        counts = self.counts()
        self.assertGreater(len(counts), 100)
        self.assertGreater(counts["libc.so.6:malloc"], 10)
        shutil.rmtree(library, ignore_errors=True)

    def test_a_server_goes_on_when_its_probes_are_gone(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        server = subprocess.Popen(("redis-server", "--port", port, "--save", "", "--dir", self.folder), stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        until = time.monotonic() + 30 * SLOWNESS
        while subprocess.run(("redis-cli", "-p", port, "ping"), capture_output=True, check=False).returncode and time.monotonic() < until:
            time.sleep(0.1)
        tracer = subprocess.Popen((USCOPE, "record", "-o", self.path, "-p", str(server.pid), "-t", "tracepoint:syscalls:sys_enter_accept4",
                                   "-t", "tracepoint:tcp:*", "-t", "ufunction:libc.so.6:getpeername"), stderr=subprocess.PIPE, text=True)
        told = ""
        while "tracing" not in told.lower() and tracer.poll() is None:
            told += tracer.stderr.readline()
        for i in range(20):
            self.assertEqual(command("redis-cli", "-p", port, "set", f"key{i}", str(i)).stdout, "OK\n")
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=TIMEOUT)
        self.assertEqual(tracer.returncode, 0)
        self.assertEqual(command("redis-cli", "-p", port, "get", "key7").stdout, "7\n")
        counts = self.counts()
        # Each connection is accepted once, and then asked for once more.
        self.assertGreaterEqual(counts["syscalls:sys_enter_accept4"], 20)
        self.assertEqual(counts["syscalls:sys_enter_accept4"], counts["accept4"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
