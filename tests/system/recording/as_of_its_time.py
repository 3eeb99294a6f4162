#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What changes over time is told as of its time: names of threads, and the programs that a process was. Needs root and BPF (or the
module); usage: as_of_its_time.py USCOPE"""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv[1])
del sys.argv[1:2]
WAIT = 60 * SLOWNESS
COMMON = '''
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
def call(name): libc.prctl(15, name.encode())
def mark(number): libc.syscall(140, 0, number)     # getpriority
'''
# Two threads rename themselves twice, one the other; a process forks and does not execute anything.
RENAMED = COMMON + '''
def job(first):
    for step in range(3):
        call(f"{first}-{step}")
        mark(first * 10 + step)
def renamed_by_another():
    mark(31)
    began.set()
    named.wait()
    mark(32)
    done.set()
call("main-0")
for first in 1, 2:
    one = threading.Thread(target=job, args=(first,))
    one.start()
    one.join()
began, named, done = threading.Event(), threading.Event(), threading.Event()
other = threading.Thread(target=renamed_by_another)
other.start()
began.wait()
with open(f"/proc/self/task/{other.native_id}/comm", "w") as comm:
    comm.write("by-another")
named.set()
done.wait()
other.join()
call("main-1")
mark(41)
if os.fork() == 0:
    mark(42)
    call("child")
    mark(43)
    os._exit(0)
os.wait()
mark(44)
'''
# A thread that is not the first one executes a program; and a child closes 5000 descriptors before it does.
EXECUTES = COMMON + '''
def launch():
    call("launcher")
    mark(51)
    os.execv("/bin/true", ["true", "by-thread"])
if os.fork() == 0:
    for fd in range(5000, 10000):
        libc.syscall(3, fd)
    os.execv("/bin/true", ["true", "by-child"])
os.wait()
threading.Thread(target=launch).start()
time.sleep(60)
'''
# A thread changes its own user, which the thread that it makes inherits; of two children one sets it for good, and one executes argv[1].
USERS = COMMON + '''
def user(uid): libc.syscall(117, -1, uid, -1)      # setresuid, of this thread
def other():
    mark(72)
    user(0)
    user(33)
    mark(73)
mark(70)
user(1000)
mark(71)
one = threading.Thread(target=other)
one.start()
one.join()
libc.syscall(122, 5)                               # setfsuid
mark(74)
libc.syscall(113, -1, 7)                           # setreuid, refused
mark(75)
user(0)
mark(76)
if os.fork() == 0:
    libc.syscall(105, 34)                          # setuid
    mark(77)
    os.execv("/bin/true", ["true"])
os.wait()
if os.fork() == 0:
    os.execv(sys.argv[1], ["copy"])
os.wait()
'''
# The first thread ends, another one goes on.
LEADERLESS = COMMON + '''
def last():
    print("ready", flush=True)
    while True:
        mark(61)
        time.sleep(0.02)
threading.Thread(target=last).start()
time.sleep(0.2)
libc.syscall(60, 0)
'''


class AsOfItsTime(TraceCase):
    def record(self, *options, **more):
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, *options], check=True, timeout=WAIT, **more)

    def run_program(self, program):
        self.record("--", sys.executable, "-c", program)

    def report(self):
        answer = subprocess.run([USCOPE, "report", "--format", "json", self.db], check=True, capture_output=True, timeout=WAIT)
        return json.loads(answer.stdout)

    def names(self, condition):
        """Of the threads that asked for these priorities, when they did."""
        return dict(self.rows(f"SELECT a1, thread FROM v_event WHERE kind = 'getpriority' AND {condition}"))

    def test_names_of_threads(self):
        self.run_program(RENAMED)
        names = self.names("a1 >= 10")
        expected = {first * 10 + step: f"{first}-{step}" for first in (1, 2) for step in range(3)}
        expected.update({32: "by-another", 41: "main-1", 42: "main-1", 43: "child", 44: "main-1"})
        self.assertEqual({number: names[number] for number in expected}, expected)
        self.assertEqual(names[31], "main-0")
        shown = subprocess.run([USCOPE, "events", "-e", "getpriority", "--format", "json", self.db], check=True, capture_output=True,
                               text=True, timeout=WAIT).stdout
        self.assertIn("1-0", shown)
        self.assertIn("2-1", shown)

    def test_users(self):
        copy = self.path("copy")
        shutil.copy("/bin/true", copy)
        os.chown(copy, 35, 35)
        os.chmod(copy, 0o4755)
        self.record("--", sys.executable, "-c", USERS, copy)
        users = dict(self.rows("SELECT a1, uid FROM v_event WHERE kind = 'getpriority' AND a1 >= 70"))
        self.assertEqual(users, {70: 0, 71: 1000, 72: 1000, 73: 33, 74: 1000, 75: 1000, 76: 0, 77: 34})
        self.assertEqual(self.rows("SELECT DISTINCT uid FROM v_event WHERE process = 'copy'"), [(35,)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE uid IS NULL"), [(0,)])
        lines = {(line["name"], line["executed"]): line["uids"] for line in self.report()["processes"]["lines"]}
        python = os.path.basename(sys.executable)
        self.assertEqual(lines, {(python, None): [0, 1000, 33], (python, "true"): [0, 34], ("true", None): [34],
                                 (python, "copy"): [0], ("copy", None): [35]})
        shown = subprocess.run([USCOPE, "report", self.db], check=True, capture_output=True, text=True, timeout=WAIT).stdout
        self.assertRegex(shown, r"pid +uid +name")
        self.assertIn("0, 1000, 33", shown)

    def test_user_of_a_process_that_ran_before(self):
        program = COMMON + "libc.syscall(117, -1, 1000, -1); print(flush=True)\nwhile True: mark(78); time.sleep(0.01)"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            self.record("--pid", str(process.pid), "--duration", "200ms")
            process.kill()
        self.assertEqual(self.rows("SELECT DISTINCT uid FROM v_event WHERE a1 = 78"), [(1000,)])
        shown = subprocess.run([USCOPE, "report", self.db], check=True, capture_output=True, text=True, timeout=WAIT).stdout
        self.assertNotRegex(shown, r"pid +uid +name")

    def test_programs(self):
        self.run_program(EXECUTES)
        report, python = self.report(), os.path.basename(sys.executable)
        self.assertEqual(self.names("a1 = 51"), {51: "launcher"})
        self.assertEqual(self.rows("SELECT process FROM v_event WHERE kind = 'getpriority' AND a1 = 51"), [(python,)])
        self.assertEqual(self.rows("SELECT DISTINCT thread FROM v_event WHERE process = 'true'"), [("true",)])
        child = [line for line in report["processes"]["lines"] if line["errors"] >= 5000]
        self.assertEqual([(line["name"], line["executed"]) for line in child], [(python, "true")])
        last = [line for line in report["processes"]["lines"] if line["pid"] == child[0]["pid"] and line["executed"] is None]
        self.assertEqual([line["name"] for line in last], ["true"])
        self.assertLess(last[0]["errors"], 100)
        self.assertEqual([line["process"] for line in report["threads"]["lines"] if line["errors"] >= 5000], [python])
        # Nothing is counted twice.
        events = self.rows("SELECT count(*) FROM event")[0][0]
        for of in "processes", "threads":
            self.assertEqual(sum(line["events"] for line in report[of]["lines"]), events, of)
        tree = json.loads(subprocess.run([USCOPE, "tree", "--format", "json", self.db], check=True, capture_output=True).stdout)
        for node in tree["processes"]:
            self.assertEqual(node["inherited_events"] + sum(image["events"] for image in node["images"]), node["events"])

    def test_first_thread_that_has_ended(self):
        with subprocess.Popen([sys.executable, "-c", LEADERLESS], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            threading.Event().wait(0.5)
            self.record("--pid", str(process.pid), "--duration", "300ms")
            process.kill()
        report = self.report()
        self.assertNotIn(process.pid, [gap["tid"] for gap in report["gaps"]["lines"]])
        ended = self.rows("SELECT end_ns IS NOT NULL FROM thread WHERE tid = ?", process.pid)
        self.assertEqual(ended, [(1,)])
        first = [line for line in report["threads"]["lines"] if line["tid"] == process.pid]
        self.assertEqual([line["between_ns"] for line in first], [0])

    def test_stopped_process(self):
        with subprocess.Popen(["sleep", "60"]) as process:
            process.send_signal(signal.SIGSTOP)
            top = subprocess.run([USCOPE, "top", "--pid", str(process.pid), "--once"], check=True, capture_output=True, text=True,
                                 timeout=WAIT).stdout
            process.kill()
        self.assertIn("1 process is stopped", top)
        self.assertNotIn("computes or waits", top)


if __name__ == "__main__":
    unittest.main(verbosity=2)
