#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The classic: the write end of a pipe is also open in a process that never closes it, here `cat`, which a careless Popen gave it to. Of
three programs that nobody made for a test, Python (which here leaves SIGINT alone) waits for wc, wc for the end of its input, cat for what Python would write. The
finding must name who has the end, which call made it, and who handed it on. Needs root and a backend; usage: openings.py USCOPE"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1))
COUNTS = """
import json, os, signal, subprocess, sys
if sys.argv[2:] == ["dies"]: signal.signal(signal.SIGINT, signal.SIG_DFL)
lines, end = os.pipe()
words, talk = os.pipe()
os.set_inheritable(end, True)
counter = subprocess.Popen(["wc", "-l"], stdin=lines)
helper = subprocess.Popen(["cat"], stdin=words, close_fds=False)
with open(sys.argv[1], "w") as file:
    json.dump({"python": os.getpid(), "wc": counter.pid, "cat": helper.pid, "end": end, "talk": talk, "pipe": os.readlink(f"/proc/self/fd/{end}"),
               "words": os.readlink(f"/proc/self/fd/{talk}")}, file)
os.close(end)
counter.wait()
"""
FORKS = {"fork", "vfork", "clone", "clone3"}


class Openings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-openings-")
        self.addCleanup(folder.cleanup)
        self.db, self.facts = os.path.join(folder.name, "counts.db"), os.path.join(folder.name, "facts")

    def deadlock(self, *options, status=1):
        done = subprocess.run([USCOPE, "deadlock", self.db, *options], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done.stdout

    def record(self, *arguments):
        # What hangs lives on, and keeps a pipe for its messages open.
        with open(self.facts + ".said", "w+", encoding="utf-8") as said:
            subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--duration", f"{4 * SLOWNESS}s", "--", "/usr/bin/python3", "-c", COUNTS,
                            self.facts, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=120 * SLOWNESS, check=False)
            said.seek(0)
            self.assertTrue(os.path.exists(self.db), said.read())
        with open(self.facts, encoding="ascii") as file:
            facts = json.load(file)
        self.addCleanup(lambda: [os.kill(facts[name], 9) for name in ("python", "wc", "cat") if os.path.exists(f"/proc/{facts[name]}")])
        return facts

    def test_what_pythons_own_handler_does_is_not_known(self):
        facts = self.record()
        text = " ".join(self.deadlock(status=3).split())
        self.assertIn("threads wait for each other", text)
        self.assertIn(f"Nothing but a handler of SIGINT in process {facts['python']} `python3", text)

    def test_a_write_end_that_another_program_keeps(self):
        facts = self.record("dies")
        found = json.loads(self.deadlock("--format", "json"))
        self.assertEqual(found["verdict"], "deadlock")
        (finding,) = found["findings"]
        self.assertEqual({thread["pid"] for thread in finding["threads"]}, {facts["python"], facts["wc"], facts["cat"]})
        openings = {(one["pid"], one["descriptor"]): one for one in finding["openings"]}
        # In the helper the end has the number that it had in Python.
        kept = openings[facts["cat"], facts["end"]]
        self.assertEqual((kept["object"], kept["process"]), (facts["pipe"], "cat"))
        made, handed = kept["steps"]
        self.assertEqual((made["call"], made["pid"], made["descriptor"]), ("pipe2", facts["python"], facts["end"]))
        self.assertIn(handed["call"], FORKS)
        self.assertEqual((handed["pid"], handed["descriptor"]), (facts["python"], None))
        (talks,) = openings[facts["python"], facts["talk"]]["steps"]
        self.assertEqual((talks["call"], talks["pid"], talks["descriptor"]), ("pipe2", facts["python"], facts["talk"]))
        self.assertTrue(made["stack"] and handed["stack"] and talks["stack"], "no stacks")
        self.assertLess(made["ts_ns"], handed["ts_ns"])
        text = " ".join(self.deadlock().split())
        self.assertIn(f"descriptor {facts['end']}<{facts['pipe']}> of cat (pid {facts['cat']}) comes from: pipe2 (as descriptor {facts['end']})", text)
        self.assertIn(f"the write end of {facts['pipe']} is open in process {facts['cat']} `cat` (descriptor {facts['end']})", text)


class OwnDescriptors(unittest.TestCase):
    """uscope keeps no end of the command's pipes open, beside its own output, and leaves the command what is the command's."""

    def test_ends_are_the_commands_alone(self):
        reading, writing = os.pipe()
        unread, fed = os.pipe()
        self.addCleanup(lambda: [os.close(fd) for fd in (reading, fed)])
        pipe, given = os.readlink(f"/proc/self/fd/{writing}"), os.readlink(f"/proc/self/fd/{unread}")
        with tempfile.TemporaryDirectory(prefix="uscope-openings-") as folder:
            command = ["sh", "-c", f"readlink /proc/$$/fd/0 /proc/$$/fd/{writing} > said; echo $$ >> said; exec sleep 1000"]
            with open(os.path.join(folder, "messages"), "w+", encoding="utf-8") as messages, subprocess.Popen(
                    [USCOPE, "record", *BACKEND_OPTIONS, "-o", "own.db", "--duration", f"{4 * SLOWNESS}s", "--", *command], cwd=folder, stdin=unread,
                    pass_fds=(writing,), stdout=messages, stderr=messages) as tracer:
                os.close(unread)
                os.close(writing)
                said = os.path.join(folder, "said")
                seen = set()
                while tracer.poll() is None:
                    if os.path.exists(said) and os.path.getsize(said):
                        try:
                            seen.update(os.readlink(f"/proc/{tracer.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{tracer.pid}/fd"))
                        except OSError:
                            continue  # closed meanwhile
                messages.seek(0)
                errors = messages.read()
            with open(said, encoding="ascii") as file:
                words = file.read().split()
        self.addCleanup(os.kill, int(words[2]), 9)
        self.assertEqual(words[:2], [given, pipe], errors)
        self.assertTrue(seen, errors)
        self.assertFalse(seen & {given, pipe}, "uscope has them open")
        # The command has not ended: it has the only write end.
        os.set_blocking(reading, False)
        with self.assertRaises(BlockingIOError):
            os.read(reading, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
