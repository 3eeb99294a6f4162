#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope deadlock` on a crowd that hangs, which must go on unharmed, also in a container; and on what it cannot look at. Needs root and
a backend; usage: deadlock_attach.py USCOPE FIXTURES"""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import FIXTURES, AttachCase, USCOPE, WAIT, children_of  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

CROWD = os.path.join(FIXTURES, "deadlock_crowd")
HEALTHY = os.path.join(FIXTURES, "deadlock_healthy")
SHARED = os.path.join(FIXTURES, "deadlock_shared")
MUTEXES = os.path.join(FIXTURES, "deadlock_mutexes")
SPACES = os.path.join(FIXTURES, "deadlock_spaces")
I386 = os.path.join(FIXTURES, "deadlock_i386")
THREADS = 1000
SECONDS = 8 * SLOWNESS  # about 1 on a quiet machine: this only tells linear from worse


def deadlock(*arguments, **options):
    return subprocess.run([USCOPE, "deadlock", *arguments], capture_output=True, text=True, timeout=WAIT, check=False, **options)


def in_futex(pid):
    """How many of its threads wait there, as the kernel says."""
    found = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
                found += file.read().startswith("202 ")
        except OSError:
            pass
    return found


# Waits for any child; its only one reads from a pipe of which this process has the other end.
WAITS = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
r, w = os.pipe()
if os.fork() == 0:
    os.close(w)
    os.read(r, 1)
os.close(r)
os.wait()
"""


def in_wait4(pid):
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().startswith("61 ")


class Deadlock(AttachCase):
    def refused(self, done, *words, status=2):
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        # What failed, and what to do.
        self.assertEqual(len(done.stderr.strip().splitlines()), 2, done.stderr)


class Crowd(Deadlock):
    def hung(self, pid):
        self.wait_for(lambda: in_futex(pid) == THREADS, "the crowd does not gather")

    def look(self, pid):
        """In time, with the right two."""
        begun = time.monotonic()
        done = deadlock("--pid", str(pid), *BACKEND_OPTIONS, "--format", "json")
        seconds = time.monotonic() - begun
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["verdict"], "deadlock")
        self.assertEqual([finding["type"] for finding in found["findings"]], ["cycle"])
        accused = {thread["name"]: thread for thread in found["findings"][0]["threads"]}
        self.assertEqual(sorted(accused), ["ant", "bee"])
        self.assertEqual(accused["ant"]["held_by"], [accused["bee"]["tid"]])
        self.assertEqual(accused["bee"]["held_by"], [accused["ant"]["tid"]])
        self.assertEqual(len(found["blocked"]), THREADS)
        print(f"{THREADS} threads: {seconds:.2f} s")
        self.assertLessEqual(seconds, SECONDS)
        return accused["ant"]["tid"]

    def test_a_thousand_threads_are_looked_at_in_seconds_and_go_on(self):
        crowd = self.start(CROWD, str(THREADS))
        self.hung(crowd.pid)
        self.look(crowd.pid)
        self.assertIsNone(crowd.poll())
        self.assertEqual(in_futex(crowd.pid), THREADS)
        crowd.send_signal(signal.SIGUSR1)
        self.assertEqual(crowd.wait(WAIT), 0)

    def test_in_a_container(self):
        """Locks have the inner numbers of their owners."""
        outer = self.start("unshare", "--pid", "--fork", "--mount-proc", CROWD, str(THREADS))
        self.wait_for(lambda: children_of(outer.pid), "nothing runs in the container")
        (inner,) = children_of(outer.pid)
        self.hung(inner)
        tid = self.look(inner)
        with open(f"/proc/{tid}/status", encoding="ascii") as file:
            numbers = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
        self.assertEqual((numbers[0], len(numbers)), (str(tid), 2))
        self.assertNotEqual(*numbers)
        os.kill(inner, signal.SIGUSR1)
        self.assertEqual(outer.wait(WAIT), 0)


