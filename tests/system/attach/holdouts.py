#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a traced program holds back costs the tracer's own time only: memory behind userfaultfd or a FUSE server that has fallen silent or is
slow, a locked mm, a locked epoll. Ctrl-C and --duration end tracing, and another process's calls are all there. Needs root and a backend; usage:
holdouts.py USCOPE FIXTURES"""
import json
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import FIXTURES, AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

HOLDOUTS = os.path.join(FIXTURES, "fixture_holdouts")
CALLS = 20000
# A tracer that waits does so until the fixture ends. Ends are to take a second, attaching as long as loading the programs; more for
# busy machines.
LIFE = str(int(60 * SLOWNESS))
END = 8 * SLOWNESS
ATTACH = 20 * SLOWNESS
# With a server that is slow: a tracer that waited for each of its answers would begin after 12 s and end 30 s late.
SOON = 4 * SLOWNESS
DURATION = 6 * SLOWNESS


class Holdouts(AttachCase):
    def ready(self, *arguments):
        process = self.start(HOLDOUTS, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n", arguments)
        return process

    def folder_for(self, name):
        path = os.path.join(self.folder.name, name)
        os.mkdir(path)
        return path

    def check(self, *arguments):
        held = self.ready(*arguments)
        counter = self.ready("count", str(CALLS))
        began = time.monotonic()
        tracer = self.attach("--pid", str(held.pid), "--pid", str(counter.pid))
        attached = time.monotonic()
        self.assertLess(attached - began, ATTACH)
        counter.stdin.write(b"x")
        counter.stdin.flush()
        self.assertEqual(counter.wait(WAIT), 0)
        time.sleep(1.2)  # a look at all waits
        ended = time.monotonic()
        tracer.send_signal(2)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        took = time.monotonic() - ended
        print(f"{' '.join(arguments[:1])}: attached in {attached - began:.2f} s, ended in {took:.2f} s")
        self.assertLess(took, END)
        self.assertEqual(self.rows(f"SELECT count(*) FROM v_event WHERE pid = {counter.pid} AND kind = 'getppid'"), [(CALLS,)])
        losses = dict(self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause"))
        self.assertLessEqual(set(losses), {"no_answer", "deferred_given_up"})
        self.assertEqual(self.rows(f"SELECT count(*) FROM v_event WHERE pid = {counter.pid} AND stack_id IS NULL"), [(0,)])
        self.assertIn("no_answer", losses)
        self.assertGreater(self.count(f"v_event WHERE pid = {held.pid} AND kind = 'getppid'"), 10)
        self.assertIsNone(held.poll())
        self.diagnose(held)

    def diagnose(self, held):
        """An answer, and an interrupt is one, too."""
        began = time.monotonic()
        done = subprocess.run([USCOPE, "deadlock", "--pid", str(held.pid), *BACKEND_OPTIONS, "--format", "json"], capture_output=True,
                              text=True, timeout=WAIT, check=False)
        self.assertLess(time.monotonic() - began, ATTACH + END)
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "none"), done.stderr)
        self.assertIsNone(held.poll())

    def test_memory_beside_a_futex(self):
        self.check("futex", LIFE)

    def test_a_stack(self):
        self.check("stack", LIFE)

    def test_the_arguments(self):
        """Of /proc/PID/cmdline the kernel gives such a page up by itself; it is the end of the first thread's stack, too."""
        self.check("arguments", LIFE)

    def test_a_descriptor_that_is_locked(self):
        self.check("poll", LIFE)

    def test_a_file(self):
        self.check("file", self.folder_for("served"), LIFE)

    def attach_to_slow(self, *options):
        held = self.ready("slow", self.folder_for("served"), LIFE)
        counter = self.ready("count", str(CALLS))
        began = time.monotonic()
        tracer = self.attach("--pid", str(held.pid), "--pid", str(counter.pid), *options)
        attached = time.monotonic()
        print(f"slow: attached in {attached - began:.2f} s")
        self.assertLess(attached - began, SOON)
        counter.stdin.write(b"x")
        counter.stdin.flush()
        self.assertEqual(counter.wait(WAIT), 0)
        return held, counter, tracer, attached

    def check_slow(self, held, counter):
        self.assertIsNone(held.poll())
        self.assertEqual(self.rows(f"SELECT count(*) FROM v_event WHERE pid = {counter.pid} AND kind = 'getppid'"), [(CALLS,)])
        losses = {cause for cause, in self.rows("SELECT DISTINCT cause FROM loss")}
        self.assertLessEqual(losses, {"no_answer", "deferred_given_up"})
        states = dict(self.rows("SELECT state, count(*) FROM unwind_table WHERE path LIKE '%/served/%' GROUP BY state"))
        print(f"slow: files {states}")
        self.assertLessEqual(set(states), {"code", "unreachable"})
        self.assertGreater(states.get("code", 0), 10, "its files, which are no ELF files, are opened late, but they are")
        for trouble, in self.rows("SELECT DISTINCT trouble FROM unwind_table WHERE state = 'unreachable'"):
            self.assertRegex(trouble, "^not opened: |tracing ended before")

    def test_a_server_that_is_slow(self):
        held, counter, tracer, attached = self.attach_to_slow("--duration", str(DURATION))
        self.assertEqual(tracer.wait(WAIT + DURATION), 0, self.text())
        took = time.monotonic() - attached
        print(f"slow: ended after {took:.2f} s of {DURATION} s")
        self.assertLess(took, DURATION + SOON)
        self.check_slow(held, counter)

    def test_an_interrupt_with_a_server_that_is_slow(self):
        held, counter, tracer, _ = self.attach_to_slow()
        began = time.monotonic()
        tracer.send_signal(2)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        took = time.monotonic() - began
        print(f"slow: ended in {took:.2f} s")
        self.assertLess(took, END)
        self.check_slow(held, counter)

    def test_a_crowd_of_one_user(self):
        """Scouts that open such a file die of no signal. What processes of one user can take of them leaves enough for another's."""
        held = self.ready("crowd", self.folder_for("served"), LIFE)
        shell = self.start("/bin/sh", stdin=subprocess.PIPE)
        tracer = self.attach("--pid", str(held.pid), "--pid", str(shell.pid))
        time.sleep(3)  # scouts go on being lost
        shell.stdin.write(b"ls /proc/self/ns\nexit\n")
        shell.stdin.flush()
        self.assertEqual(shell.wait(WAIT), 0)
        began = time.monotonic()
        tracer.send_signal(2)
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        print(f"crowd: ended in {time.monotonic() - began:.2f} s")
        self.assertLess(time.monotonic() - began, END)
        self.assertEqual(self.rows("SELECT DISTINCT trouble FROM unwind_table WHERE trouble LIKE 'not opened%' AND path NOT LIKE '%/served/%'"), [])
        self.assertGreater(self.count("unwind_table WHERE state = 'unreachable'"), 0)
        self.assertEqual(self.rows("SELECT DISTINCT ended FROM v_event WHERE process = 'ls'"), [("root",)])
        # Whom the question concerned that nobody answered.
        users = "SELECT DISTINCT process.pid FROM loss JOIN process ON process.id = process_id WHERE cause = 'no_answer'"
        crowd = {pid for pid, in self.rows(users)}
        self.assertGreater(len(crowd), 10)
        self.assertNotIn(shell.pid, crowd)
        self.assertFalse(crowd & {pid for pid, in self.rows("SELECT DISTINCT pid FROM v_event WHERE process = 'ls'")})

    def test_the_lock_of_the_mappings(self):
        self.check("lock", self.folder_for("served"), LIFE)
        # What it maps would tell, and cannot be asked for.
        self.assertEqual(self.rows("SELECT uses_io_uring FROM process WHERE pid IN (SELECT pid FROM v_event WHERE kind = 'getppid') "
                                   "ORDER BY uses_io_uring"), [(None,), (0,)])

    def test_nothing_is_attached_to_what_a_locked_process_has_mapped(self):
        """The kernel would let nobody fork until that process goes on."""
        held = self.ready("lock", self.folder_for("served"), LIFE)
        with subprocess.Popen([USCOPE, "record", "-o", self.db, "-t", f"ufunction:{HOLDOUTS}:main", "--", HOLDOUTS], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as recording:
            longest = 0
            while recording.poll() is None:
                began = time.monotonic()
                subprocess.run(["true"], check=True)
                longest = max(longest, time.monotonic() - began)
            said = recording.stdout.read()
        self.assertNotEqual(recording.returncode, 0)
        self.assertIn(f"process {held.pid} (fixture_holdout) has it mapped, or may have, and lets nobody look at its memory", said)
        self.assertLess(longest, END)
        # Others are not concerned.
        done = subprocess.run([USCOPE, "record", "-e", "none", "-o", self.db, "-t", "ufunction:/usr/bin/true:[me]*", "--", "true"],
                              capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertNotIn("lets nobody look", done.stderr if self.is_told_by_maps(held) else "")
        self.assertIsNone(held.poll())

    @staticmethod
    def is_told_by_maps(process):
        """Whether the kernel shows the mappings of such a process (from 6.17 on)."""
        look = subprocess.Popen(["head", "-c", "1", f"/proc/{process.pid}/maps"], stdout=subprocess.PIPE)
        try:
            return look.communicate(timeout=2)[0] != b""
        except subprocess.TimeoutExpired:
            look.kill()
            return False

    def test_a_perf_map(self):
        self.check("map", LIFE)

    def test_an_interrupt_while_attaching(self):
        held = self.ready("stack", LIFE)
        for verb in (["deadlock"], ["record", "-o", self.db]):
            with open(self.said, "w", encoding="utf-8") as said:
                tracer = subprocess.Popen([USCOPE, *verb, "--pid", str(held.pid), *BACKEND_OPTIONS], stdout=said, stderr=said)
            self.addCleanup(lambda tracer=tracer: (tracer.kill(), tracer.wait()))
            time.sleep(0.3)
            began = time.monotonic()
            tracer.send_signal(2)
            tracer.wait(WAIT)
            self.assertLess(time.monotonic() - began, END, self.text())
            self.assertIsNone(held.poll())


if __name__ == "__main__":
    unittest.main(verbosity=2)
