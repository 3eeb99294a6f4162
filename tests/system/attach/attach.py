#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Tracing what runs already, and what comes later: --app, --pid, --cgroup, --follow. Needs root and a backend; usage: attach.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT, WAITERS  # noqa: E402
from backend import KERNEL_ONLY, alike_on_all_kernels, OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

of_lineage = alike_on_all_kernels("the trace map decides; conformance.attach_lineage has it met by each kernel")


class Attach(AttachCase):
    def test_threads_are_found_in_their_calls(self):
        # They are to wait still when they are attached to, which takes seconds in a guest.
        waiters = self.start(WAITERS, str(int(8000 * SLOWNESS * (2 if KERNEL_ONLY else 1))))
        self.wait_until_asleep(waiters.pid, 5)
        tracer = self.attach("--pid", str(waiters.pid))
        self.assertIn("5 threads run already", self.text())
        self.assertEqual(waiters.wait(WAIT), 0)  # 9: a call was interrupted
        self.assertEqual(tracer.wait(WAIT), 0)   # ends with the process
        # At the process's end, the threads that wait for ever are killed in their calls.
        first = "FROM v_event WHERE id IN (SELECT min(id) FROM event GROUP BY thread_id) AND how IN ('attached', 'killed')"
        found = {kind: (folded, ended) for kind, folded, ended in self.rows("SELECT kind, folded, ended " + first)}
        for call, function in (("read", "reads_a_pipe"), ("epoll_wait", "waits_for_events"), ("futex", "waits_for_a_lock"),
                               ("clock_nanosleep", "sleeps")):
            folded, ended = found[call]
            self.assertEqual(ended, "root", call)
            self.assertIn(function, folded.split(";"), call)
        self.assertEqual(self.rows("SELECT how, count(*) " + first + " GROUP BY how"), [("attached", 2), ("killed", 3)])
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE ended <> 'root'"), [(0,)])
        # Two calls returned while they were traced: their duration is that part.
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE how = 'attached' AND dur_ns > 0 AND result = 0"), [(2,)])
        self.assertEqual(self.rows("SELECT a1 & 127 FROM event JOIN kind ON kind.id = kind_id WHERE name = 'futex' AND how = 'killed'"),
                         [(0,)])  # FUTEX_WAIT
        self.assertEqual(self.rows("SELECT path FROM image"), [(WAITERS,)])
        self.assertEqual(self.rows("SELECT cause FROM loss"), [])

    def test_a_process_that_only_waits_shows_its_stacks(self):
        waiters = self.start(WAITERS, "60000")
        self.wait_until_asleep(waiters.pid, 5)
        tracer = self.attach("--pid", str(waiters.pid), "-e", "!clock_nanosleep")
        self.finish(tracer)
        self.assertIsNone(waiters.poll())
        self.assertEqual(self.rows("SELECT kind, how, dur_ns, ended FROM v_event ORDER BY kind"),
                         [(kind, "attached", None, "root") for kind in ("epoll_wait", "futex", "read")])

    def test_a_first_thread_that_has_ended_is_in_no_call(self):
        hung = self.start(os.path.join(FIXTURES, "deadlock_mutexes"), "without_main")
        self.wait_for(lambda: len(os.listdir(f"/proc/{hung.pid}/task")) == 3, "its threads do not run")
        time.sleep(0.3)
        tracer = self.attach("--pid", str(hung.pid))
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT kind, how, count(*), sum(tid = pid) FROM v_event"), [("futex", "attached", 2, 0)])

    def test_an_application_running_and_started_later(self):
        first = self.start(WAITERS, "600000")
        self.wait_until_asleep(first.pid, 5)
        tracer = self.attach("--app", os.path.basename(WAITERS))
        second = self.start("sh", "-c", f"{WAITERS} 300; true")
        self.assertEqual(second.wait(WAIT), 0)
        first.kill()
        first.wait()
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(2,)])
        self.assertEqual(self.commands(), [os.path.basename(WAITERS)])
        # The second one from its first instruction on.
        self.assertEqual(self.rows("SELECT count(*) FROM v_event WHERE kind = 'brk'")[0][0] > 0, True)
        self.assertEqual(self.rows("SELECT exit_code, exit_signal FROM process ORDER BY start_ns"), [(None, 9), (0, None)])

    @of_lineage
    def test_nothing_runs_yet(self):
        tracer = self.attach("--app", "no-such-application")
        self.assertIn("waiting for it", self.text())
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT count(*) FROM event"), [(0,)])

    @of_lineage
    def test_a_script_goes_by_its_own_name(self):
        # Nothing of it begins while it is attached to: a child that has yet to become `sleep` would be an image of its own.
        script = self.script("my-service", "#!/bin/sh\nwhile read -r line; do sleep 0.1; done\n")
        running = self.start(script, stdin=subprocess.PIPE)
        self.wait_until_asleep(running.pid, 1)
        tracer = self.attach("--app", "my-service")
        self.assertIn("1 thread runs already", self.text())
        self.run_to_end("/bin/sh", "-c", f"echo line | {script}")
        running.communicate(b"line\n", timeout=WAIT)
        self.finish(tracer)
        images = [path for (path,) in self.rows("SELECT path FROM image WHERE path LIKE '%my-service'")]
        self.assertEqual(images, [script, script])  # that ran already, and that was started later
        self.assertEqual(self.rows("SELECT count(*) FROM image WHERE path LIKE '%/sleep'"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM process WHERE parent_id IS NULL"), [(2,)])

    @of_lineage
    def test_children_are_traced_and_siblings_are_not(self):
        parent = self.start("sh", "-c", "read line; ls /proc/self >/dev/null; setsid -f sh -c 'sleep 0.2; id >/dev/null'; sleep 1", stdin=subprocess.PIPE)
        sibling = self.start("sh", "-c", "while sleep 0.05; do cat /dev/null; done")
        tracer = self.attach("--pid", str(parent.pid))
        parent.stdin.close()
        self.assertEqual(parent.wait(WAIT), 0)
        self.assertEqual(tracer.wait(WAIT), 0)
        self.assertTrue({"ls", "id", "setsid"} <= set(self.commands()), self.commands())
        self.assertNotIn("cat", self.commands())
        self.assertIsNone(sibling.poll())
        self.assertEqual(self.rows("SELECT cause FROM loss"), [])

    @of_lineage
    def test_follow_image_drops_what_is_another_program(self):
        tracer = self.attach("--app", "env", "--follow", "image")
        done = self.start("sh", "-c", "env true; true")
        self.assertEqual(done.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.commands(), ["env"])
        self.assertEqual(self.rows("SELECT kind, how, result FROM v_event ORDER BY id DESC LIMIT 1"), [("execve", "returned", 0)])
        self.assertEqual(self.rows("SELECT count(*) FROM image"), [(1,)])

    @of_lineage
    def test_follow_image_of_a_command(self):
        done = subprocess.run([USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, "--follow", "image", "--", "env", "sh", "-c", "true"],
                              capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([os.path.basename(path) for (path,) in self.rows("SELECT path FROM image")], ["env"])

    def test_a_control_group_is_joined_and_left(self):
        root, group, below = self.control_group()
        tracer = self.attach("--cgroup", group)
        joins = self.start("sh", "-c", f"echo $$ > {below}/cgroup.procs; ls /proc/self >/dev/null; "
                                       f"echo $$ > {root}/cgroup.procs; cat /dev/null; true")
        self.assertEqual(joins.wait(WAIT), 0)
        self.finish(tracer)
        self.assertIn("ls", self.commands())
        self.assertNotIn("cat", self.commands())

    @alike_on_all_kernels("refused in user space")
    def test_targets_that_cannot_be(self):
        for options, message in ((("--pid", "4194304"), "no process has PID"), (("--cgroup", "/tmp"), "not a control group"),
                                 (("--app", "a/b"), "not the name of an application"), ((), "nothing to trace"),
                                 (("--app", "a", "--pid", "1"), "more than one kind"), (("--app", "a", "-u", "root"), "--user is for")):
            done = subprocess.run([USCOPE, "record", "-o", self.db, *options], capture_output=True, text=True, timeout=WAIT, check=False)
            self.assertEqual(done.returncode, 125, options)
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(self.db))


if __name__ == "__main__":
    unittest.main(verbosity=2)