class Strangers(Deadlock):
    def test_who_is_not_looked_at_may_come(self):
        """A semaphore that two processes share, one of which is looked at."""
        parent = self.start(SHARED, "news")
        self.wait_for(lambda: children_of(parent.pid) and in_futex(children_of(parent.pid)[0]), "the child does not wait")
        (child,) = children_of(parent.pid)
        done = deadlock("--pid", str(child), *BACKEND_OPTIONS, "--format", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "none"), done.stdout)

    def test_the_first_process_of_a_pid_namespace_gets_orphans_of_others(self):
        for wrapper, verdict in ((("unshare", "-pf"), (3, "undecided")), (("env",), (1, "deadlock"))):
            parent = self.start(*wrapper, "/usr/bin/python3", "-c", WAITS)
            in_namespace = wrapper[0] == "unshare"
            self.wait_for(lambda p=parent, n=in_namespace: not n or children_of(p.pid), "no process in the namespace")
            waits = children_of(parent.pid)[0] if in_namespace else parent.pid
            self.wait_for(lambda pid=waits: children_of(pid) and in_wait4(pid), "nobody waits")
            self.addCleanup(lambda pid=waits: [os.kill(it, signal.SIGKILL) for it in (*children_of(pid), pid)])
            done = deadlock("--pid", str(waits), *BACKEND_OPTIONS, "--format", "json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), verdict, done.stdout)

    def test_a_process_that_is_not_looked_at_has_the_memory(self):
        """A child that shares its parent's memory and waits for its parent's mutex, looked at alone."""
        for scenario in ("vm_child", "vfork_child"):
            parent = self.start(SPACES, scenario)
            self.wait_for(lambda parent=parent: children_of(parent.pid) and in_futex(children_of(parent.pid)[0]), "the child does not wait")
            (child,) = children_of(parent.pid)
            done = deadlock("--pid", str(child), *BACKEND_OPTIONS, "--format", "json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "none"), done.stdout)


class Refused(Deadlock):
    def test_what_is_no_target(self):
        self.refused(deadlock("--pid", "4194304"), "4194304")
        self.refused(deadlock("--app", "no-such-application"), "no-such-application")
        self.refused(deadlock("--app", "a/b"), "a/b")
        self.refused(deadlock(self.db), self.db)
        self.assertEqual(deadlock().returncode, 2)
        self.assertEqual(deadlock("--pid", "1", self.db).returncode, 2)
        self.assertEqual(deadlock("--pid", "x").returncode, 2)
        with open(self.db, "w", encoding="ascii") as file:
            file.write("no database")
        self.refused(deadlock(self.db), self.db)

    def test_who_may_not_trace(self):
        copy = shutil.copy(USCOPE, os.path.join(self.folder.name, "uscope"))
        os.chmod(self.folder.name, 0o755)
        os.chmod(copy, 0o755)
        hung = self.start(MUTEXES, "abba")
        done = subprocess.run([copy, "deadlock", "--pid", str(hung.pid)], capture_output=True, text=True, timeout=WAIT, check=False,
                              user="nobody", group="nogroup", extra_groups=[], cwd="/")
        self.refused(done)
        self.assertRegex(done.stderr, "root|CAP_|privilege|permission|permitted")

    def test_a_32_bit_program(self):
        """Of which nothing is known but that its only thread waits."""
        hung = self.start(I386)
        self.wait_for(lambda: os.path.basename(os.readlink(f"/proc/{hung.pid}/exe")) == "deadlock_i386", "it does not run")
        time.sleep(0.2)
        done = deadlock("--pid", str(hung.pid), *BACKEND_OPTIONS, "--format", "json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["verdict"], found["blocked"][0]["primitive"]), (1, "stall", "futex"), done.stdout)
        self.assertIn("32-bit", found["warnings"][0])
        self.assertIn("32-bit", deadlock("--pid", str(hung.pid), *BACKEND_OPTIONS).stdout)

    def test_stacks_are_whole_where_no_unwind_data_is_known_yet(self):
        """With an empty cache: what is looked at once is not left before the rows of its files are there, however long that takes."""
        hung = self.start(MUTEXES, "abba")
        self.wait_for(lambda: in_futex(hung.pid) == 4, "it does not hang")
        script = 'mount -t tmpfs tmpfs /var/cache/uscope && exec "$@"'
        os.makedirs("/var/cache/uscope", mode=0o700, exist_ok=True)
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", USCOPE, "deadlock", "--pid", str(hung.pid),
                               *BACKEND_OPTIONS, "--format", "json"], capture_output=True, text=True, timeout=WAIT, check=False)
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["verdict"]), (1, "deadlock"), done.stdout)
        for thread in found["blocked"]:
            self.assertIn(thread["stack"][-1], ("_start", "clone3"), thread)

    def test_inside_a_container_what_runs_cannot_be_looked_at(self):
        script = f"{HEALTHY} pool & {USCOPE} deadlock --pid $!; status=$?; kill $!; exit $status"
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script], capture_output=True, text=True, timeout=WAIT, check=False)
        self.refused(done, "pid namespace")

    def test_a_process_that_ends_meanwhile(self):
        for i in range(6):
            hung = self.start(CROWD, "200")
            self.wait_for(lambda hung=hung: in_futex(hung.pid) == 200, "the crowd does not gather")
            killer = threading.Timer(0.1 * i * SLOWNESS, hung.kill)
            killer.start()
            done = deadlock("--pid", str(hung.pid), *BACKEND_OPTIONS, "--format", "json")
            killer.join()
            self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
            if done.returncode == 2:
                self.refused(done)
            elif done.returncode == 3:
                # It ended in the middle: some of its threads were looked at, and what they wait for could no more be read.
                found = json.loads(done.stdout)
                self.assertEqual((found["verdict"], found["findings"]), ("undecided", []))
                self.assertIn(f"process {hung.pid} ", found["reason"])
            else:
                # Before its end it was a deadlock; one that has been killed, of which nothing was seen, is none.
                found = json.loads(done.stdout)
                self.assertEqual(done.returncode, int(found["verdict"] != "none"))
                names = {thread["name"] for finding in found["findings"] for thread in finding["threads"]}
                self.assertIn(names, (set(), {"ant", "bee"}))
            hung.wait()


