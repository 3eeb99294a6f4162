#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a descriptor is said to be is what /proc said of it before or after the call, or nothing is said: tests/fixtures/descriptors.c
tells the truth. Needs root and BPF (or the module); usage: descriptors.py USCOPE FIXTURE"""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from process_tree import wait_until_at_rest  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
WAIT = 60 * SLOWNESS
# A file is opened, sent, and closed at the sender's end; 9 is the receiver's.
NARROW = """
        .globl _start
        .data
path:   .asciz "{path}"
        .align 4
pair:   .long 1, 1, 0, ends             # AF_UNIX, SOCK_STREAM
ends:   .long 0, 0
bytes:  .long bytes, 1
passed: .long 16, 1, 1, 0               # SOL_SOCKET, SCM_RIGHTS
to:     .long 0, 0, bytes, 1, passed, 16, 0
came:   .long 0, 0, 0, 0
from:   .long 0, 0, bytes, 1, came, 16, 0
sends:  .long 0, to, 0
takes:  .long 0, from, 0
        .macro call number, first, second, third
        mov \\first, %ebx
        mov \\second, %ecx
        mov \\third, %edx
        mov $\\number, %eax
        int $0x80
        .endm
        .text
_start: call 5, $path, $0x42, $0644     # open
        mov %eax, passed + 12
        call 102, $8, $pair, $0         # socketcall: socketpair, sendmsg, recvmsg
        mov ends, %eax
        mov %eax, sends
        mov ends + 4, %eax
        mov %eax, takes
        call 102, $16, $sends, $0
        call 6, passed + 12, $0, $0     # close
        call 102, $17, $takes, $0
        call 63, came + 12, $9, $0      # dup2
        call 4, $9, $bytes, $1          # write
        call 1, $0, $0, $0              # exit
