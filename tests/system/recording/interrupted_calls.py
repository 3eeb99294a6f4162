#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Calls that a signal interrupts are told as the program got them, recorded and live: EINTR where a handler made them fail, and the kernel's own
result where they were made again. Needs root and a backend; usage: interrupted_calls.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, FIXTURES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

# Each call is interrupted once, long before there is anything to read; Python makes it again itself.
PROGRAM = r"""
import os, select, signal, sys, time
def on_alarm(*_): os.getppid()
def soon(restart=False):
    signal.signal(signal.SIGALRM, on_alarm)
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
r, w = os.pipe()
asks, asked = os.pipe()
p = select.poll(); p.register(r, select.POLLIN); e = select.epoll(); e.register(r, select.EPOLLIN)
if os.fork() == 0:
    for _ in range(6): os.read(asks, 1); time.sleep(0.6); os.write(w, b"x")
    os._exit(0)
for wait, restart in ((p.poll, False), (p.poll, True), (lambda: select.select([r], [], []), True), (e.poll, True), (lambda: None, False), (lambda: None, True)):
    os.write(asked, b"x"); soon(restart); wait(); os.read(r, 1)
os.wait()
"""

class InterruptedCalls(TraceCase):
    def record(self, *options):
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--force", *options, "--", sys.executable, "-S", "-c", PROGRAM],
                       check=True, timeout=60 * SLOWNESS)
        first = self.rows("SELECT min(pid) FROM process")[0][0]
        return [(name, result) for name, result in self.rows(
            "SELECT kind.name, result FROM event JOIN kind ON kind.id = kind_id JOIN thread ON thread.id = thread_id JOIN process ON "
            f"process.id = process_id WHERE pid = {first} AND kind.name IN ('poll', 'select', 'pselect6', 'epoll_wait', 'epoll_pwait', 'read') "
            "AND (result = -4 OR result BETWEEN -516 AND -512) ORDER BY event.id")]

    def test_what_the_program_got(self):
        for options in ((), ("-e", "poll,select,pselect6,epoll_wait,epoll_pwait,read")):
            with self.subTest(options):
                found = self.record(*options)
                self.assertEqual([result for _, result in found], [-4, -4, -4, -4, -4, -512], found)
                self.assertEqual([name for name, _ in found if name in ("poll", "read")], ["poll", "poll", "read", "read"])
                text = subprocess.run([USCOPE, "events", self.db, "--errno", "EINTR"], capture_output=True, text=True, check=True).stdout
                self.assertEqual(text.count("= -1 EINTR (Interrupted system call)"), 5, text)
        self.assertEqual(self.rows("SELECT count(*) FROM event JOIN kind ON kind.id = kind_id WHERE kind.name = 'rt_sigreturn'"), [(0,)])

    def test_printed_while_it_happens(self):
        printed = subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--force", "--print", "-e", "poll,pause", "--",
                                  os.path.join(FIXTURES, "fixture_interrupted")], capture_output=True, text=True, timeout=60 * SLOWNESS, check=True)
        self.assertEqual((printed.stdout + printed.stderr).count("= -1 EINTR"), 4, printed)


if __name__ == "__main__":
    unittest.main(verbosity=2)
