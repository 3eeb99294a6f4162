#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Descriptors that come in messages (SCM_RIGHTS) have names in the receiver, whoever has sent them and whatever -e is: what the
receiver's own /proc says of each is the truth. Needs root and BPF (or the module); usage: passed.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv[1])
del sys.argv[1:2]
WAIT = 60 * SLOWNESS
# The receiver seeks in each descriptor that has come, each time to another place, and tells what it was.
COMMON = '''
import array, ctypes, json, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
told = []
def use(fd):
    libc.lseek(fd, ctypes.c_long(777000 + len(told)), 0)
    told.append(os.readlink(f"/proc/self/fd/{fd}"))
def send(one, fds, times=1):
    for _ in range(times):
        socket.send_fds(one, [b"x"], fds)
def receive(one, room=253, flags=0):
    _, rest, gone, _ = one.recvmsg(1, socket.CMSG_LEN(4 * room), flags)
    fds = array.array("i")
    for _, _, data in rest:
        fds.frombytes(data[:len(data) - len(data) % 4])
    for fd in fds:
        use(fd)
        os.close(fd)
    return gone
'''
SENDER = COMMON + '''
def sender(one, folder):
    path = os.path.join(folder, "file")
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.symlink(path, path + "-link")
    link = os.open(path + "-link", os.O_RDONLY)
    gone = os.open(path + "-gone", os.O_RDWR | os.O_CREAT)
    os.unlink(path + "-gone")
    memory = os.memfd_create("memory")
    event = os.eventfd(0)
    pipe = os.pipe()
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.bind(("127.0.0.1", 0))
    send(one, [file])
    send(one, [file, memory, event, pipe[0], pipe[1], gone, link, os.open(folder, os.O_PATH)], 2)
    send(one, [file] * 100)
    send(one, [other.fileno()])
    os.close(file)
    send(one, [memory, event])          # the receiver's room is too small
    send(one, [event])                  # looked at (MSG_PEEK), then taken
'''
RECEIVER = '''
def receiver(one):
    receive(one)
    receive(one); receive(one)
    receive(one)
    receive(one)
    assert receive(one, room=1) & socket.MSG_CTRUNC
    receive(one, flags=socket.MSG_PEEK); receive(one)
    json.dump(told, open(sys.argv[2], "w"))
'''
BOTH = SENDER + RECEIVER + '''
left, right = socket.socketpair()
if os.fork() == 0:
    sender(left, sys.argv[1])
    os._exit(0)
os.wait()
receiver(right)
'''
SERVER = SENDER + '''
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2])
listener.listen()
print("ready", flush=True)
one, _ = listener.accept()
sender(one, sys.argv[1])
one.recv(1)
'''
CLIENT = COMMON + RECEIVER + '''
one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
receiver(one)
'''


class Passed(TraceCase):
    def setUp(self):
        super().setUp()
        self.work, self.truth = self.path("work"), self.path("truth")
        os.mkdir(self.work)

    def record(self, options, program, *arguments):
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, *options, "--", sys.executable, "-c", program,
                        *arguments], check=True, timeout=WAIT)

    def check(self, sender_is_traced):
        self.assertEqual(self.rows("SELECT cause, count FROM loss"), [])
        with open(self.truth, encoding="utf-8") as file:
            truth = json.load(file)
        said = dict(self.rows(
            "SELECT a1 - 777000, value FROM event JOIN kind ON kind.id = kind_id LEFT JOIN event_string ON event_id = event.id AND "
            "arg = 0 AND source = 2 LEFT JOIN string ON string.id = string_id WHERE name = 'lseek' AND a1 BETWEEN 777000 AND 778000"))
        self.assertEqual(len(truth), len(said))
        self.assertGreater(len(truth), 115)
        for number, wanted in enumerate(truth):
            got = said[number]
            self.assertIsNotNone(got, f"{number}: {wanted}")
            if sender_is_traced:  # names as it opened them: a link by its own name, a removed file by its path
                got = got.removesuffix("-link")
                wanted = wanted.removesuffix(" (deleted)") if wanted.endswith("-gone (deleted)") else wanted
                if wanted.startswith("pipe:"):
                    wanted = "pipe"
                if wanted.startswith("socket:"):
                    self.assertRegex(got, r"^socket:\[at inet:127\.0\.0\.1:")
                    continue
            self.assertEqual(got, wanted, number)

    def test_between_traced_processes(self):
        self.record([], BOTH, self.work, self.truth)
        self.check(sender_is_traced=True)
        events = subprocess.run([USCOPE, "events", "-e", "sendmsg", self.db], check=True, capture_output=True, text=True).stdout
        self.assertRegex(events, r"cmsg_type=SCM_RIGHTS, cmsg_data=\[\d+<" + self.work + "/file>")

    def test_of_some_calls_only(self):
        self.record(["-e", "lseek"], BOTH, self.work, self.truth)
        self.check(sender_is_traced=True)
        self.assertEqual(self.rows("SELECT DISTINCT name FROM kind"), [("lseek",)])

    def test_of_an_untraced_sender(self):
        path = self.path("socket")
        with subprocess.Popen([sys.executable, "-c", SERVER, self.work, path], stdout=subprocess.PIPE) as server:
            server.stdout.readline()
            self.record([], CLIENT, path, self.truth)
            server.wait(WAIT)
        self.check(sender_is_traced=False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
