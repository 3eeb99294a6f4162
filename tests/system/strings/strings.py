#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What arguments of calls point to: tests/fixtures/strings.c knows its own strings. Needs root and BPF (or the module).

usage: strings.py USCOPE FIXTURE SOURCE [CLASS]"""
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE, FIXTURE, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:4]
PROGRAM, KERNEL = 0, 1  # event_string.source


class Recorded:
    """One recording of the fixture, and what the store says of it."""

    def __init__(self, *options, cpu=None):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-strings-")
        self.work = os.path.join(self.folder.name, "work")
        os.mkdir(self.work)
        self.path = os.path.join(self.folder.name, "trace.db")
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, *options, "-o", self.path, "--", FIXTURE, self.work],
                              capture_output=True, text=True, timeout=60 * SLOWNESS, check=False,
                              preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        self.database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)

    def rows(self, sql, *values):
        return self.database.execute(sql, values).fetchall()

    def strings(self, where="1", *values):
        """(call, arg, value, late, source) in the order of the calls."""
        return self.rows("SELECT kind.name, arg, value, late, source FROM event_string JOIN event ON event.id = event_id JOIN kind "
                         "ON kind.id = kind_id JOIN string ON string.id = string_id "
                         f"WHERE source < 2 AND {where} ORDER BY event_id, arg", *values)

    def close(self):
        self.database.close()
        self.folder.cleanup()


class Strings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Recorded()

    @classmethod
    def tearDownClass(cls):
        cls.run_.close()

    def test_nothing_is_lost(self):
        self.assertEqual(self.run_.rows("SELECT cause, count FROM loss"), [])

    def test_every_processor_reads_them(self):
        wanted = len(self.run_.strings())
        for cpu in sorted(os.sched_getaffinity(0))[:4]:
            pinned = Recorded(cpu=cpu)
            self.addCleanup(pinned.close)
            self.assertEqual(len(pinned.strings()), wanted, f"processor {cpu}")

    def test_every_path_stands_at_its_argument(self):
        with open(SOURCE, encoding="utf-8") as source:
            wanted = {(call, int(arg)) for call, arg in re.findall(r"P\((\w+), (\d)\)", source.read()) if call != "call"}
        self.assertGreater(len(wanted), 60)
        found = {}
        for call, arg, value, late, source in self.run_.strings("value GLOB 'p:*'"):
            name, number = value.removesuffix("/none").split(":")[1:]
            self.assertEqual((call, arg), (name, int(number)))
            self.assertEqual((late, source), (0, PROGRAM), value)
            found[(call, arg)] = found.get((call, arg), 0) + 1
        self.assertEqual(set(found), wanted)
        self.assertEqual(set(found.values()), {1})

    def test_what_the_kernel_writes(self):
        rows = [row for row in self.run_.strings("source = 1 AND arg < 2 AND kind.name IN ('readlink', 'readlinkat', 'getcwd')")]
        self.assertEqual(rows, [("readlink", 1, "target of the link", 0, KERNEL), ("getcwd", 0, self.run_.work, 0, KERNEL)])
        self.assertIn(("readlinkat", 2, "target", 0, KERNEL), self.run_.strings("kind.name = 'readlinkat'"))

    def test_memory_that_nobody_had_touched_is_read_late(self):
        self.assertEqual(self.run_.strings("value = 'late:path'"), [("open", 0, "late:path", 1, PROGRAM)])

    def test_the_32_bit_abi(self):
        self.assertEqual(self.run_.strings("kind.abi = 'i386'"), [("open", 0, "i386:path", 0, PROGRAM), ("stat64", 0, "i386:path", 0, PROGRAM)])

    def test_long_hostile_and_invalid_texts(self):
        long = [value for _, _, value, _, _ in self.run_.strings("value GLOB 'long:*'")]
        self.assertEqual(long, ["long:" + "x" * 251 + "…", "long:" + "x" * 251])
        self.assertEqual(self.run_.strings("value GLOB 'bad*'"), [("open", 0, "bad\\xff\\xfeutf8", 0, PROGRAM)])
        self.assertEqual(self.run_.strings("value GLOB 'esc*'"), [("open", 0, "esc\x1b[31mred", 0, PROGRAM)])
        self.assertEqual(len(self.run_.strings("value = '' AND kind.name = 'open'")), 1)
        invalid = self.run_.rows("SELECT event.id FROM event JOIN kind ON kind.id = kind_id WHERE name = 'open' AND a1 = 1")
        self.assertEqual(len(invalid), 2)
        for (event,) in invalid:
            self.assertEqual(self.run_.strings("event_id = ?", event), [])

    def test_socket_addresses(self):
        rows = self.run_.strings("kind.name IN ('bind', 'connect', 'accept', 'getsockname', 'sendto', 'recvfrom', 'sendmsg', 'recvmsg')")
        port = next(value for call, _, value, _, _ in rows if call == "getsockname").rsplit(":", 1)[1]
        self.assertGreater(int(port), 0)
        sender = next(value for call, _, value, _, _ in rows if call == "recvfrom")
        self.assertRegex(sender, r"^inet:127\.0\.0\.1:\d+$")
        self.assertEqual(rows, [
            ("bind", 1, "unix:socket", 0, PROGRAM),
            ("connect", 1, "unix:socket", 0, PROGRAM),
            ("accept", 1, "unix:", 0, KERNEL),
            ("bind", 1, "unix:@uscope-strings", 0, PROGRAM),
            ("connect", 1, "inet6:[::1]:7", 0, PROGRAM),
            ("bind", 1, "netlink:pid=0 groups=0x1", 0, PROGRAM),
            ("bind", 1, "inet:127.0.0.1:0", 0, PROGRAM),
            ("bind", 1, "inet:127.0.0.1:0", 0, PROGRAM),
            ("getsockname", 1, f"inet:127.0.0.1:{port}", 0, KERNEL),
            ("sendto", 4, f"inet:127.0.0.1:{port}", 0, PROGRAM),
            ("recvfrom", 4, sender, 0, KERNEL),
            ("sendmsg", 1, f"inet:127.0.0.1:{port}", 0, PROGRAM),
            ("recvmsg", 1, sender, 0, KERNEL),
        ])

    def test_an_exec_has_its_images_path_and_arguments(self):
        rows = self.run_.strings("kind.name = 'execve' AND event.result = 0")
        self.assertEqual(rows, [
            ("execve", 0, FIXTURE, 0, PROGRAM),
            ("execve", 1, json.dumps([FIXTURE, self.run_.work], separators=(",", ":")), 0, PROGRAM),
            ("execve", 0, FIXTURE, 0, PROGRAM),
            ("execve", 1, '["again","two words","\\u001b[1m"]', 0, PROGRAM),
        ])

    def test_events_shows_them_escaped(self):
        out = subprocess.run([USCOPE, "events", self.run_.path], capture_output=True, check=True, timeout=60).stdout
        self.assertNotIn(b"\x1b", out)
        text = out.decode()
        for wanted in (r'open("esc\x1b[31mred", ', r'open("p:open:0", ', 'open("late:path", ', "open(0x8, "):
            self.assertTrue(wanted in text, wanted)


class Options(unittest.TestCase):
    def record(self, *options):
        run = Recorded(*options)
        self.addCleanup(run.close)
        return run

    def test_no_strings_reads_none(self):
        run = self.record("--no-strings")
        self.assertEqual(run.rows("SELECT (SELECT count(*) FROM event_string), (SELECT count(*) FROM string)"), [(0, 0)])
        self.assertEqual(set(run.rows("SELECT path FROM image")), {(FIXTURE,)})
        self.assertEqual(set(run.rows("SELECT argv FROM image")), {('[null]',)})
        self.assertEqual(run.rows("SELECT value FROM meta WHERE key = 'command'"), [(json.dumps([FIXTURE, "…"], separators=(",", ":"),
                                                                                           ensure_ascii=False),)])

    def test_redacted_texts_are_in_neither_file(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-strings-")
        self.addCleanup(folder.cleanup)
        raw = os.path.join(folder.name, "raw")
        run = self.record("--redact", "*openat2*", "--redact", "two w?rds", "--redact", "*unix:@*", "--redact", "*/work/file",
                          "--keep-raw", raw)
        self.assertIn(("openat2", 1, "[redacted]", 0, PROGRAM), run.strings("kind.name = 'openat2'"))
        self.assertIn(("bind", 1, "[redacted]", 0, PROGRAM), run.strings("kind.name = 'bind'"))
        self.assertIn(('["again","[redacted]","\\u001b[1m"]',), run.rows("SELECT argv FROM image"))
        # One that was cut off could be any.
        self.assertEqual(len(run.strings("kind.name = 'open' AND value = '[redacted]'")), 1)
        # A name that the loader put together.
        names = {value for (value,) in run.rows("SELECT value FROM event_string JOIN string ON string.id = string_id JOIN event ON "
                                                "event.id = event_id JOIN kind ON kind.id = kind_id WHERE name = 'ftruncate'")}
        self.assertEqual(names, {"[redacted]"})
        for name in (raw, run.path):
            with open(name, "rb") as file:
                content = file.read()
            for hidden in (b"p:openat2", b"two words", b"uscope-strings\0", b"@uscope-strings", b"/work/file\0"):
                self.assertFalse(hidden in content, (name, hidden))

    def test_names_of_what_a_look_finds(self):
        with tempfile.TemporaryDirectory(prefix="uscope-strings-") as folder:
            lock, trace = os.path.join(folder, "app.lock"), os.path.join(folder, "trace.db")
            for options, name in (((), lock), (("--redact", "*/app.lock"), "[redacted]"), (("--no-strings",), "")):
                with self.subTest(options=options):
                    subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, *options, "--force", "--duration", f"{2 * SLOWNESS}s", "-o", trace, "--",
                                    "flock", lock, "sleep", str(3 * SLOWNESS)], capture_output=True, timeout=60 * SLOWNESS, check=False)
                    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
                        rows = database.execute("SELECT DISTINCT name FROM resource WHERE type = 'file'").fetchall()
                    self.assertEqual(rows, [(name,)])

    def test_string_bytes(self):
        run = self.record("--string-bytes", "9")
        self.assertEqual([value for _, _, value, _, _ in run.strings("value GLOB 'late*'")], ["late:path"])
        self.assertEqual([value for _, _, value, _, _ in run.strings("kind.name = 'openat2'")], ["p:openat2…"])

    def test_an_open_that_hangs_shows_its_path(self):
        with tempfile.TemporaryDirectory(prefix="uscope-strings-") as folder:
            fifo, trace = os.path.join(folder, "fifo"), os.path.join(folder, "trace.db")
            os.mkfifo(fifo)
            subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "--duration", "1500ms", "-o", trace, "--", "timeout", "4", "cat", fifo],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60 * SLOWNESS, check=False)
            out = subprocess.run([USCOPE, "events", trace, "--how", "open", "-e", "openat"], capture_output=True, check=True,
                                 timeout=60).stdout.decode()
            self.assertTrue(f'"{fifo}"' in out, out[-2000:])

    def test_descriptors_of_a_process_that_ran_before(self):
        with tempfile.TemporaryDirectory(prefix="uscope-strings-") as folder, subprocess.Popen(
                ["sh", "-c", "while read -r line; do cat <&3 >/dev/null; echo done; done 3</etc/passwd"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE) as shell:
            trace = os.path.join(folder, "trace.db")
            tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "--pid", str(shell.pid), "-o", trace],
                                      stderr=subprocess.PIPE, text=True)
            tracer.stderr.readline()  # it is attached
            shell.stdin.write(b"go\n")
            shell.stdin.flush()
            shell.stdout.readline()
            shell.stdin.close()
            tracer.communicate(timeout=60 * SLOWNESS)
            out = subprocess.run([USCOPE, "events", trace, "-e", "read"], capture_output=True, check=True, timeout=60).stdout.decode()
            # dash moves it out of the way of 0 … 9; cat reads it as its standard input.
            self.assertTrue("read(0</etc/passwd>, " in out, out[-2000:])
            self.assertTrue("read(0<pipe:[" in out, out[-2000:])


if __name__ == "__main__":
    unittest.main(verbosity=2)
