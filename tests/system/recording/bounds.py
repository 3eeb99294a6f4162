#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tracing a program costs grows with what the program does, not with its square, whatever it does often. And a file that is slow to
read costs that file. Needs root and BPF; usage: bounds.py USCOPE PROGRAMS [CLASS]"""
import os
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

PROGRAMS = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else "programs"
USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# kind -> how often, at most. USCOPE_BOUNDS=128000 does each so often: by hand, it takes minutes.
KINDS = {"map": 64_000, "map_one": 64_000, "map_some": 64_000, "files": 800, "processes": 3000, "chain": 1600, "threads": 8000,
         "names": 32_000, "descriptors": 2000, "renames": 32_000}
LESS = 8
MOST_SECONDS = 60 * SLOWNESS  # of processor time, for each
SLACK = 1.5 * SLOWNESS  # what a recording costs that does nothing, and what a busy machine adds


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-bounds-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.much = os.path.join(cls.folder.name, "much")
        subprocess.run(["cc", "-O1", "-pthread", "-o", cls.much, os.path.join(PROGRAMS, "much.c")], check=True)
        cls.db = os.path.join(cls.folder.name, "trace.db")

    def cost(self, kind, count):
        """Processor seconds of the recording and of the program together."""
        if os.path.exists(self.db):
            os.unlink(self.db)
        before = processor_time()
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", self.much, kind, str(count),
                               "/bin/true"], capture_output=True, text=True, timeout=600 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return processor_time() - before

    def test_cost_grows_with_what_is_done(self):
        self.cost("names", 1)
        for kind, count in KINDS.items():
            count = int(os.environ.get("USCOPE_BOUNDS", count / SLOWNESS))
            with self.subTest(kind):
                some = self.cost(kind, count // LESS)
                many = self.cost(kind, count)
                print(f"{kind}: {count // LESS} in {some:.2f} s, {count} in {many:.2f} s", flush=True)
                self.assertLess(many, 2 * LESS * some + SLACK)
                self.assertLess(many, max(MOST_SECONDS, count / 400))


def hostile_file():
    """A library that asks for 65,000 others, whose names never end."""
    table_bytes = 64 << 20
    head, dynamic_at = 64 + 2 * 56, 4096
    dynamic = struct.pack("<QQQQ", 5, 1 << 21, 10, table_bytes)
    dynamic += b"".join(struct.pack("<QQ", 1, i) for i in range(65_000)) + bytes(16)
    total = (1 << 21) + table_bytes
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    header += struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    assert len(header) == head
    return (header.ljust(dynamic_at, b"\0") + dynamic).ljust(1 << 21, b"\0") + b"a" * table_bytes


class SlowFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-slow-")
        self.addCleanup(self.folder.cleanup)
        self.db = os.path.join(self.folder.name, "trace.db")
        self.much = os.path.join(self.folder.name, "much")
        subprocess.run(["cc", "-O1", "-pthread", "-o", self.much, os.path.join(PROGRAMS, "much.c")], check=True)

    def rows(self, sql):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(sql).fetchall()

    def test_a_file_that_asks_for_much_takes_no_time(self):
        path = os.path.join(self.folder.name, "asks.so")
        with open(path, "wb") as file:
            file.write(hostile_file())
        begun = time.monotonic()
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", sys.executable, "-c",
                               f"import mmap; f = open({path!r}, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC); m[0]"],
                              capture_output=True, text=True, timeout=120 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - begun, 60 * SLOWNESS)
        self.assertEqual(self.rows(f"SELECT trouble FROM unwind_table WHERE path = '{path}' AND trouble LIKE '%given up%'"), [])

    @staticmethod
    def readers_of(tracer):
        """The processes that read files for it: children of its children."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                    comm, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
                parent = int(rest.split()[1])
                with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as stat:
                    grandparent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if comm == "uscope-reader" and grandparent == tracer:
                found.append(int(name))
        return found

    def test_a_file_that_is_not_read_costs_that_file(self):
        """Its readers are stopped: as slow as a file can be. Beside it a program makes so many calls that the rings would overflow if
        nobody emptied them for the seconds after which it is given up."""
        calls = int(600_000 / SLOWNESS)
        copy = os.path.join(self.folder.name, "copy.so")
        shutil.copyfile("/bin/true", copy)
        slow = f"{self.much} names {calls // 8}; exec {sys.executable} -c 'import mmap; f = open(\"{copy}\", \"rb\"); " \
               "mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)[0]'"
        tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sh", "-c",
                                   f"({slow}) & {self.much} renames {calls}; {self.much} renames {calls}; wait"],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(tracer.kill)
        stopped = set()
        until = time.monotonic() + 20 * SLOWNESS
        while tracer.poll() is None and time.monotonic() < until:
            if os.path.exists(self.db + ".raw.part") and os.path.getsize(self.db + ".raw.part") > 1 << 20:
                for pid in set(self.readers_of(tracer.pid)) - stopped:
                    os.kill(pid, signal.SIGSTOP)
                    stopped.add(pid)
            time.sleep(0.005)
        said = tracer.communicate(timeout=120 * SLOWNESS)[1]
        self.assertEqual(tracer.returncode, 0, said)
        self.assertTrue(stopped)
        self.assertEqual(self.rows("SELECT cause, sum(count) FROM loss WHERE cause LIKE 'ring_full%' GROUP BY 1"), [])
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'prctl'"), [(2 * calls,)])
        told = self.rows("SELECT trouble FROM unwind_table WHERE trouble LIKE '%given up%'")
        self.assertTrue(told)


if __name__ == "__main__":
    unittest.main(verbosity=2)
