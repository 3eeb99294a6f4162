#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A tracer that is killed (SIGKILL) while it attaches thousands of probes, records or removes them leaves no breakpoint in any process, and
no process of its own. Needs root and BPF; usage: killed_tracers.py USCOPE"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from process_tree import children_of, name_of  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

FUNCTIONS = 3000
# Calls all of its functions after each line.
PROGRAM = ("".join(f"__attribute__((noinline)) int work{i}(int x) {{ __asm__ volatile(\"\"); return x + {i}; }}\n" for i in range(FUNCTIONS)) +
           "#include <stdio.h>\nint main(void) { char line[64]; while (fgets(line, sizeof(line), stdin)) { int sum = 0;\n" +
           "".join(f"sum = work{i}(sum);\n" for i in range(FUNCTIONS)) + "printf(\"%d\\n\", sum); fflush(stdout); } return 0; }\n")
SUM = FUNCTIONS * (FUNCTIONS - 1) // 2


class KilledTracers(TraceCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="uscope-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = os.path.join(folder.name, "many")
        subprocess.run(["gcc", "-O1", "-no-pie", "-x", "c", "-", "-o", cls.program], input=PROGRAM, text=True, check=True)

    def setUp(self):
        super().setUp()
        # Several, so that each probe takes its time.
        self.processes = [subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
        for process in self.processes:
            self.addCleanup(process.communicate)
            self.assertEqual(self.work(process), str(SUM))
        with open(f"/proc/{self.processes[0].pid}/maps", encoding="utf-8") as maps:
            words = next(line.split() for line in maps if line.rstrip().endswith(self.program) and "r-xp" in line)
        self.start, end = (int(word, 16) for word in words[0].split("-"))
        with open(self.program, "rb") as file:
            file.seek(int(words[2], 16))
            self.code = file.read(end - self.start)

    @staticmethod
    def work(process):
        process.stdin.write("go\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def breakpoints(self, process):
        """How many bytes of its code are not the file's."""
        with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(self.start)
            code = memory.read(len(self.code))
        return 0 if code == self.code else sum(one != other for one, other in zip(code, self.code))

    def begin(self):
        self.tracer = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "--all-matches", "-o", self.db, "-t",
                                        f"ufunction:{self.program}:work*", "--pid", str(self.processes[0].pid)],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.tracer.communicate)
        self.addCleanup(self.tracer.kill)

    def hear_tracing(self):
        heard = ""
        while "tracing" not in heard:
            line = self.tracer.stdout.readline()
            self.assertTrue(line, heard)
            heard += line
        return heard

    def wait_for(self, is_reached, what):
        until = time.monotonic() + 20 * SLOWNESS
        while not is_reached():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.001)

    def kill(self, *, guard_too=False):
        """The tracer, or all of uscope's processes as `pkill -9 uscope` does. Who reads what it says sees its end."""
        guards = [pid for pid in children_of(self.tracer.pid) if name_of(pid) == "uscope-guard"]
        self.assertEqual(len(guards), 1)
        self.tracer.kill()
        if guard_too:
            os.kill(guards[0], signal.SIGKILL)
        self.tracer.communicate(timeout=60 * SLOWNESS)
        self.wait_for(lambda: not name_of(guards[0]), "the guard ends")

    def check(self):
        # The process that removes them may end last.
        self.wait_for(lambda: not any(self.breakpoints(process) for process in self.processes), "no breakpoint is left")
        self.assertEqual([self.work(process) for process in self.processes], [str(SUM)] * len(self.processes))

    def test_while_it_attaches(self):
        self.begin()
        self.wait_for(lambda: self.breakpoints(self.processes[0]), "it attaches")
        self.kill()
        self.check()

    def test_while_it_records(self):
        self.begin()
        self.hear_tracing()
        self.assertEqual(self.breakpoints(self.processes[0]), FUNCTIONS)
        self.kill()
        self.check()

    def test_while_it_removes(self):
        for guard_too in (False, True):
            self.begin()
            self.hear_tracing()
            self.tracer.send_signal(signal.SIGINT)
            self.wait_for(lambda: self.breakpoints(self.processes[0]) < FUNCTIONS, "it removes")
            self.kill(guard_too=guard_too)
            self.check()

    def test_an_interrupt_while_it_attaches(self):
        self.begin()
        self.wait_for(lambda: self.breakpoints(self.processes[0]), "it attaches")
        self.tracer.send_signal(signal.SIGINT)
        said = self.tracer.communicate(timeout=60 * SLOWNESS)[0]
        self.assertEqual([self.breakpoints(process) for process in self.processes], [0] * len(self.processes), said)
        self.check()

    # As after a SIGKILL of the guard while it attached. It cannot be told from a program's own, for which a handler may come later.
    def test_what_was_left_over_is_refused_and_left_alone(self):
        self.begin()
        self.hear_tracing()
        with open(f"/proc/{self.processes[0].pid}/mem", "rb", buffering=0) as memory:
            memory.seek(self.start)
            probed = memory.read(len(self.code))
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.communicate(timeout=60 * SLOWNESS)
        self.check()
        marked = self.processes[1]
        with open(f"/proc/{marked.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(self.start)
            memory.write(probed)
        self.begin()
        said = self.tracer.communicate(timeout=60 * SLOWNESS)[0]
        self.assertNotEqual(self.tracer.returncode, 0)
        self.assertRegex(said, rf"process {marked.pid} .* has a breakpoint of its own there .* left over when a tracer was killed: then restart the process")
        self.assertEqual([self.breakpoints(process) for process in self.processes], [FUNCTIONS if process is marked else 0 for process in self.processes])
        marked.kill()


if __name__ == "__main__":
    unittest.main()
