#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`record --data`: hostile lengths, calls that hang, what is left out, and that nothing is recorded unasked. Needs root and BPF (or the
module).

usage: contents.py USCOPE [CLASS]"""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import alike_on_all_kernels, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE = os.path.abspath(sys.argv[1])
del sys.argv[1]
of_user_space = alike_on_all_kernels("decided in user space")
DATA, STRUCTURE = 0, 1  # event_content.holds
PROGRAM, KERNEL = 0, 1  # event_content.source

# Each call is refused by the kernel or carries little, whatever its length says.
HOSTILE = """
import ctypes, mmap, os, struct
libc = ctypes.CDLL(None)
call = libc.syscall
call.argtypes = [ctypes.c_long] * 5
room = mmap.mmap(-1, 8192)
start = ctypes.addressof(ctypes.c_char.from_buffer(room))
libc.mprotect(ctypes.c_void_p(start + 4096), ctypes.c_size_t(4096), 0)
room[0:4] = b"data"
null = os.open("/dev/null", os.O_WRONLY)
write, readv, writev, poll, sendmsg, epoll_wait = 1, 19, 20, 7, 46, 232
call(write, null, start, -1, 0)               # as much as there can be
call(write, null, start + 4096, 10, 0)        # not readable
call(write, null, start + 4090, 100, 0)       # the end is not
call(write, null, 0xffff800000000000, 10, 0)  # the kernel's
call(write, null, 0x1000000000000000, 10, 0)  # nobody's
room[64:128] = struct.pack("<8Q", start, 4, start, 2**64 - 1, start + 4096, 9, 1, 1)
call(writev, null, start + 64, -1, 0)
call(writev, null, start + 64, 4, 0)
call(writev, null, start + 4096, 4, 0)
call(writev, null, start + 64, 1, 0)
call(poll, start, 2**32 - 1, 0, 0)             # more than there can be
call(poll, start, 400, 0, 0)
call(poll, start + 4096, 3, 0, 0)
call(poll, start, 0, 7, 0)                     # none
wide = mmap.mmap(-1, 8192)
many = ctypes.addressof(ctypes.c_char.from_buffer(wide))
wide[:] = struct.pack("<iI", -1, 0) * 1024
wide[4088:4092] = b"data"
call(poll, many, 700, 0, 0)
room[128:184] = struct.pack("<7Q", 0, 0, start + 64, 2**63, 0, 2**64 - 1, 0)
call(sendmsg, null, start + 128, 0, 0)
room[128:184] = struct.pack("<7Q", 2**64 - 1, 2**32 - 1, start + 4096, 7, 0, 0, 0)
call(sendmsg, null, start + 128, 0, 0)
call(sendmsg, null, start + 4096, 0, 0)
call(readv, null, start + 64, 2, 0)
call(epoll_wait, null, start, 2**31 - 1, 0)
os.write(null, b"the end")
"""

# What lies in the room is nothing to these calls.
UNLOOKED = """
import ctypes, mmap, os, struct
call = ctypes.CDLL(None).syscall
call.argtypes = [ctypes.c_long] * 6
room = mmap.mmap(-1, 4096)
start = ctypes.addressof(ctypes.c_char.from_buffer(room))
room[:] = (b"left" + b"here") * 512
word = mmap.mmap(-1, 4096)
futex = ctypes.addressof(ctypes.c_char.from_buffer(word))
epoll_create1, epoll_ctl, sys_futex, waitid = 291, 233, 202, 247
e = call(epoll_create1, 0, 0, 0, 0, 0)
word[64:76] = struct.pack("<IQ", 1, 7)
end = os.pipe()[0]
call(epoll_ctl, e, 1, end, futex + 64, 0)
call(epoll_ctl, e, 2, end, start, 0)
call(sys_futex, futex, 129, 1, start, 0)       # wakes
word[128:144] = struct.pack("<QQ", 0, 1000)
call(sys_futex, futex, 128, 0, futex + 128, 0) # waits
child = os.fork()
if child == 0:
    os._exit(3)
call(waitid, 1, child, start, 4, 0)
"""

BURST = """
import os, sys, time
ready, go = sys.argv[1:]
null = os.open("/dev/null", os.O_WRONLY)
os.mkdir(ready)
while not os.path.exists(go):
    time.sleep(0.01)
for _ in range(8000):
    os.write(null, b"x" * 4096)
