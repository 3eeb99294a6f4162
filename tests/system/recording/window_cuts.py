#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Recordings that are cut at any record and go on from what a window keeps have the events, names, strings, stacks and descriptors that the
whole recording has behind the cut. Needs root and BPF (or the module); usage: window_cuts.py USCOPE WINDOW_CUTS"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE, WINDOW_CUTS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:3]
WAIT = 100 * SLOWNESS
SHELL = """
for i in 1 2 3; do
  cat /etc/hostname | tr a-z A-Z > one-$i
  (mkdir -p d && cd d && exec 7< ../one-$i && cat <&7 > two && mv two three)
  sleep 0.02 &
done
wait
"""
# It has descriptors from before it is attached to, and uses them; threads rename themselves, and stay in calls.
SERVED = '''
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None)
held = open("/etc/passwd", "rb", buffering=0)
ours, theirs = socket.socketpair()
work = os.open(".", os.O_RDONLY)
def run(number):
    step = 0
    while True:
        step += 1
        libc.prctl(15, f"job-{number}-{step % 4}".encode())
        os.pread(held.fileno(), 100, step)
        copy = os.dup(held.fileno())
        file = os.open(f"f{number}-{step % 3}", os.O_RDWR | os.O_CREAT, dir_fd=work)
        os.write(file, b"x" * step)
        os.close(copy)
        os.close(file)
        time.sleep(0.004)
threading.Thread(target=lambda: theirs.recv(1), daemon=True).start()
for number in range(3):
    threading.Thread(target=run, args=(number,), daemon=True).start()
print("runs", flush=True)
time.sleep(1000)
'''


class WindowCuts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-window-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.raw = os.path.join(self.folder, "kept.raw")

    def record(self, *arguments):
        run = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", os.path.join(self.folder, "kept.db"), "--keep-raw", self.raw,
                              *arguments], cwd=self.folder, capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def compare(self, least):
        run = subprocess.run([WINDOW_CUTS, self.raw, "14"], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(run.returncode, 0, run.stdout[-6000:] + run.stderr)
        self.assertGreater(int(run.stdout), least)

    def test_a_shell_and_what_it_starts(self):
        self.record("--", "sh", "-c", SHELL)
        self.compare(2000)

    def test_what_ran_already(self):
        with subprocess.Popen([sys.executable, "-c", SERVED], cwd=self.folder, stdout=subprocess.PIPE, text=True) as served:
            try:
                self.assertEqual(served.stdout.readline(), "runs\n")
                time.sleep(0.1)
                self.record("-p", str(served.pid), "--duration", "1500ms")
            finally:
                served.kill()
        self.compare(2000)

    def test_functions_and_signals_among_calls(self):
        self.record("--signals", "-t", "ufunction:libc.so.6:write%return", "-t", "tracepoint:sched:sched_process_exec", "-t", "sample:999", "--", "sh",
                    "-c", "trap 'echo got' USR1; for i in 1 2 3; do kill -USR1 $$; cat /etc/hostname; done")
        self.compare(300)


if __name__ == "__main__":
    unittest.main(verbosity=2)
