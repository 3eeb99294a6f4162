#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs that make the same calls again and again send next to no stack copies: walks are left to user space while a program starts, and
not for each call. Needs root and a backend; usage: steady_copies.py USCOPE"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
CALLS = 40_000  # at least, of each program
START = 1000  # copies while a program starts, on a busy machine
PART = 0.01  # of all walks: where another thread holds the lock of the mappings

PYTHON = """
import os, threading
def work():
    for _ in range(4000):
        os.stat("/etc/passwd")
        open("/etc/passwd").read()
        bytearray(300000)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
PERL = 'for (1..15000) { stat("/etc/passwd"); open(my $f, "<", "/etc/passwd"); my @all = <$f>; }'
# Each round is a process of its own.
BASH = "for ((i = 0; i < 250; i++)); do x=$(echo $i | cat); read a </etc/passwd; done"
NODE = 'const fs = require("fs"); for (let i = 0; i < 45000; i++) { fs.statSync("/etc/passwd"); if (i % 100 == 0) Buffer.alloc(1000000); }'
JAVA = """
public class Loop {
  public static void main(String[] arguments) throws Exception {
    Thread[] threads = new Thread[4];
    for (int k = 0; k < 4; k++) {
      threads[k] = new Thread(() -> {
        for (int i = 0; i < 12000; i++) { new java.io.File("/etc/passwd").length(); byte[] some = new byte[100000]; }
      });
      threads[k].start();
    }
    for (Thread thread : threads) thread.join();
  }
}
"""


class SteadyCopies(TraceCase):
    def check(self, *command):
        for _ in range(2):  # the rows of its files are in the cache by the second time
            done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-q", "--force", "-o", self.db, "--", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        figures = {key: int(value) for key, value in self.rows("SELECT key, value FROM meta WHERE key = 'walks' OR key LIKE 'deferred_%'")}
        walks = figures.pop("walks")
        self.assertGreater(walks, CALLS)
        self.assertLess(sum(figures.values()), START + PART * walks, figures)

    def needs(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def test_python(self):
        self.check("/usr/bin/python3", "-c", PYTHON)

    def test_perl(self):
        self.check("perl", "-e", PERL)

    def test_bash(self):
        self.check("bash", "-c", BASH)

    def test_node(self):
        self.needs("node")
        self.check("node", "-e", NODE)

    def test_java(self):
        self.needs("java")
        self.needs("javac")
        pathlib.Path(self.path("Loop.java")).write_text(JAVA, encoding="ascii")
        subprocess.run(["javac", "-d", self.folder.name, self.path("Loop.java")], check=True)
        self.check("java", "-cp", self.folder.name, "Loop")


if __name__ == "__main__":
    unittest.main()
