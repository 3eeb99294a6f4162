#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What `uscope diff` says of runs that take longer: a peer that answers late, and a command that computes more. Needs root, a backend and a
C compiler; usage: slower_runs.py USCOPE FIXTURES"""
import json
import os
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "asks.c")
COMPUTER = "import sys\nfor _ in range(int(sys.argv[1])): pass\n"
SECOND = 1_000_000_000


class LatePeer:
    """Answers each byte by one, `delay` seconds later."""

    def __init__(self):
        self.delay = 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = str(self.listener.getsockname()[1])
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                while client.recv(1):
                    time.sleep(self.delay)
                    client.send(b"!")


class SlowerRuns(AttachCase):
    def recorded(self, name, *command):
        db = self.path(name)
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", db, "--", *command], check=True, timeout=WAIT)
        return db

    def compared(self, normal, abnormal, *options):
        done = subprocess.run([USCOPE, "diff", "--normal", *normal, "--abnormal", *abnormal, *options], capture_output=True, text=True,
                              timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def time_of(self, normal, abnormal):
        return json.loads(self.compared(normal, abnormal, "--format", "json"))["time"]

    def test_a_peer_that_answers_late(self):
        peer = LatePeer()
        self.addCleanup(peer.listener.close)
        program = self.path("asks")
        subprocess.run(["cc", "-O1", "-o", program, SOURCE], check=True)
        asking = [program, peer.port]
        fast = [self.recorded(f"fast{run}.db", *asking) for run in range(3)]
        peer.delay = 0.5
        slow = [self.recorded(f"slow{run}.db", *asking) for run in range(3)]
        for normal, abnormal in (fast[:1], slow[:1]), (fast, slow):
            found = self.time_of(normal, abnormal)
            self.assertTrue(found["notable"])
            first = found["lines"][0]
            self.assertEqual((first["where"], first["call"]["kind"]), ("inside", "poll"), found["lines"])
            self.assertGreater(first["change_ns"], 2 * SECOND)
            self.assertEqual(first["normal"]["times"], 606)
            self.assertEqual(first["q"] is None, len(normal) == 1)
        self.assertIn("inside of poll in", self.compared(fast, slow))

    def test_a_command_that_computes_more(self):
        few, many = ([sys.executable, "-c", COMPUTER, str(count)] for count in (1000, 40_000_000))
        brief = self.recorded("brief.db", *few)
        long = self.recorded("long.db", *many)
        found = self.time_of([brief], [long])
        self.assertTrue(found["notable"])
        first = found["lines"][0]
        self.assertEqual((first["where"], first["call"]), ("outside", None))
        self.assertGreater(first["change_ns"], SECOND // 5)
        self.assertGreater(first["change_ns"], 0.5 * found["run"]["change_ns"])
        self.assertIn("outside of calls, after ", self.compared([brief], [long]))

    def test_the_same_command_has_no_notable_change(self):
        runs = [self.recorded(f"run{run}.db", "sleep", "1") for run in range(6)]
        for normal, abnormal in (runs[:1], runs[1:2]), (runs[:3], runs[3:]):
            found = self.time_of(normal, abnormal)
            self.assertFalse(found["notable"], found)
            self.assertEqual(found["lines"], [])
            self.assertIn("WHERE THE TIME WENT  no notable change: a run took 1.", self.compared(normal, abnormal))


if __name__ == "__main__":
    unittest.main()
