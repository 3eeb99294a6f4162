#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Running processes that are not as most are: their first thread has ended, or their root directory is not the tracer's. Needs root and a
backend; usage: attach_unusual.py USCOPE FIXTURES"""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, LINEAGE, WAIT  # noqa: E402

MARKS = "v_event WHERE kind = 'getppid' AND folded LIKE '%;marks;%'"
PROCESSES = 5


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


class FirstThreadEnded(AttachCase):
    """The kernel releases a first thread that has ended when another one executes a program, and tells no tracer of it."""

    def leaderless(self, *command):
        process = self.start(LINEAGE, "leaderless", *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.wait_for(lambda: state_of(process.pid) == "Z", "the first thread goes on")
        return process

    def test_another_thread_executes(self):
        process = self.leaderless(LINEAGE, "work")
        tracer = self.attach("--pid", str(process.pid))
        self.assertIn("1 thread runs already", self.text())
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.ends(tracer)  # by itself: nothing of the process counts as living
        self.assertEqual(self.rows("SELECT pid, exit_code FROM process"), [(process.pid, 0)])
        self.assertEqual(self.rows("SELECT path FROM image ORDER BY ts_ns"), [(LINEAGE,), (LINEAGE,)])
        self.assertEqual(self.count(MARKS), 1)
        self.assertEqual(self.rows("SELECT kind, result FROM v_event WHERE kind = 'execve'"), [("execve", 0)])
        self.assertEqual(self.rows("SELECT kind, ended FROM v_event WHERE how = 'attached'"), [("read", "root")])

    def test_many_and_one_goes_on(self):
        going_on = self.leaderless(LINEAGE, "leaderless")
        others = [self.leaderless(LINEAGE, "work") for _ in range(PROCESSES)]
        pids = [process.pid for process in (going_on, *others)]
        tracer = self.attach(*(word for pid in pids for word in ("--pid", str(pid))))
        self.assertIn(f"{PROCESSES + 1} threads run already", self.text())
        for process in others:
            process.stdin.close()
            self.assertEqual(process.wait(WAIT), 0)
        # A process that has lost its first thread, got a new one by its exec, and lost that one too.
        os.write(going_on.stdin.fileno(), b"x")
        self.assertEqual(going_on.stdout.readline(), b"ready\n")
        self.wait_for(lambda: state_of(going_on.pid) == "Z", "the new first thread goes on")
        self.assertIsNone(tracer.poll(), self.text())
        going_on.stdin.close()
        self.assertEqual(going_on.wait(WAIT), 0)
        self.ends(tracer)
        self.assertEqual(sorted(self.rows("SELECT pid, exit_code FROM process")), sorted((pid, 0) for pid in pids))
        self.assertEqual(self.count(MARKS), PROCESSES + 1)


class OtherRoot(AttachCase):
    def test_a_program_in_a_changed_root(self):
        root = os.path.join(self.folder.name, "root")
        os.makedirs(os.path.join(root, "bin"))
        shutil.copy(shutil.which("busybox") or "/usr/bin/busybox", os.path.join(root, "bin", "busybox"))
        os.chmod(self.folder.name, 0o755)
        # By its parent: of a process that is named itself, the tracer reads the files before the kernel side meets them.
        parent = self.start("sh", "-c", f"chroot {root} /bin/busybox cat; true", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.write(parent.stdin.fileno(), b"x\n")
        self.assertEqual(parent.stdout.readline(), b"x\n")
        tracer = self.attach("--pid", str(parent.pid))
        self.assertIn("2 threads run already", self.text())
        parent.stdin.close()
        self.assertEqual(parent.wait(WAIT), 0)
        self.ends(tracer)
        self.assertEqual(self.rows("SELECT path FROM module WHERE path LIKE '%busybox%'"), [("/bin/busybox",)])
        self.assertEqual(self.count(f"process WHERE parent_id IS NULL AND pid = {parent.pid}"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
