#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs that hang in something else than a futex: a fifo, a socket, epoll, a child. `deadlock` and `events` name what they wait for,
though they waited before tracing began. Needs root and a backend; usage: other_waits.py USCOPE FIXTURES"""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

READ, RECVFROM, WAIT4, EPOLL_WAIT, EPOLL_PWAIT = "0", "45", "61", "232", "281"
HEAD = "import os, select, socket, subprocess, sys, threading\n"
FIFO = HEAD + "os.read(os.open(sys.argv[1], os.O_RDWR), 1)"
SOCKET = HEAD + "a, b = socket.socketpair()\nb.recv(1)"
PIPE = HEAD + "r, w = os.pipe()\nos.read(r, 1)"
# Without Python's own handler of SIGINT, which may end any wait.
LEAVES_SIGINT = HEAD + "import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n"
EPOLL = LEAVES_SIGINT + "e = select.epoll()\ne.poll()"
CHILD = LEAVES_SIGINT + "os.waitpid(subprocess.Popen(['sleep', '1000']).pid, 0)"
POOL = HEAD + "f = os.open(sys.argv[1], os.O_RDWR)\nfor i in range(11): threading.Thread(target=os.read, args=(f, 1)).start()\nos.read(f, 1)"


class OtherWaits(AttachCase):
    def setUp(self):
        super().setUp()
        self.fifo = self.path("fifo")
        os.mkfifo(self.fifo)

    def hung(self, program, *calls, threads=1):
        process = self.start(sys.executable, "-c", program, self.fifo)
        self.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == threads and self.waits(process.pid, calls), f"{program} does not wait")
        return process.pid

    @staticmethod
    def waits(pid, calls):
        """In one of these calls, each of its threads, and not for a file that Python reads as it begins."""
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
                words = file.read().split()
            if words[0] not in calls or (words[0] == READ and os.path.isfile(f"/proc/{pid}/fd/{int(words[1], 16)}")):
                return False
        return True

    def deadlock(self, *arguments, status=0):
        done = subprocess.run([USCOPE, "deadlock", *arguments], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done.stdout

    def look(self, pid, why, verdict="none"):
        """What `deadlock --pid` says in text, and in JSON of this process's one thread."""
        status = 3 if verdict == "undecided" else 0
        text = " ".join(self.deadlock("--pid", str(pid), *BACKEND_OPTIONS, status=status).split())
        head = "UNDECIDED" if verdict == "undecided" else "NO DEADLOCK FOUND"
        self.assertRegex(text, f"^{head} .*{why}")
        found = json.loads(self.deadlock("--pid", str(pid), *BACKEND_OPTIONS, "--format", "json", status=status))
        self.assertEqual((found["verdict"], found["blocked"]), (verdict, []))
        (wait,) = [wait for wait in found["other_waits"] if wait["threads"][0]["pid"] == pid]
        return text, wait

    def expect(self, pid, call, name, *looked):
        text, wait = self.look(pid, *looked)
        self.assertRegex(text, rf" WAITING .* {call}\(([0-9]+<)?{name}>?(, 1 byte)?\).*: thread {pid} .*\(pid {pid}\), for ")
        self.assertRegex(wait["call"], f"^{call}$")
        self.assertRegex(wait["object"] or "", f"^{name}$")
        self.assertEqual((wait["count"], wait["object_doubtful"], wait["threads"][0]["pid"]), (1, False, pid))

    def test_a_fifo(self):
        pid = self.hung(FIFO, READ)
        self.expect(pid, "read", re.escape(self.fifo), "whoever opens " + re.escape(self.fifo))
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--pid", str(pid), "--duration", f"{SLOWNESS}s", "-o", self.db], check=True,
                       capture_output=True, timeout=WAIT)
        self.assertIn(f"<{self.fifo}>, 0x", subprocess.run([USCOPE, "events", self.db], capture_output=True, text=True, check=True).stdout)
        self.assertIn(self.fifo, subprocess.run([USCOPE, "files", self.db], capture_output=True, text=True, check=True).stdout)
        self.assertRegex(self.deadlock(self.db), rf"read\([0-9]+<{re.escape(self.fifo)}>, 1 byte\)(.|\n)*: thread {pid} ")

    def test_a_pipe(self):
        # Python handles SIGINT.
        self.expect(self.hung(PIPE, READ), "read", r"pipe:\[[0-9]+\]", "a signal handler that uses descriptor 4")

    def test_a_socket(self):
        self.expect(self.hung(SOCKET, RECVFROM), "recvfrom", r"socket:\[[0-9]+\]", "a signal handler that uses descriptor 3")

    def test_epoll(self):
        self.expect(self.hung(EPOLL, EPOLL_WAIT, EPOLL_PWAIT), "epoll_p?wait", r"anon_inode:\[eventpoll\]", "uscope does not follow epoll_", "undecided")

    def test_a_child(self):
        pid = self.hung(CHILD, WAIT4)
        _, wait = self.look(pid, r"wait4\([0-9]+\) can be ended by the end of process [0-9]+ `sleep`, which waits in clock_nanosleep")
        self.assertEqual(wait["call"], "wait4")
        self.assertRegex(wait["object"], "^process [0-9]+$")

    def test_a_pool_is_one_line_and_its_name_is_doubtful(self):
        """Each of its threads could have closed the descriptor."""
        pid = self.hung(POOL, READ, threads=12)
        found = json.loads(self.deadlock("--pid", str(pid), *BACKEND_OPTIONS, "--format", "json"))
        self.assertEqual(sum(wait["count"] for wait in found["other_waits"]), 12)
        self.assertEqual({(wait["object"], wait["object_doubtful"]) for wait in found["other_waits"]}, {(self.fifo, True)})
        text = " ".join(self.deadlock("--pid", str(pid), *BACKEND_OPTIONS).split())
        place = rf"read\([0-9]+<{re.escape(self.fifo)}>, 1 byte\) in [^:]+"
        self.assertRegex(text, rf"WAITING 12 threads wait in other calls: {place}: thread {pid} .* {place}: 11 threads")


if __name__ == "__main__":
    unittest.main(verbosity=2)
