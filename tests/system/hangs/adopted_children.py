#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Who waits for any child waits for its own children, and for orphans that it has adopted: not for a server that some command left behind. Needs
root and a backend; usage: adopted_children.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

# A parent, a child that fills a pipe which nobody reads, and a server whose parent has ended. It prints their pids.
PROGRAM = r"""
import ctypes, os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
if sys.argv[1] == "subreaper": ctypes.CDLL(None).prctl(36, 1)
told, tell = os.pipe()
middle = os.fork()
if middle == 0:
    server = os.fork()
    if server == 0:
        os.setsid(); os.close(told); os.close(tell); os.close(1); time.sleep(100); os._exit(0)
    os.write(tell, b"%d " % server); os._exit(0)
os.waitpid(middle, 0)
server = int(os.read(told, 20))
r, w = os.pipe()
child = os.fork()
if child == 0:
    while True: os.write(w, b"x" * 65536)
os.close(w)
with open(sys.argv[2], "w") as file: file.write(f"{os.getpid()} {child} {server}\n")
os.wait()
"""


class AdoptedChildren(AttachCase):
    def pids(self):
        self.wait_for(lambda: os.path.exists(self.path("pids")) and os.path.getsize(self.path("pids")) > 4, "the program did not begin")
        with open(self.path("pids"), encoding="utf-8") as file:
            pids = [int(pid) for pid in file.read().split()]
        for pid in pids:
            self.addCleanup(subprocess.run, ["kill", "-9", str(pid)], stderr=subprocess.DEVNULL, check=False)
        return pids

    def start(self, mode):
        program = subprocess.Popen([sys.executable, "-c", PROGRAM, mode, self.path("pids")], stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return self.pids()

    def look(self, pids):
        options = [part for pid in pids for part in ("-p", str(pid))]
        done = subprocess.run([USCOPE, "deadlock", *BACKEND_OPTIONS, "--format", "json", *options], capture_output=True, text=True,
                              timeout=WAIT, check=False)
        return json.loads(done.stdout)

    def test_an_orphan_is_nobodys_child(self):
        pids = self.start("plain")
        found = self.look(pids)
        self.assertEqual(found["verdict"], "deadlock", found["reason"])
        self.assertEqual({thread["pid"] for thread in found["findings"][0]["threads"]}, set(pids[:2]))

    def test_but_that_of_a_subreaper(self):
        pids = self.start("subreaper")
        found = self.look(pids)
        self.assertEqual(found["verdict"], "none")
        self.assertRegex(found["reason"], rf"thread {pids[0]} .* can be ended by the end of process {pids[2]} ")

    def test_recorded(self):
        with open(self.said, "w", encoding="utf-8") as said:  # what hangs keeps it open
            recording = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--until-stall", "1s", "--", sys.executable, "-c",
                                          PROGRAM, "plain", self.path("pids")], stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(lambda: (recording.kill(), recording.wait()))
        self.pids()
        self.assertEqual(recording.wait(60 * SLOWNESS), 1, self.text())
        self.assertIn("DEADLOCK  2 threads wait for each other", self.text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
