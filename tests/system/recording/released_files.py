#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Files of traced programs are open only while they are read: meanwhile file systems are unmounted, and files deleted, and their names are
in the trace all the same. Needs root and BPF; usage: released_files.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, PATIENCE  # noqa: E402
from trace_case import TraceCase  # noqa: E402
from traced_command import record  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
FIXTURES = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "."
PROGRAM = os.path.join(FIXTURES, "fixture_lingers")
STACK = ["main", "level", "level", "level", "getppid"]  # libc's start code is left off
LARGE = 20 << 20  # is not read from a copy in memory

# Where umount is refused, again for two seconds. A program that ends at once may be gone before it can be opened.
UNMOUNT = """
for i in 1 2 3; do
  mount -t tmpfs none $FOLDER/m && cp $PROGRAM $FOLDER/m/program && $FOLDER/m/program 100 || exit 3
  for try in $(seq 100); do umount $FOLDER/m && break; sleep 0.02; done
  mountpoint -q $FOLDER/m && exit 4
done; exit 0"""

# There is room for three programs.
DELETE = """
mount -t tmpfs -o size=3500k none $FOLDER/m || exit 3
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  cp $FOLDER/padded $FOLDER/m/program$i && $FOLDER/m/program$i 100 || exit 4
  rm $FOLDER/m/program$i
done; umount $FOLDER/m || sleep 1; exit 0"""

NAMES = """
cd $FOLDER; cp $PROGRAM kept; ./kept 100
cp $PROGRAM deleted; ./deleted 100; rm deleted
cp $PROGRAM replaced; ./replaced 100; cp $FOLDER/padded new; mv new replaced; ./replaced 100
mkdir hidden; cp $PROGRAM hidden/contained; cp $FOLDER/large hidden/large
unshare -m sh -c 'mount --bind hidden m; m/contained 100; m/large 400'
rm -r hidden; exit 0"""


def copy_of_program(path):
    subprocess.run(["cp", PROGRAM, path], check=True)
    return path


class ReleasedFiles(TraceCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("m"))
        self.addCleanup(subprocess.run, ["umount", "-l", self.path("m")], stderr=subprocess.DEVNULL, check=False)
        for name, size in (("padded", 1 << 20), ("large", LARGE)):
            subprocess.run(["cp", PROGRAM, self.path(name)], check=True)
            os.truncate(self.path(name), size)
        self.environment = {**os.environ, "FOLDER": self.folder.name, "PROGRAM": PROGRAM}

    def record(self, script, *options):
        return record(USCOPE, ["-e", "getppid,execve", *options], ["sh", "-c", script], self.db, env=self.environment)

    def names(self, module):
        """Of each getppid in it, in order: the functions of its stack, outermost first."""
        found = {}
        for event, function in self.rows(
                "SELECT e.id, f.function FROM v_event e JOIN stack_frame s ON s.stack_id = e.stack_id JOIN frame f ON f.id = s.frame_id "
                "WHERE e.kind = 'getppid' AND e.stack_id IN (SELECT s.stack_id FROM stack_frame s JOIN frame f ON f.id = s.frame_id "
                "JOIN module m ON m.id = f.module_id WHERE m.path LIKE ?) ORDER BY e.ts_ns, s.position DESC", "%/" + module):
            found.setdefault(event, []).append(function)
        return [[name for name in stack if not name.startswith(("_", "libc.so"))] for stack in found.values()]

    def test_file_systems_are_unmounted(self):
        for options in ([], ["--verify", "1"]):
            with self.subTest(options):
                done = self.record(UNMOUNT, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.names("program"), [STACK] * 3)

    def test_the_space_of_deleted_files_is_free(self):
        done = self.record(DELETE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names("program%"), [STACK] * 12)

    def test_names_of_what_is_gone(self):
        done = self.record(NAMES)
        self.assertEqual(done.returncode, 0, done.stderr)
        for module, count in (("kept", 1), ("deleted", 1), ("replaced", 2), ("contained", 1), ("large", 1)):
            self.assertEqual(self.names(module), [STACK] * count, module)
        self.assertEqual(self.rows("SELECT * FROM loss WHERE cause = 'file_changed'"), [])

    def held(self, process):
        """The paths of all files that uscope's processes have open or mapped."""
        paths = set()
        processes = [process]
        while processes:
            pid = processes.pop()
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                processes += children.read().split()
            if os.path.realpath(f"/proc/{pid}/exe") != USCOPE:
                continue
            for entry in os.listdir(f"/proc/{pid}/fd"):
                try:
                    paths.add(os.readlink(f"/proc/{pid}/fd/{entry}"))
                except FileNotFoundError:
                    pass
            with open(f"/proc/{pid}/maps") as maps:
                paths.update(words[5].strip() for words in (line.split(None, 5) for line in maps) if len(words) > 5)
        return paths

    def test_nothing_stays_open(self):
        """Of an application that runs, whoever looks at it."""
        program = copy_of_program(self.path("program"))
        loop = subprocess.Popen(["sh", "-c", f"while true; do {program} 100; sleep 0.05; done"], stdout=subprocess.DEVNULL)
        self.addCleanup(loop.wait)
        self.addCleanup(loop.kill)
        verbs = (["record", "-o", self.db], ["top"], ["query", "SELECT folded, count(*) FROM v_event GROUP BY 1"])
        processes = [subprocess.Popen([USCOPE, *verb, *BACKEND_OPTIONS, "--pid", str(loop.pid)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for verb in verbs]
        try:
            # All have met the program by then: what two of them show is there, and the third one began before these.
            for process in processes[1:]:
                process.stdout.read(1)
            time.sleep(0.5 * PATIENCE)
            for verb, process in zip(verbs, processes):
                with self.subTest(verb):
                    until = time.monotonic() + 2 * PATIENCE
                    held = self.held(process.pid)
                    while program in held and time.monotonic() < until:
                        time.sleep(0.05)
                        held = self.held(process.pid)
                    self.assertTrue(held)
                    self.assertNotIn(program, held, "it is open all the time")
        finally:
            for process in processes:
                process.kill()
                process.stdout.close()
                process.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
