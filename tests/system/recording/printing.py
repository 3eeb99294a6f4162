#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a recording prints: the lines of --print, which are those of `uscope events` of the same database, line by line; the status line,
which leaves a command its terminal; --quiet. Needs root and a backend; usage: printing.py USCOPE FIXTURES"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, children_of, sleeping, USCOPE, WAIT, WAITERS  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

# On one processor it makes nearly as many calls as a ring holds, and then one that ends on another processor.
MOVES = """
import os, sys, time
folder = sys.argv[1]
first, second = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, {first})
os.mkdir(folder + "/ready")
while not os.path.exists(folder + "/go"):
    time.sleep(0.01)
parent = os.getpid()
if os.fork() == 0:
    os.sched_setaffinity(0, {second})
    while not os.path.exists(folder + "/waits"):
        time.sleep(0.01)
    time.sleep(0.3)
    os.sched_setaffinity(parent, {second})
    os.open(folder + "/fifo", os.O_WRONLY)
    os._exit(0)
for _ in range(130_000):
    os.getppid()
os.mkdir(folder + "/waits")
os.open(folder + "/fifo", os.O_RDONLY)
os.wait()
os.mkdir(folder + "/done")
"""
ERASE = b"\r\x1b[K"


def calls_of(text):
    """The lines of calls; the others are uscope's own and the command's."""
    return [line for line in text.splitlines() if re.match(r".+\[\d+/\d+\] -?\d+\.\d{6} ", line)]


def below(pid):
    return [found for child in children_of(pid) for found in (child, *below(child))]


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:  # it has ended
        return ""


