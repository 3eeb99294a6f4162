#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The tables of a look (docs/schema.md), and what `events` prints of calls that were under way at the attachment, against /proc, /proc/locks and
the kernel's list of sockets, read here in another way. Needs root and BPF (or the module); usage: looks.py USCOPE FIXTURES"""
import fcntl
import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT, children_of  # noqa: E402
from backend import KERNEL_ONLY, alike_on_all_kernels  # noqa: E402

of_user_space = alike_on_all_kernels("read from /proc, which the kernels have alike: under emulation, half a minute")

# One program for all: its argument says what it waits in. It prints the numbers of its descriptors when it is about to wait.
PROGRAM = r"""
import fcntl, os, select, socket, sys, threading
mode, file = sys.argv[1], sys.argv[2]
def say(*numbers): print(*numbers, flush=True)
if mode == "flock":
    held = open(file, "w"); fcntl.flock(held, fcntl.LOCK_EX); other = open(file, "w"); say(other.fileno()); fcntl.flock(other, fcntl.LOCK_EX)
r, w = os.pipe(); a, b = socket.socketpair(); own = open(sys.argv[0])
if mode == "read": say(r); os.read(r, 1)
if mode == "write": say(w); os.write(w, b"x" * 200000)
if mode == "poll":
    p = select.poll(); p.register(r, select.POLLIN); p.register(a, select.POLLIN); say(r, a.fileno()); p.poll()
if mode == "select": say(r, a.fileno()); select.select([r, a], [], [])
if mode == "epoll":
    e = select.epoll(); e.register(r, select.EPOLLIN); e.register(a, select.EPOLLIN); say(e.fileno(), r, a.fileno()); e.poll()
if mode == "tcp":
    l = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(l.getsockname()); s, _ = l.accept(); say(s.fileno(), c.fileno(), l.fileno()); s.recv(1)
if mode == "buffers":
    spare, full = os.pipe()
    for call, *more in ((os.readv, r, [bytearray(100), bytearray(23)]), (os.writev, full, [b"x" * 70000, b"y" * 1000]), (a.recvmsg_into, [bytearray(50), bytearray(7)])):
        threading.Thread(target=call, args=more, daemon=True).start()
    say(r, full, a.fileno(), b.fileno()); b.recv(4000)
if mode == "threads":
    for _ in range(200): threading.Thread(target=os.read, args=(r, 1), daemon=True).start()
    say(r); os.read(r, 1)
"""


def object_of(pid, fd):
    found = os.stat(f"/proc/{pid}/fd/{fd}")
    return found.st_dev, found.st_ino


def access_of(pid, fd):
    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as file:
        flags = int(next(line for line in file if line.startswith("flags:")).split()[1], 8)
    return {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "rw"}[flags & 3]


def descriptors_of(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            pass  # of this process: that of the list itself
    return found


def unix_peers():
    """By inode: the kernel's list of unix sockets, asked with bytes that are put together here. None where the kernel has no such list: a module
    makes it, and guests have none."""
    sock_diag_by_family, request, dump, error, done = 20, 1, 0x300, 2, 3
    show_peer, attribute_peer = 4, 2
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as link:
        body = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, 0xffffffff, 0, show_peer, 0xffffffff, 0xffffffff)
        link.send(struct.pack("=IHHII", 16 + len(body), sock_diag_by_family, request | dump, 1, 0) + body)
        peers = {}
        while True:
            data = link.recv(1 << 17)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == error:
                    return None
                if kind == done:
                    return peers
                inode, = struct.unpack_from("=I", data, 20)
                at = 32
                while at + 4 <= length:
                    size, attribute = struct.unpack_from("=HH", data, at)
                    if attribute == attribute_peer:
                        peers[inode], = struct.unpack_from("=I", data, at + 4)
                    at += max(4, (size + 3) & ~3)
                data = data[(length + 3) & ~3:]


