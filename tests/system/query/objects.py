#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`v_event.object` and `object_kind`: the files, sockets and other objects that calls are about, as strace and /proc name them.
Needs root and a backend, and strace; usage: objects.py USCOPE FIXTURES"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

# Calls on objects of all kinds, the same in each run. What it opens before the marker is python's own.
PROGRAM = """
import os, select, signal, socket, sys
folder = sys.argv[1]
os.mkdir(folder)
os.chdir(folder)
os.getpgid(0)
one = os.open("one", os.O_RDWR | os.O_CREAT)
os.write(one, b"12345678")
os.fsync(one)
copy = os.dup(one)
os.pread(copy, 4, 0)
os.close(one)
one = os.open(folder + "/two", os.O_RDWR | os.O_CREAT)
os.ftruncate(one, 10)
os.fdatasync(copy)
os.sendfile(one, copy, 0, 8)
directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
os.listdir(directory)
os.fsync(directory)
os.close(directory)
out, into = os.pipe()
os.write(into, b"x")
os.read(out, 1)
left, right = socket.socketpair()
left.send(b"ab")
right.recv(2)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.connect(("127.0.0.1", 9))
datagrams.send(b"abc")
server = socket.socket(socket.AF_UNIX)
server.bind("sock")
server.listen()
client = socket.socket(socket.AF_UNIX)
client.connect("sock")
client.send(b"xyz")
accepted = server.accept()[0]
accepted.recv(3)
memory = os.memfd_create("in memory")
os.write(memory, b"1")
event = os.eventfd(1)
os.read(event, 8)
poll = select.epoll()
poll.register(out)
poll.poll(0)
child = os.pidfd_open(os.getpid())
signal.pidfd_send_signal(child, 0)
if os.fork() == 0:
    os.write(copy, b"child")
    os._exit(0)
os.wait()
os.rename("one", "three")
os.unlink("three")
os.getpgid(0)
"""
# Opens one file and one socket for good, and then, many times, others for a moment; children have copies meanwhile.
CHURN = """
import os, socket, sys, time
folder, times = sys.argv[1], int(sys.argv[2])
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
kept = os.open("kept", os.O_WRONLY | os.O_CREAT)
os.rename("kept", "renamed")
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.connect(("127.0.0.1", 9))
sys.stdin.readline()
for i in range(times):
    os.write(kept, b"x")
    file = os.open("passing", os.O_WRONLY | os.O_CREAT)
    os.write(file, b"x")
    if i % 10 == 0:
        if os.fork() == 0:
            os.close(kept)
            os.write(file, b"child")
            os._exit(0)
        os.wait()
    os.close(file)
    try:
        datagrams.send(b"y")
    except ConnectionRefusedError:
        pass
    time.sleep(0.002)
"""
# strace's word for an object: what object and object_kind are. A path is itself; None: strace says less.
NAMES = (
    (r"pipe:\[\d+\]", "pipe", "pipe"),
    (r"UNIX(?:-STREAM)?:.*", None, "unix"),
    (r"UDP:\[127\.0\.0\.1:\d+->127\.0\.0\.1:9\]", "socket:[to inet:127.0.0.1:9]", "inet"),
    (r"/memfd:in memory", "/memfd:in memory (deleted)", "memfd"),
    (r"anon_inode:\[eventfd\]", "anon_inode:[eventfd]", "eventfd"),
    (r"anon_inode:\[eventpoll\]", "anon_inode:[eventpoll]", "epoll"),
    (r"(?:anon_inode:\[pidfd\]|pid:\d+|pidfd:.*)", "anon_inode:[pidfd]", "pidfd"),
)
CALLS = ("read", "write", "pread64", "fsync", "fdatasync", "ftruncate", "sendfile", "getdents64", "epoll_ctl", "epoll_wait",
         "pidfd_send_signal", "close", "fcntl", "lseek", "newfstatat", "sendto", "recvfrom", "listen", "accept4")
CALL = re.compile(r"^\d+ +(\w+)\(\d+<(.*?)>(?:\(deleted\))?(?:[,)]| <unfinished)")


def named(word):
    for pattern, name, kind in NAMES:
        if re.fullmatch(pattern, word):
            return name, kind
    return word, None


