#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What signals do to a recording: those that its command sends to the process group in which uscope is, and those that come from outside.
Needs root and BPF; usage: own_signals.py USCOPE"""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
WAIT = 60 * SLOWNESS

# Ignores every signal, those of glibc's own too, and sends each of them to its process group; with a number: twice to a handler.
SENDER = """
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
ignored = (ctypes.c_ulong * 4)(1, 0, 0, 0)
all_but = {signal.SIGKILL, signal.SIGSTOP}
if len(sys.argv) > 1:
    number, came = int(sys.argv[1]), []
    signal.signal(number, lambda *_: came.append(1))
    for _ in range(3):
        os.kill(0, number)
        time.sleep(0.05)
    print(len(came))
else:
    for number in set(range(1, 65)) - all_but:
        libc.syscall(13, number, ignored, None, 8)
    for number in set(range(1, 65)) - all_but - {signal.SIGCHLD}:
        libc.kill(0, number)
        if number % 16 == 0:
            time.sleep(0.05)
for _ in range(100):
    os.getppid()
sys.exit(7)
"""
HANDLES = "trap 'exit 9' USR1; : > {0}; while :; do sleep 0.05; done"


class Signals(TraceCase):
    def start(self, *words, before=()):
        tracer = subprocess.Popen([*before, USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *words],  # pylint: disable=consider-using-with
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        return tracer

    def ended(self, tracer):
        out, said = tracer.communicate(timeout=WAIT)
        return tracer.returncode, out, said

    def wait_for(self, path):
        end = time.monotonic() + WAIT
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_a_recording_outlives_all_that_its_command_sends_to_the_group(self):
        code, _, said = self.ended(self.start("--", sys.executable, "-c", SENDER))
        self.assertEqual(code, 7, said)
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'getppid'"), [(100,)])
        self.assertEqual(self.rows("SELECT exit_code FROM process"), [(7,)])

    def test_nor_does_it_send_the_command_the_commands_own_signals(self):
        code, out, said = self.ended(self.start("--", sys.executable, "-c", SENDER, str(int(signal.SIGTERM))))
        self.assertEqual((code, out), (7, "3\n"), said)
        self.assertNotIn("ended early", said)
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'getppid'"), [(100,)])

    def test_the_command_gets_what_is_sent_to_uscope(self):
        ready = os.path.join(self.folder.name, "ready")
        tracer = self.start("--", "sh", "-c", HANDLES.format(ready))
        self.wait_for(ready)
        tracer.send_signal(signal.SIGUSR1)
        code, _, said = self.ended(tracer)
        self.assertEqual(code, 9, said)
        self.assertEqual(self.rows("SELECT exit_code FROM process WHERE pid = (SELECT min(pid) FROM process)"), [(9,)])

    def test_a_timer_that_was_set_for_the_command_ends_it(self):
        """As without uscope: timers last over an exec, and not over a fork."""
        code, _, said = self.ended(self.start("--", "sleep", "60", before=[
            sys.executable, "-c", "import os, signal, sys; signal.alarm(2); os.execvp(sys.argv[1], sys.argv[1:])"]))
        self.assertEqual(code, -signal.SIGALRM, said)
        self.assertEqual(self.rows("SELECT exit_signal FROM process"), [(signal.SIGALRM,)])

    def test_attached_any_signal_ends_tracing_in_order(self):
        with subprocess.Popen(["sleep", "60"]) as target:
            self.addCleanup(target.kill)
            tracer = self.start("--pid", str(target.pid))
            self.assertIn("Ctrl-C ends tracing", tracer.stderr.readline())
            tracer.send_signal(signal.SIGUSR2)
            code, _, said = self.ended(tracer)
            self.assertEqual(code, 0, said)
            self.assertIn("tracing ended early: interrupted by SIGUSR2", said)
            self.assertIsNone(target.poll())
            target.kill()
        self.assertEqual(self.rows("SELECT kind, how FROM v_event"), [("clock_nanosleep", "attached")])

    def test_loading_goes_on_while_what_is_left_signals_the_group(self):
        """The command goes on untraced."""
        script = f"trap '' TERM USR1; for i in $(seq 3000); do [ -e {self.db} ] && exit; kill -USR1 0; kill -TERM 0; sleep 0.01; done"
        code, _, said = self.ended(self.start("--duration", "1s", "--", "sh", "-c", script))
        self.assertEqual(code, 0, said)
        self.assertIn("--duration has passed: the command goes on untraced", said)
        self.assertGreater(self.rows("SELECT count(*) FROM v_event WHERE kind = 'kill'")[0][0], 0)

    def test_it_does_not_rise_above_the_callers_priority(self):
        """Asked of uscope's threads and of the processes that it starts, while it traces and loads."""
        tracer = self.start("--", "sh", "-c", "exec sleep 0.5", before=["nice", "-n", "5"])
        seen = set()
        while tracer.poll() is None:
            for line in subprocess.run(["ps", "-eL", "-o", "pgid=,ppid=,pid=,ni=,comm="], capture_output=True, text=True, check=True).stdout.splitlines():
                group, parent, pid, nice, name = line.split(None, 4)
                if str(tracer.pid) in (group, parent, pid) and name != "nice" and nice != "-":
                    seen.add((name, int(nice)))
        self.assertEqual(tracer.returncode, 0)
        self.assertEqual({nice for _, nice in seen}, {os.nice(0) + 5}, seen)
        self.assertIn("uscope-reader", {name for name, _ in seen})


if __name__ == "__main__":
    unittest.main()