class Looks(AttachCase):
    def setUp(self):
        super().setUp()
        self.begun = 0
        self.program = self.script("program.py", PROGRAM)

    def begin(self, mode, threads=1):
        self.begun += 1
        process = self.start(sys.executable, self.program, mode, self.path(f"{self.begun}-app.lock"), stdout=subprocess.PIPE)
        numbers = [int(word) for word in process.stdout.readline().split()]
        self.wait_until_asleep(process.pid, threads)
        return process.pid, numbers

    def record(self, pid, *options):
        self.finish(self.attach("--pid", str(pid), *options))

    def printed(self, call):
        """The one line of this call, without what stands before it, and its JSON."""
        lines = subprocess.run([USCOPE, "events", self.db, "-e", call], capture_output=True, text=True, timeout=WAIT, check=True).stdout.splitlines()
        self.assertEqual(len(lines), 1, lines)
        events = subprocess.run([USCOPE, "events", self.db, "-e", call, "--format", "json"], capture_output=True, text=True, timeout=WAIT, check=True).stdout
        return lines[0][lines[0].index(f" {call}(") + 1:], json.loads(events)["events"][0]

    @of_user_space
    def test_descriptors_of_calls_that_are_under_way(self):
        for mode, call in (("flock", "flock"), ("read", "read"), ("write", "write")):
            for options in ((), ("-e", call)):
                with self.subTest(mode, options=options):
                    pid, (fd,) = self.begin(mode)
                    self.record(pid, *options)
                    name = os.readlink(f"/proc/{pid}/fd/{fd}")
                    text, event = self.printed(call)
                    self.assertTrue(text.startswith(f"{call}({fd}<{name}>, "), text)
                    self.assertEqual([(one["arg"], one["value"], one["late"]) for one in event["strings"]], [(0, name, False)])

    def test_sets_of_calls_that_are_under_way(self):
        for mode, call in (("poll", "poll"), ("select", "pselect6"), ("epoll", "epoll_wait")):
            for options in ((),) if KERNEL_ONLY else ((), ("-e", call)):
                with self.subTest(mode, options=options):
                    pid, numbers = self.begin(mode)
                    self.record(pid, *options)
                    first, second = (f"{fd}<{os.readlink(f'/proc/{pid}/fd/{fd}')}>" for fd in numbers[-2:])
                    text, event = self.printed(call)
                    if mode == "poll":
                        self.assertTrue(text.startswith(f"poll([{first} read, {second} read], 2, -1)"), text)
                    elif mode == "select":
                        self.assertTrue(text.startswith(f"pselect6({numbers[1] + 1}, [{first}, {second}], NULL, NULL, "), text)
                    else:
                        self.assertRegex(text, rf"^epoll_wait\({numbers[0]}<anon_inode:\[eventpoll\]> \[.* read, .* read\], 0x")
                        self.assertIn(f"{first} read", text)
                        self.assertIn(f"{second} read", text)
                    self.assertEqual(sorted(one["fd"] for one in event["descriptors"]), sorted(numbers[-2:]))
                    self.assertEqual({one["late"] for one in event["descriptors"]}, {False})

    def test_a_set_of_a_call_that_returns_later(self):
        """It was found by the look at the attachment; the descriptors are closed by the end."""
        process = self.start(sys.executable, "-c", "import os, select, sys; r, w = os.pipe(); p = select.poll(); p.register(0); p.register(r, 1)\n"
                             "p.modify(0, 1); print(r, flush=True); p.poll(); os.close(r); os.close(w); select.select([], [], [])",
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        number = int(process.stdout.readline())
        self.wait_until_asleep(process.pid, 1)
        names = {fd: os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in (0, number)}
        tracer = self.attach("--pid", str(process.pid))
        time.sleep(1)
        process.stdin.write(b"\n")
        process.stdin.flush()
        self.wait_for(lambda: number not in descriptors_of(process.pid), "it does not go on")
        self.wait_until_asleep(process.pid, 1)
        self.finish(tracer)
        text, _ = self.printed("poll")
        self.assertTrue(text.startswith(f"poll([0<{names[0]}> read, {number}<{names[number]}> read], 2, -1) = 1"), text)

    @of_user_space
    def test_hidden_names(self):
        pid, (fd,) = self.begin("flock")
        self.record(pid, "--redact", "*app.lock")
        self.assertEqual(self.rows("SELECT DISTINCT name FROM resource WHERE fd = ? AND pid = ?", fd, pid), [("[redacted]",)])
        self.assertEqual(self.rows("SELECT * FROM string WHERE value LIKE '%app.lock%'"), [])
        self.record(pid, "--no-strings")
        self.assertEqual(self.rows("SELECT DISTINCT name FROM resource"), [("",)])

    def test_descriptors_are_those_of_proc(self):
        peers_are_listed = unix_peers() is not None
        for mode in ("epoll", "tcp") if peers_are_listed else ("epoll",):
            with self.subTest(mode):
                pid, numbers = self.begin(mode)
                self.record(pid)
                names = descriptors_of(pid)
                wanted = {fd: name for fd, name in names.items() if not stat.S_ISREG(os.stat(f"/proc/{pid}/fd/{fd}").st_mode)}
                for at in ("attach", "look"):
                    found = self.rows("SELECT fd, name, access, dev, ino FROM resource WHERE pid = ? AND at = ?", pid, at)
                    self.assertEqual({fd: name for fd, name, *_ in found}, wanted)
                    for fd, name, access, dev, ino in found:
                        self.assertEqual(access, access_of(pid, fd), name)
                        if not name.startswith("anon_inode:"):
                            self.assertEqual((dev, ino), object_of(pid, fd), name)
                if not peers_are_listed:
                    self.assertTrue(KERNEL_ONLY, "the kernel does not list its sockets")
                elif mode == "epoll":
                    peers = unix_peers()
                    pairs = self.rows("SELECT ino, peer FROM resource WHERE pid = ? AND type = 'unix' AND at = 'look'", pid)
                    self.assertEqual(len(pairs), 2)
                    self.assertEqual(pairs, [(ino, peers[ino]) for ino, _ in pairs])
                else:
                    facts = {fd: (ino, peer, listening) for fd, ino, peer, listening in self.rows(
                        "SELECT fd, ino, peer, listening FROM resource WHERE type = 'inet' AND at = 'look'")}
                    server, client, listener = (facts[fd] for fd in numbers)
                    self.assertEqual((server[1], client[1]), (client[0], server[0]))
                    self.assertEqual((server[2], client[2], listener[2]), (0, 0, 1))

    @of_user_space
    def test_the_other_end_in_a_process_that_is_not_traced(self):
        pid, numbers = self.begin("read")
        name = os.readlink(f"/proc/{pid}/fd/{numbers[0]}")
        with open(f"/proc/{pid}/fd/{numbers[0]}", "wb") as _:
            self.record(pid)
            holds = [fd for fd, link in descriptors_of(os.getpid()).items() if link == name]
            self.assertEqual(self.rows("SELECT fd, access, process_id FROM resource WHERE pid = ? AND name = ? AND at = 'look'", os.getpid(), name), [(holds[0], "w", None)])

    @of_user_space
    def test_locks_are_those_of_proc(self):
        held, asked = self.path("held"), self.path("asked")
        takes = ("import fcntl, os, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX, 10, 5); g = open(sys.argv[2], 'w'); "
                 "print('now', flush=True); fcntl.lockf(g, fcntl.LOCK_EX)")
        own = open(asked, "w", encoding="utf-8")
        self.addCleanup(own.close)
        fcntl.lockf(own, fcntl.LOCK_EX)
        process = self.start(sys.executable, "-c", takes, held, asked, stdout=subprocess.PIPE)
        process.stdout.readline()
        self.wait_until_asleep(process.pid, 1)
        self.record(process.pid)
        with open("/proc/locks", encoding="utf-8") as file:
            lines = [line.split() for line in file]
        wanted = []
        for path in (held, asked):
            facts = os.stat(path)
            for words in lines:
                waiting = words[1] == "->"
                kind, _, mode, pid, where, first, last = words[2:9] if waiting else words[1:8]
                major, minor, inode = where.split(":")
                if (int(major, 16), int(minor, 16), int(inode)) == (os.major(facts.st_dev), os.minor(facts.st_dev), facts.st_ino):
                    wanted.append((kind.lower(), mode.lower(), int(first), None if last == "EOF" else int(last), int(pid), int(waiting), facts.st_ino))
        self.assertEqual(len(wanted), 3)
        found = self.rows("SELECT class, mode, first, last, pid, waiting, ino FROM held_lock")
        self.assertEqual(sorted(found, key=str), sorted(wanted, key=str))

    def test_two_hundred_threads(self):
        pid, (fd,) = self.begin("threads", threads=201)
        self.record(pid)
        states = self.rows("SELECT state, asleep, name, a0, count(*) FROM thread_look JOIN kind ON kind.id = kind_id GROUP BY 1, 2, 3, 4")
        self.assertEqual(states, [("asleep", 1, "read", fd, 201)])
        self.assertEqual(self.rows("SELECT fd, wants, count(*) FROM waited_descriptor GROUP BY 1, 2"), [(fd, "read", 201)])
        tids = {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}
        self.assertEqual({tid for tid, in self.rows("SELECT tid FROM thread JOIN thread_look ON thread.id = thread_id")}, tids)

    def test_how_much_is_asked_for(self):
        """Of all buffers together, as the program's source has them."""
        pid, (vector, full, message, plain) = self.begin("buffers", threads=4)
        self.record(pid)
        rows = self.rows("SELECT fd, wants, parts, bytes FROM waited_descriptor ORDER BY fd")
        self.assertEqual(rows, sorted([(vector, "read", 2, 123), (full, "write", 2, 71000), (message, "read", 2, 57), (plain, "read", None, 4000)]))
        waits = " ".join(subprocess.run([USCOPE, "deadlock", self.db], capture_output=True, text=True, timeout=WAIT, check=False).stdout.split())
        for call, fd, asked, end in (("readv", vector, "2 parts, 123 bytes", ", 2)"), ("writev", full, "2 parts, 71000 bytes", ", 2)"),
                                     ("recvmsg", message, "2 parts, 57 bytes", ", 0)")):
            name = os.readlink(f"/proc/{pid}/fd/{fd}")
            text, event = self.printed(call)
            self.assertTrue(text.startswith(f"{call}({fd}<{name}>, [{asked}]{end}"), text)
            self.assertEqual(f"{event['buffers']['parts']} parts, {event['buffers']['bytes']} bytes", asked)
            self.assertIn(f"{call}({fd}<{name.rstrip(']')}", waits)
            self.assertIn(f">, {asked})", waits)

    @of_user_space
    def test_processes_that_vanish_meanwhile(self):
        parent = self.start(sys.executable, "-c", "import os, signal, sys\nsys.stdout.flush()\nfor _ in range(200):\n  if os.fork() == 0:\n"
                            "    r, w = os.pipe(); os.read(r, 1)\nsignal.pause()")
        self.wait_for(lambda: len(children_of(parent.pid)) == 200, "too few children")
        children = children_of(parent.pid)
        tracer = self.attach(*[word for child in children for word in ("--pid", str(child))])
        tracer.send_signal(signal.SIGINT)
        for child in children[::2]:
            os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        # Of those that stayed, everything is there.
        stayed = set(children[1::2])
        found = {pid for pid, in self.rows("SELECT process.pid FROM thread_look JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id "
                                           "WHERE asleep = 1 AND state = 'asleep'")}
        self.assertLessEqual(stayed, found)
        held = {pid for pid, in self.rows("SELECT pid FROM resource WHERE type = 'pipe' AND access = 'r' AND at = 'look'")}
        self.assertLessEqual(stayed, held)
        waits = self.rows("SELECT count(DISTINCT thread_id) FROM waited_descriptor WHERE wants = 'read'")[0][0]
        self.assertGreaterEqual(waits, len(stayed))


if __name__ == "__main__":
    unittest.main(verbosity=2)