"""
SERVER = '''
import ctypes, fcntl, json, socket, struct
def said(s, what):
    host, port = what
    return {s.fileno(): f"socket:[{'at' if what == s.getsockname() else 'with'} inet:{host}:{port}]"}
assert ctypes.CDLL(None).unshare(0x40000000) == 0
listener = socket.socket()
fcntl.ioctl(listener, 0x8914, struct.pack("16sh14x", b"lo", 1))
listener.bind(("127.0.0.1", 0))
listener.listen()
client = socket.create_connection(listener.getsockname())
accepted, _ = listener.accept()
copy = client.dup()
bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bound.bind(("127.0.0.1", 0))
print(json.dumps({**said(listener, listener.getsockname()), **said(client, client.getpeername()), **said(copy, copy.getpeername()),
                  **said(accepted, accepted.getpeername()), **said(bound, bound.getsockname())}), flush=True)
input()
for one in client, accepted, copy:
    one.send(b"x")
for one in listener, bound:
    one.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
'''


class Descriptors(TraceCase):
    def setUp(self):
        super().setUp()
        self.work, self.truth = self.path("work"), self.path("truth")
        os.mkdir(self.work)

    def said(self):
        """What a read of that length was of, where it is said."""
        self.assertEqual(self.rows("SELECT cause, count FROM loss"), [])
        return dict(self.rows(
            "SELECT a2, value FROM event JOIN kind ON kind.id = kind_id LEFT JOIN event_string ON event_id = event.id AND "
            "arg = 0 AND source = 2 LEFT JOIN string ON string.id = string_id WHERE name = 'read' AND a2 > 0 ORDER BY a2"))

    def check(self, musts):
        said, wrong, missing, named = self.said(), [], [], 0
        with open(self.truth, encoding="utf-8") as file:
            told = [line.split() for line in file]
        self.assertGreater(len(told), 60)
        for number, wanted, *truths in told:
            name = said[int(number)]
            named += name is not None
            if name is not None and name not in truths:
                wrong.append((number, name, truths))
            if name is None and wanted == "must" and musts:
                missing.append((number, truths))
        self.assertEqual(wrong, [])
        self.assertEqual(missing, [])
        return named, len(told)

    def record(self, *target, **options):
        return subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *target], stderr=subprocess.PIPE, text=True, **options)

    def test_of_a_command(self):
        with open(self.truth, "w", encoding="utf-8") as out:
            tracer = self.record("--", FIXTURE, self.work, stdout=out)
            tracer.communicate(timeout=WAIT)
            self.assertEqual(tracer.returncode, 0)
        named, _ = self.check(musts=True)
        self.assertGreater(named, 30)

    def test_of_a_process_that_ran_before(self):
        with open(self.truth, "w", encoding="utf-8") as out:
            shell = subprocess.Popen(["sh", "-c", f'read -r line; exec "{FIXTURE}" "{self.work}"'], stdin=subprocess.PIPE, stdout=out)
            tracer = self.record("--pid", str(shell.pid))
            tracer.stderr.readline()  # it is attached
            shell.stdin.close()
            self.assertEqual(shell.wait(WAIT), 0)
            tracer.communicate(timeout=WAIT)
        self.check(musts=True)

    def test_of_a_process_that_comes_into_the_trace_by_its_name(self):
        """The first calls come before /proc has been asked: they need not be said."""
        program = os.path.join(self.folder.name, f"descriptors-{os.getpid()}")
        shutil.copy(FIXTURE, program)
        tracer = self.record("--app", os.path.basename(program))
        tracer.stderr.readline()  # it is attached
        with open(self.truth, "w", encoding="utf-8") as out:
            waiting = {**os.environ, "DESCRIPTORS_WAIT": "1"}
            process = subprocess.Popen([program, self.work], stdin=subprocess.PIPE, stdout=out, env=waiting)
            wait_until_at_rest(tracer.pid, WAIT)
            process.stdin.close()
            self.assertEqual(process.wait(WAIT), 0)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=WAIT)
        named, _ = self.check(musts=False)
        self.assertGreater(named, 10)

    def test_sockets_from_before(self):
        """They have the addresses that the program itself says, also in a network namespace of its own."""
        with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            said = json.loads(server.stdout.readline())
            tracer = self.record("--pid", str(server.pid), "-e", "sendto,getsockopt,getsockname")
            tracer.stderr.readline()  # it is attached
            server.communicate("\n", timeout=WAIT)
            tracer.communicate(timeout=WAIT)
        names = dict(self.rows("SELECT DISTINCT a0, value FROM event JOIN event_string ON event_id = event.id AND arg = 0 AND source = 2 "
                               "JOIN string ON string.id = string_id"))
        self.assertEqual({fd: names[int(fd)] for fd in said}, said)

    def test_passed_by_socketcall(self):
        """A 32-bit program, as the libraries of older ones do it: all by the one call socketcall."""
        source, program = self.path("narrow.s"), self.path("narrow")
        with open(source, "w", encoding="utf-8") as file:
            file.write(NARROW.format(path=self.path("passed")))
        subprocess.run(["as", "--32", source, "-o", self.path("narrow.o")], check=True)
        subprocess.run(["ld", "-m", "elf_i386", self.path("narrow.o"), "-o", program], check=True)
        for calls in ["-e", "write"], []:
            subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, *calls, "-o", self.db, "--", program], check=True, timeout=WAIT)
            self.assertEqual(self.rows("SELECT object, a0, result FROM v_event WHERE kind = 'write'"), [(self.path("passed"), 9, 1)])

    def test_of_some_calls_only(self):
        """Calls that change descriptors are followed, and are no events."""
        with open(self.truth, "w", encoding="utf-8") as out:
            self.record("-e", "read", "--", FIXTURE, self.work, stdout=out).communicate(timeout=WAIT)
        self.check(musts=True)
        self.assertEqual(self.rows("SELECT DISTINCT name FROM kind"), [("read",)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