os.rmdir(go)
"""


class Contents(unittest.TestCase):
    def record(self, program, *options, fails=False):
        folder = tempfile.TemporaryDirectory(prefix="uscope-contents-")
        self.addCleanup(folder.cleanup)
        self.path, self.raw = os.path.join(folder.name, "trace.db"), os.path.join(folder.name, "raw")
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, *options, "--keep-raw", self.raw, "-o", self.path, "--",
                               "/usr/bin/python3", "-I", "-S", "-c", program], capture_output=True, text=True,
                              timeout=120 * SLOWNESS, check=False)
        if not fails:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
            self.addCleanup(self.database.close)
        return done

    def contents(self, call, where="1"):
        """(arg, holds, source, bytes, cut) in the order of the calls."""
        return self.database.execute(
            "SELECT arg, holds, source, value, cut FROM event_content JOIN event ON event.id = event_id JOIN kind ON kind.id = kind_id "
            f"LEFT JOIN content ON content.id = content_id WHERE name = ? AND {where} ORDER BY event_id, arg, holds", [call]).fetchall()

    def events(self, *options):
        done = subprocess.run([USCOPE, "events", self.path, *options], capture_output=True, check=True, timeout=60 * SLOWNESS)
        return done.stdout.decode()

    @of_user_space
    def test_nothing_unasked(self):
        self.record("import os; os.write(1, b'a secret'); os.pipe()")
        self.assertEqual(self.contents("write"), [])
        # Small structures are kept always: no data, and nothing of the calls whose structures are asked for.
        kept = {(name, holds) for name, holds in self.database.execute(
            "SELECT DISTINCT name, holds FROM event_content JOIN event ON event.id = event_id JOIN kind ON kind.id = kind_id")}
        self.assertEqual({holds for _, holds in kept}, {STRUCTURE})
        self.assertIn(("pipe2", STRUCTURE), kept)
        self.assertEqual({name for name, _ in kept} & {"read", "newfstatat", "fstat", "statx"}, set())
        for path in (self.path, self.raw):
            with open(path, "rb") as file:
                content = file.read()
            # The program's text is in the command line.
            self.assertEqual(content.replace(b"b'a secret'", b"").count(b"a secret"), 0, path)

    def test_hostile_lengths(self):
        self.record(HOSTILE, "--data", "16")
        lost = self.database.execute("SELECT cause, count FROM loss").fetchall()
        self.assertEqual(lost, [])
        null = "a0 = (SELECT max(result) FROM event JOIN kind ON kind.id = kind_id WHERE name = 'openat')"
        writes = self.contents("write", null)
        self.assertEqual(writes[0], (1, DATA, PROGRAM, b"data" + bytes(12), 1))
        self.assertEqual(writes[-1], (1, DATA, PROGRAM, b"the end", 0))
        self.assertEqual(writes[1:-1], [(1, DATA, PROGRAM, bytes(6), 1)])  # what lies before the end of what is readable
        vectors = [(holds, value, cut) for _, holds, _, value, cut in self.contents("writev", null)]
        self.assertEqual(len(vectors), 6, vectors)
        self.assertEqual(vectors[0], (DATA, b"data" + b"data" + bytes(8), 1))
        self.assertEqual(vectors[1][1][:8], b"\xff" * 8)
        self.assertEqual(vectors[4], (DATA, b"data", 0))
        self.assertEqual(len(vectors[5][1]), 24 + 8)
        self.assertIn("[{iov_base=\"data\", iov_len=4}], 1) = 4", self.events("-e", "writev"))
        # An array that does not fit is cut behind a whole structure.
        polls = self.contents("poll", "a1 = 700")
        self.assertEqual([(len(value), cut) for _, _, _, value, cut in polls], [(4096, 1)] * 2)  # asked, and found
        self.assertIn("700, 0) = 1 ([{fd=1635017060, revents=POLLNVAL}])", self.events("-e", "poll"))
        self.assertEqual([(len(value), cut) for _, _, _, value, cut in self.contents("poll", "a1 = 400")], [(3200, 0)] * 2)
        self.assertEqual(self.contents("poll", "a1 IN (3, 4294967295)"), [])
        self.assertIn("poll([], 0, 7) = 0", self.events("-e", "poll"))
        self.assertEqual(self.contents("epoll_wait"), [])

    def test_what_a_call_does_not_look_at_is_not_kept(self):
        self.record(UNLOOKED, "--data", "4096")
        self.assertEqual(self.contents("epoll_ctl", "a1 = 2"), [])
        self.assertEqual([len(value) for _, _, _, value, _ in self.contents("epoll_ctl")], [12])
        self.assertEqual(self.contents("futex", "a1 = 129"), [])
        self.assertEqual([len(value) for _, _, _, value, _ in self.contents("futex", "a1 = 128")], [16])
        info = [value for _, _, _, value, _ in self.contents("waitid")]
        self.assertEqual([(len(value), value[12:16]) for value in info], [(28, bytes(4))])
        for path in (self.path, self.raw):
            with open(path, "rb") as file:
                self.assertEqual(file.read().count(b"lefthere"), 0, path)

    def test_a_call_that_hangs_shows_what_it_was_given(self):
        self.record("import os, select; r, w = os.pipe(); p = select.poll(); p.register(r, 1); p.poll(5000)", "--data", "8", "--duration",
                    "1500ms", fails=True)
        self.assertRegex(self.events("-e", "poll", "--how", "open"), r"poll\(\[\{fd=\d+, events=POLLIN\}\], 1, 5000\) = \?")

    @of_user_space
    def test_redaction(self):
        self.record("import os, socket\nn = os.open('/dev/null', 1)\nos.write(n, b'my pass' + b'word=x1')\nos.write(n, b'y' * 99)\n"
                    "os.writev(n, [b'my pass', b'word=x2'])\nos.write(n, b'harmless')\nos.writev(n, [b'before ', b'my p' + b'=x1', b' after'])\n"
                    "os.writev(n, [b'no secret', b' at all'])\nos.write(n, b'my p')\nos.write(n, b'=x1')",
                    "--data", "64", "--redact", "my*=x[12]")
        null = "a0 = (SELECT max(result) FROM event JOIN kind ON kind.id = kind_id WHERE name = 'openat')"
        self.assertEqual([value for _, _, _, value, _ in self.contents("write", null)], [None, None, b"harmless", b"my p", b"=x1"])  # spread over calls
        vectors = [value for _, holds, _, value, _ in self.contents("writev", null) if holds == DATA]
        self.assertEqual(vectors, [None, None, b"no secret at all"])  # together; one of several
        for path in (self.path, self.raw):
            with open(path, "rb") as file:
                content = file.read()
            for hidden in (b"word=x1\0", b"my password", b"yyyy", b"before my"):
                self.assertFalse(hidden in content, (path, hidden))
        self.assertIn('iov_base="[redacted]", iov_len=7', self.events("-e", "writev"))

    @of_user_space
    def test_json_and_print(self):
        done = self.record("import os; os.write(os.open('/dev/null', 1), b'\\xff\\n' + b'<' * 100)", "--data", "4", "--print")
        self.assertIn(r', "\xff\n<<"…, 102) = 102', done.stderr)
        events = json.loads(self.events("-e", "write", "--format", "json"))["events"]
        contents = [content for event in events for content in event["contents"] if content["bytes"] == "ff0a3c3c"]
        self.assertEqual(contents, [{"arg": 1, "holds": "data", "text": '"\\xff\\n<<"…', "bytes": "ff0a3c3c", "cut": True, "late": False,
                                     "source": "program"}])

    @alike_on_all_kernels("conformance.futexes meets each kernel")
    def test_a_futex_has_its_record_and_its_timeout(self):
        self.record("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire(timeout=0.1)", "--data", "8")
        waits = self.database.execute("SELECT count(*) FROM futex_wait WHERE timeout_ns IS NOT NULL").fetchone()[0]
        self.assertGreater(waits, 0)
        self.assertRegex(self.events("-e", "futex"), r"futex\(0x[0-9a-f]+, FUTEX_WAIT[A-Z_|]+, \d+, \{tv_sec=\d+, tv_nsec=\d+\}")

    def test_as_much_as_there_can_be(self):
        self.record("import os; n = os.open('/dev/null', 1); os.write(n, b'x' * 4096); os.write(n, b'x' * 4097); "
                    "os.writev(n, [b'y' * 4095, b'z' * 4096])", "--data", "4096")
        sizes = [(len(value), cut) for _, _, _, value, cut in self.contents("write") if value and set(value) == {ord("x")}]
        self.assertEqual(sizes, [(4096, 0), (4096, 1)])
        self.assertIn((1, DATA, PROGRAM, b"y" * 4095 + b"z", 1), self.contents("writev"))

    @alike_on_all_kernels("the size of the ring: under emulation, ten seconds")
    def test_a_burst_finds_room(self):
        """8000 writes of 4 KiB, 33 MB, while the tracer does not run: more than a ring holds without --data."""
        folder = tempfile.TemporaryDirectory(prefix="uscope-contents-")
        self.addCleanup(folder.cleanup)
        path, go, ready = (os.path.join(folder.name, name) for name in ("trace.db", "go", "ready"))
        tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "--data", "4096", "-e", "write", "-o", path, "--", "/usr/bin/python3",
                                   "-I", "-S", "-c", BURST, ready, go], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (tracer.kill(), tracer.wait()))
        for begins in (lambda: os.path.exists(ready), lambda: not os.path.exists(go)):
            end = time.monotonic() + 60 * SLOWNESS
            while not begins():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            if not os.path.exists(ready + "-seen"):
                os.mkdir(ready + "-seen")
                time.sleep(0.3)
                tracer.send_signal(signal.SIGSTOP)
                os.mkdir(go)
        tracer.send_signal(signal.SIGCONT)
        self.assertEqual(tracer.wait(60 * SLOWNESS), 0)
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            self.assertEqual(database.execute("SELECT cause, count FROM loss").fetchall(), [])
            self.assertEqual(database.execute("SELECT count(*) FROM event_content").fetchone()[0], 8000)

    @of_user_space
    def test_refused(self):
        for options, said in ((("--data", "0"), "--data"), (("--data", "4097"), "--data"), (("--data", "9", "--no-strings"), "--no-strings")):
            done = self.record("", *options, fails=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main(verbosity=2)