class Printing(AttachCase):
    def record(self, *words, code=0):
        done = subprocess.run([USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(self.rows("SELECT cause FROM loss"), [])
        return done.stderr

    def begin(self, *words, **kwargs):
        with open(self.said, "w", encoding="utf-8") as said:
            return self.start(USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, *words, stdin=subprocess.DEVNULL, stderr=said, **kwargs)

    def events(self):
        """Without what descriptors stand for, which is not known while tracing: `3</etc/passwd>`, `AT_FDCWD</root>`."""
        done = subprocess.run([USCOPE, "events", self.db], capture_output=True, text=True, timeout=WAIT, check=True)
        return [re.sub(r"(?<=[0-9D])<[^<>]*>", "", line) for line in calls_of(done.stdout)]

    def test_one_process_line_by_line(self):
        # Which says nothing itself: its text would stand between, or within, the lines.
        printed = calls_of(self.record("--print", "--", "/usr/bin/test", "-e", "/no such\nfile", code=1))
        self.assertGreater(len(printed), 20)
        self.assertEqual(printed, self.events())
        self.assertTrue(printed[0].startswith("test["), printed[0])
        self.assertIn('execve("', printed[0])
        self.assertIn('["/usr/bin/test", "-e", "/no such\\x0afile"]', printed[0])

    def test_several_processes(self):
        script = "exec 2>/dev/null; cat /etc/hostname | head -c 3; exec 3</etc/passwd; (exec true); no-such-command; kill -KILL $$"
        done = subprocess.run([USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, "--print", "--", "sh", "-c", f"sh -c '{script}'; true"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT, check=False)
        printed = calls_of(done.stderr)
        self.assertEqual(sorted(printed), sorted(self.events()))
        self.assertEqual([line for line in printed if "[0/" in line], [])
        self.assertGreater(len({line.split("/")[0] for line in printed}), 4)

    def test_a_call_that_moves_while_the_tracer_does_not_run(self):
        """Its path is behind more records than its return, in the ring of another processor."""
        self.assertGreaterEqual(len(os.sched_getaffinity(0)), 2, "this needs two processors")
        os.mkfifo(os.path.join(self.folder.name, "fifo"))
        said = os.path.join(self.folder.name, "said")
        with open(said, "w", encoding="utf-8") as stderr:
            tracer = self.start(USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, "--print", "-e", "getppid,openat", "--", "/usr/bin/python3",
                                "-I", "-S", "-c", MOVES, self.folder.name, stderr=stderr)
        self.wait_for(lambda: os.path.exists(self.folder.name + "/ready"), "the program does not start")
        time.sleep(0.3)
        tracer.send_signal(signal.SIGSTOP)
        os.mkdir(self.folder.name + "/go")
        self.wait_for(lambda: os.path.exists(self.folder.name + "/done"), "the program does not end")
        tracer.send_signal(signal.SIGCONT)
        self.assertEqual(tracer.wait(WAIT), 0)
        self.assertEqual(self.rows("SELECT cause FROM loss"), [])
        with open(said, encoding="utf-8") as text:
            printed = [line for line in calls_of(text.read()) if "openat" in line]
        self.assertEqual(len([line for line in printed if "/fifo" in line]), 2)
        self.assertEqual(sorted(printed), sorted(line for line in self.events() if "openat" in line))

    def test_calls_that_never_return(self):
        """Of a command that an interrupt does not end: the first one goes to it, the second one ends tracing."""
        tracer = self.begin("--print", "--", "sh", "-c", "trap '' INT; sleep 600 & exec sleep 601", start_new_session=True)
        self.addCleanup(os.killpg, tracer.pid, signal.SIGKILL)
        self.wait_for(lambda: [sleeping(pid) for pid in below(tracer.pid) if name_of(pid) == "sleep"] == [True, True], "nobody sleeps")
        for _ in range(2):
            tracer.send_signal(signal.SIGINT)
            time.sleep(1)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        printed = calls_of(self.text())
        self.assertEqual(sorted(printed), sorted(self.events()))
        self.assertEqual(len([line for line in printed if "? (has not returned)" in line]), 2)

    def test_an_application_that_runs_already(self):
        """One of its calls returns, and one does not."""
        program = "import sys, threading, time; threading.Thread(target=time.sleep, args=[600], daemon=True).start(); sys.stdin.read()"
        waits = self.start("/usr/bin/python3", "-c", program, stdin=subprocess.PIPE)
        self.wait_until_asleep(waits.pid, 2)
        tracer = self.attach("--print", "--pid", str(waits.pid))
        waits.stdin.close()
        self.ends(tracer)
        printed = calls_of(self.text())
        self.assertGreater(len(printed), 4)
        self.assertEqual(sorted(printed), sorted(self.events()))

    def test_hidden_texts_are_hidden(self):
        said = self.record("--print", "--redact", "*geheim*", "--", "sh", "-c", ": geheim; cat /etc/hostname")
        self.assertIn("[redacted]", said)
        self.assertNotIn("geheim", said)
        self.assertEqual(sorted(calls_of(said)), sorted(self.events()))
        said = self.record("--print", "--no-strings", "--", "cat", "/etc/hostname")
        self.assertNotIn("hostname", said)
        self.assertEqual(calls_of(said), self.events())

    def on_terminal(self, *words, **streams):
        """What a terminal receives: uscope's stderr, and what `streams` leaves on it."""
        master, slave = pty.openpty()
        streams = {"stdin": slave, "stdout": slave, **streams}
        process = self.start(USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, *words, stderr=slave, env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"}, **streams)
        os.close(slave)
        received = b""
        end = time.monotonic() + WAIT
        while process.poll() is None or select.select([master], [], [], 0)[0]:
            self.assertLess(time.monotonic(), end)
            if select.select([master], [], [], 0.1)[0]:
                try:
                    received += os.read(master, 4096)
                except OSError:  # the other side is closed
                    break
        os.close(master)
        self.assertEqual(process.wait(WAIT), 0, received)
        return received

    def test_the_status_line_leaves_a_command_its_terminal(self):
        command = ("--", "sh", "-c", "printf 'your name: '; sleep 1.5; printf 'the end: '")
        received = self.on_terminal(*command)
        self.assertIn(b"your name: the end: ", received)
        self.assertNotIn(ERASE, received)
        self.assertNotIn(ERASE, self.on_terminal(*command, stdout=subprocess.DEVNULL))
        self.assertNotIn(ERASE, self.on_terminal(*command, stdin=subprocess.DEVNULL))
        received = self.on_terminal(*command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.assertIn(ERASE, received)
        self.assertRegex(received.decode(), r"[0-9]+ events  [0-9,]+/s  0 lost")

    def test_quiet(self):
        aside = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        self.assertEqual(self.on_terminal("--quiet", "--", "sleep", "1", **aside), b"")
        self.assertGreater(self.count("event"), 10)
        waiters = self.start(WAITERS, "60000")
        self.wait_until_asleep(waiters.pid, 5)
        self.assertEqual(self.record("-q", "--pid", str(waiters.pid), "--duration", "500ms"), "")
        done = subprocess.run([USCOPE, "record", "--quiet", "-o", self.db, *BACKEND_OPTIONS, "--", "/no/such/command"], capture_output=True,
                              text=True, timeout=WAIT, check=False)
        self.assertIn("/no/such/command", done.stderr)

    def test_errors_fit_the_terminal(self):
        master, slave = pty.openpty()
        process = self.start(USCOPE, "record", "--app", "a" * 10, "--pid", "1", *["--cgroup", "/"] * 3, stderr=slave, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(process.wait(WAIT), 125)
        os.close(slave)
        received = os.read(master, 4096).decode().replace("\r\n", "\n")
        os.close(master)
        self.assertTrue(received.startswith("uscope: more than one kind of target"), received)
        for line in received.splitlines():
            self.assertLessEqual(len(line), 80)


if __name__ == "__main__":
    unittest.main(verbosity=2)