class Objects(AttachCase):
    def setUp(self):
        super().setUp()
        self.program = self.path("program.py")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.made = self.path("made")

    def answer(self, *words):
        done = subprocess.run([USCOPE, "query", *words], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def command(self):
        """The same names in each run."""
        shutil.rmtree(self.made, ignore_errors=True)
        return ["sh", "-c", 'exec "$@" </dev/null >/dev/null 2>&1', "sh", sys.executable, "-I", "-S", self.program, self.made]

    def test_objects_are_those_that_strace_names(self):
        """Of one run, which both of them trace."""
        said = self.path("strace")
        command = ["strace", "-f", "-yy", "-s", "0", "-e", "trace=%desc,%network,getpgid", "-o", said, *self.command()]
        self.run_to_end(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--", *command)
        expected, marked = [], 0
        with open(said, encoding="utf-8") as lines:
            for line in lines:
                marked += " getpgid(" in line
                call = CALL.match(line)
                if marked == 1 and call and call[1] in CALLS:
                    expected.append((call[1], *named(call[2])))
        begin, end = self.rows("SELECT min(id), max(id) FROM v_event WHERE kind = 'getpgid' AND process LIKE 'python%'")[0]
        found = self.rows("SELECT kind, object, object_kind FROM v_event WHERE id BETWEEN ? AND ? AND process LIKE 'python%' "
                          f"AND kind IN ({', '.join('?' * len(CALLS))}) ORDER BY id", begin, end, *CALLS)
        self.assertGreater(len(expected), 25)
        self.assertEqual([(kind, name) for kind, name, _ in found],
                         [(kind, name if name is not None else other) for (kind, name, _), (_, other, _) in zip(expected, found)])
        for (kind, name, is_of), (_, _, known) in zip(found, expected, strict=True):
            self.assertEqual(is_of, known or ("folder" if name == self.made else "file"), (kind, name))

    QUESTIONS = (
        "SELECT object, object_kind, kind, count(*) FROM v_event WHERE process LIKE 'python%' GROUP BY 1, 2, 3",
        "SELECT object, count(dur_ns) FROM v_event WHERE kind GLOB 'f*sync' GROUP BY object",
        "SELECT object, sum(result) FROM v_event WHERE object_kind IN ('inet', 'unix') AND result > 0 GROUP BY object",
        "SELECT process, kind, object, result FROM v_event WHERE object GLOB '*/made/one' AND kind GLOB '*write*'",
        "SELECT object_kind, hist(result) FROM v_event WHERE object IS NOT NULL AND result >= 0 AND kind IN ('write', 'sendto') GROUP BY 1",
        "SELECT kind, object FROM (SELECT * FROM v_event WHERE object LIKE '%made%') WHERE object_kind = 'folder'",
    )

    def test_live_answers_are_those_of_a_recording(self):
        self.run_to_end(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--", *self.command())
        for question in self.QUESTIONS:
            with self.subTest(question=question):
                stored = self.answer("--format", "csv", self.db, question)
                live = self.answer(*BACKEND_OPTIONS, "--once", "--format", "csv", question, "--", *self.command())
                self.assertGreater(len(stored.splitlines()), 1)
                self.assertEqual(sorted(live.splitlines()), sorted(stored.splitlines()))

    def churned(self, answers, times, kept="kept", relation="to"):
        counts = {}
        for answer in answers:
            self.assertEqual(answer["lost"], 0)
            for kind, name, count in answer["rows"]:
                counts[kind, name] = counts.get((kind, name), 0) + count
        self.assertEqual(counts, {("write", os.path.join(self.made, kept)): times, ("write", os.path.join(self.made, "passing")): times + times // 10,
                                  ("sendto", f"socket:[{relation} inet:127.0.0.1:9]"): times})

    CHURNED = ("--format", "json", "SELECT kind, object, count(*) FROM v_event WHERE kind IN ('write', 'sendto') AND object_kind <> 'pipe' GROUP BY 1, 2")

    def test_names_last_from_interval_to_interval(self):
        times = 600
        command = ["sh", "-c", 'echo | "$@" 2>/dev/null', "sh", sys.executable, "-I", "-S", "-c", CHURN, self.made, str(times)]
        answers = [json.loads(line) for line in self.answer(*BACKEND_OPTIONS, "--every", "200ms", *self.CHURNED, "--", *command).splitlines()]
        self.assertGreater(len(answers), 5)
        self.churned(answers, times)

    def test_what_was_open_before_has_its_name(self):
        times = 300
        program = self.start(sys.executable, "-I", "-S", "-c", CHURN, self.made, str(times), stdin=subprocess.PIPE, text=True)
        self.wait_until_asleep(program.pid, 1)
        session = self.start(USCOPE, "query", *BACKEND_OPTIONS, "--every", "200ms", *self.CHURNED, "--pid", str(program.pid), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        self.addCleanup(session.stderr.close)
        first = session.stdout.readline()
        program.communicate("\n", timeout=WAIT)
        answers = [json.loads(line) for line in [first, *session.communicate(timeout=WAIT)[0].splitlines()]]
        self.assertEqual(session.returncode, 0)
        self.churned(answers, times, "renamed", "with")

    def test_the_whole_machine_is_recorded_by_path(self):
        """Who writes to a file, whoever it is; the raw trace says the same again."""
        file, raw, again = self.path("watched"), self.path("raw"), self.path("again.db")
        tracer = self.attach("--all", "--path", file, "--keep-raw", raw)
        script = f"echo a > {file}; cat {file} > /dev/null; echo b > {file}.other; mv {file}.other {file}; rm {file}"
        self.run_to_end("bash", "-c", script)
        self.run_to_end(sys.executable, "-I", "-S", "-c", f"open({file!r}, 'w').write('abc')")
        tracer.send_signal(signal.SIGINT)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        asked = "SELECT process, kind, object, result FROM v_event WHERE kind IN ('write', 'read', 'rename', 'renameat', 'renameat2', 'unlinkat') AND result >= 0 ORDER BY id"
        found = self.rows(asked)
        self.assertEqual([row[1:] for row in found if row[0] == "bash"], [("write", file, 2)])
        self.assertEqual([row[1:] for row in found if row[0] == "cat"], [("read", file, 2), ("read", file, 0)])
        self.assertEqual([row[2] for row in found if row[0] == "mv"], [file + ".other"])
        self.assertEqual([row[1:3] for row in found if row[0] == "rm"], [("unlinkat", file)])
        self.assertEqual([row[1:] for row in found if row[0].startswith("python")], [("write", file, 3)])
        self.assertEqual(self.rows("SELECT DISTINCT object FROM v_event WHERE object NOT IN (?, ?)", file, file + ".other"), [])
        self.run_to_end(USCOPE, "load", raw, "-o", again)
        self.db = again
        self.assertEqual(self.rows(asked), found)


if __name__ == "__main__":
    unittest.main()
