#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Locks that libraries and run-time systems have of their own: what threads wait for is named, and who has it. Needs root and a
backend; usage: library_locks.py USCOPE FIXTURES"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from hidden_debug import HIDE_DEBUG  # noqa: E402

PROGRAM = os.path.join(FIXTURES, "deadlock_library_locks")
FUTEX = "202"
# The first thread has the GIL and waits for a mutex, whose owner waits for the GIL.
GIL = """import ctypes, threading, time
gives_up_gil, keeps_gil = ctypes.CDLL(None), ctypes.PyDLL(None)
mutex = ctypes.create_string_buffer(40)
def visit():
    gives_up_gil.pthread_mutex_lock(mutex)
    time.sleep(1)
threading.Thread(target=visit, daemon=True).start()
time.sleep(0.3)
keeps_gil.pthread_mutex_lock(mutex)
"""
# Who had it was killed. Python has its own handler of SIGINT.
SHARED_LOCK = """import multiprocessing, os, signal
lock = multiprocessing.Lock()
if (child := os.fork()) == 0:
    lock.acquire()
    os._exit(0)
os.waitpid(child, 0)
lock.acquire()
"""


class LibraryLocks(AttachCase):
    def hung(self, *command, threads=2, waiting=1, **pipes):
        """A process of so many threads, of which so many wait for a futex."""
        process = self.start(*command, **pipes)

        def hangs():
            tids = os.listdir(f"/proc/{process.pid}/task")
            return len(tids) == threads and sum(self.call_of(process.pid, tid) == FUTEX for tid in tids) >= waiting

        self.wait_for(hangs, f"{command} does not wait")
        return process

    @staticmethod
    def call_of(pid, tid):
        with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
            return file.read().split()[0]

    def look(self, pid, status, hidden=()):
        command = [*hidden, USCOPE, "deadlock", "--pid", str(pid), *BACKEND_OPTIONS, "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def test_a_handler_interrupted_who_has_the_lock(self):
        pid = self.hung(PROGRAM, "own_mutex").pid
        (finding,) = self.look(pid, 1)["findings"]
        (thread,) = finding["threads"]
        self.assertEqual((finding["type"], finding["verdict"]), ("self_deadlock", "deadlock"), finding)
        self.assertEqual((thread["tid"], thread["lock"], thread["held_by"]), (pid, "a mutex", [pid]))

    def test_a_stream_is_named_and_who_has_it(self):
        pid = self.hung(PROGRAM, "stream", stdin=subprocess.PIPE).pid
        (reader,) = (int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid)
        for hidden in ([], HIDE_DEBUG):
            with self.subTest(hidden):
                (thread,) = self.look(pid, 0, hidden)["blocked"]
                self.assertEqual((thread["primitive"], thread["lock"], thread["held_by"]), ("stream_lock", "the lock of stdin", [reader]))

    def test_the_gil_and_a_mutex(self):
        process = self.start(sys.executable, "-c", GIL)
        time.sleep(2)
        (finding,) = self.look(process.pid, 1)["findings"]
        self.assertEqual((finding["type"], finding["verdict"]), ("cycle", "deadlock"), finding)
        self.assertEqual({thread["lock"] for thread in finding["threads"]}, {"a mutex", "Python's GIL"})
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "gil.db")
            subprocess.run([USCOPE, "record", "-q", "--pid", str(process.pid), *BACKEND_OPTIONS, "--duration", "1.5", "-o", store], check=True, timeout=WAIT)
            done = subprocess.run([USCOPE, "deadlock", store], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(" ".join(done.stdout.split()), "^DEADLOCK .* waits for Python's GIL")

    def test_a_lock_of_multiprocessing_is_one(self):
        pid = self.hung(sys.executable, "-c", SHARED_LOCK, threads=1).pid
        (finding,) = self.look(pid, 1)["findings"]
        self.assertEqual([thread["primitive"] for thread in finding["threads"]], ["semaphore"])
        self.assertIn("Nobody is left who could wake it", finding["explanation"])

    def test_a_condition_variable_is_one_object(self):
        process = self.hung(PROGRAM, "destroyed", waiting=2, stdout=subprocess.PIPE)
        address = process.stdout.readline().strip()
        found = self.look(process.pid, 1)
        self.assertEqual({thread["primitive"] for thread in found["blocked"]}, {"condition_variable"}, found)
        self.assertEqual({thread["address"] for thread in found["blocked"]}, {address if isinstance(address, str) else address.decode()})


if __name__ == "__main__":
    unittest.main(verbosity=2)