class Traces(Deadlock):
    def record(self, *arguments):
        """What goes on untraced ends with it."""
        with open(self.said, "w", encoding="utf-8") as said:
            tracer = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *arguments, stdout=said, stderr=said, start_new_session=True)
            tracer.wait(WAIT)
            try:
                os.killpg(tracer.pid, signal.SIGKILL)
            except OSError:
                pass
        self.assertTrue(os.path.exists(self.db), self.text())

    def test_nobody_waited(self):
        self.record("--", "true")
        done = deadlock(self.db, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["verdict"], found["findings"], found["blocked"]), ("none", [], []))
        self.assertEqual(deadlock(self.db).returncode, 0)

    def test_futex_was_not_recorded(self):
        for calls in ("!futex", "read,write"):
            self.record("-e", calls, "--", "true")
            self.refused(deadlock(self.db), "futex")
            os.unlink(self.db)

    def test_only_futex_was_recorded(self):
        """Who is in no call that was recorded may be in another one."""
        self.record("--duration", f"{2 * SLOWNESS}s", "-e", "futex", "--", HEALTHY, "pool")
        done = deadlock(self.db, "--format", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "none"), done.stdout)
        # An owner and a cycle need nobody else.
        self.record("--duration", f"{2 * SLOWNESS}s", "-e", "futex", "--", MUTEXES, "abba")
        done = deadlock(self.db, "--format", "json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (1, "deadlock"), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
