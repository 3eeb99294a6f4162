#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Who belongs to an application that is traced by name, number or control group. Needs root and a backend; usage:
attach_lineage.py USCOPE FIXTURES"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, LINEAGE, USCOPE, WAIT  # noqa: E402
from backend import alike_on_all_kernels, OPTIONS as BACKEND_OPTIONS  # noqa: E402

APP = os.path.basename(LINEAGE)
MARKS = "v_event WHERE kind = 'getppid' AND folded LIKE '%;marks;%'"
# Fork, exec, exit, numbers used again and control groups are met by the other cases.
of_the_trace_map = alike_on_all_kernels("the trace map's rules are one code for all kernels: under emulation, half a minute")


class Lineage(AttachCase):
    def images(self):
        return [os.path.basename(path) for (path,) in self.rows("SELECT path FROM image ORDER BY ts_ns")]

    def hold(self, *command):
        """A process that goes on when its standard input ends."""
        process = self.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return process

    def ready(self, *command):
        process = self.hold(*command)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_a_daemon_keeps_its_lineage(self):
        shell = self.hold("sh", "-c", f"read line; {LINEAGE} daemon; true")
        tracer = self.attach("--pid", str(shell.pid))
        shell.stdin.close()
        self.assertEqual(shell.wait(WAIT), 0)
        self.ends(tracer)  # only when the daemon has ended
        self.assertEqual(self.count(MARKS), 1)
        line = self.rows("SELECT c.pid, b.pid, a.pid FROM process c JOIN process b ON b.id = c.parent_id JOIN process a ON a.id = b.parent_id "
                         f"WHERE c.id IN (SELECT process_id FROM thread JOIN event ON thread_id = thread.id JOIN (SELECT id FROM {MARKS}) m "
                         "ON m.id = event.id) AND c.exit_code = 0")
        self.assertEqual(len(line), 1)

    @of_the_trace_map
    def test_a_running_daemon_is_found_by_name(self):
        daemon = self.ready("sh", "-c", f"setsid -f {LINEAGE} processes 1; sleep 60")
        tracer = self.attach("--app", APP)
        self.assertIn("2 threads run already", self.text())
        daemon.stdin.close()
        self.wait_for(lambda: not any(APP in name for name in running()), "the daemon goes on")
        self.finish(tracer)
        self.assertEqual(self.count(MARKS), 1)
        self.assertEqual(self.commands(), [APP])

    def test_a_shell_executes_the_application(self):
        tracer = self.attach("--app", APP)
        shell = self.start("sh", "-c", f"ls /proc/self >/dev/null; exec {LINEAGE} work")
        self.assertEqual(shell.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.images(), [APP])
        self.assertEqual(self.rows("SELECT pid FROM process"), [(shell.pid,)])
        self.assertEqual(self.count(MARKS), 1)
        self.assertEqual(self.rows("SELECT kind FROM v_event ORDER BY id LIMIT 1"), [("brk",)])

    @of_the_trace_map
    def test_a_script_found_by_env(self):
        script = self.script("my-tool", "#!/usr/bin/env perl\nsleep 60 if @ARGV;\n")
        running_one = self.start(script, "stay")
        self.wait_for(lambda: text_of(f"/proc/{running_one.pid}/comm") == "perl\n", "env has not started perl")
        for follow in ("tree", "image"):
            with self.subTest(follow):
                tracer = self.attach("--app", "my-tool", "--follow", follow)
                self.assertIn("1 thread runs already", self.text())
                self.run_to_end(script)
                self.run_to_end("perl", "-e", "1")
                self.finish(tracer)
                self.assertEqual(self.count("process"), 2)
                self.assertEqual(self.rows("SELECT argv FROM image ORDER BY ts_ns DESC LIMIT 1"), [(f'["perl","{script}"]',)])

    @of_the_trace_map
    def test_the_same_program_from_another_parent(self):
        shell = self.hold("sh", "-c", f"read line; {LINEAGE} work; true")
        tracer = self.attach("--pid", str(shell.pid))
        self.run_to_end(LINEAGE, "work")  # not a descendant
        shell.stdin.close()
        self.assertEqual(shell.wait(WAIT), 0)
        self.ends(tracer)
        self.assertEqual(self.count(MARKS), 1)
        tracer = self.attach("--app", APP)
        self.run_to_end("sh", "-c", f"{LINEAGE} work; true")
        self.run_to_end("setsid", "--fork", "--wait", LINEAGE, "work")
        self.finish(tracer)
        self.assertEqual(self.count(MARKS), 2)
        self.assertEqual(self.count("process WHERE parent_id IS NULL"), 2)

    def test_a_service_is_started_as_systemd_does_it(self):
        root, group, below = self.control_group()
        manager = self.hold("sh", "-c", f"echo $$ > {root}/cgroup.procs; read line; "
                            f"sh -c 'echo $$ > {below}/cgroup.procs; exec {LINEAGE} work'; {LINEAGE} into {group} {LINEAGE} work; cat /dev/null")
        tracer = self.attach("--cgroup", group)
        self.assertIn("waiting for it", self.text())
        manager.stdin.close()
        self.assertEqual(manager.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.count(MARKS), 2)
        self.assertEqual(self.count("process"), 2)
        # From joining on: the write into cgroup.procs goes on untraced, then sh executes the service.
        self.assertEqual(self.rows("SELECT kind FROM v_event WHERE pid = (SELECT min(pid) FROM process) AND kind = 'execve'"), [("execve",)])
        self.assertNotIn("cat", self.commands())

    def test_members_of_a_group_are_found_and_leave(self):
        root, group, below = self.control_group()
        member = self.hold("sh", "-c", f"echo $$ > {below}/cgroup.procs; read line; {LINEAGE} work; "
                           f"echo $$ > {root}/cgroup.procs; {LINEAGE} work; true")
        self.wait_for(lambda: str(member.pid) in text_of(f"{below}/cgroup.procs").split(), "not in the group")
        tracer = self.attach("--cgroup", group)
        self.assertIn("1 thread runs already", self.text())
        member.stdin.close()
        self.assertEqual(member.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.count(MARKS), 1)
        self.assertEqual(self.rows("SELECT pid FROM process WHERE parent_id IS NULL"), [(member.pid,)])

    def test_follow_image_drops_other_programs(self):
        shell = f"{LINEAGE} vfork /bin/sh -c '{LINEAGE} work; exec env true'; true"
        for follow, programs in (("tree", [APP, "sh", APP, "env", "true"]), ("image", [APP, APP])):
            with self.subTest(follow):
                tracer = self.attach("--app", APP, "--follow", follow)
                self.run_to_end("sh", "-c", shell)
                self.finish(tracer)
                self.assertEqual(self.images(), programs)
                self.assertEqual(self.count(MARKS), 1)
                self.assertEqual(self.count("v_event WHERE process IN ('sh', 'env', 'true')") > 0, follow == "tree")
                # The exec that leaves the application is its own last call.
                self.assertEqual(self.count(f"v_event WHERE process = '{APP}' AND kind = 'execve' AND result = 0"), 1)

    @of_the_trace_map
    def test_follow_image_of_a_command_that_comes_back(self):
        done = subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--follow", "image", "--", "env", "sh", "-c",
                               f"env {LINEAGE} work"], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.images(), ["env", "env"])
        self.assertEqual(self.count(MARKS), 0)

    @of_the_trace_map
    def test_vfork_and_exec(self):
        tracer = self.attach("--app", APP)
        self.run_to_end(LINEAGE, "vfork", "/bin/ls", "/proc/self")
        self.run_to_end("sh", "-c", f"{LINEAGE} vfork {LINEAGE} work")
        self.finish(tracer)
        self.assertEqual(self.images(), [APP, "ls", APP, APP])
        # The caller of vfork waits until the child has executed the program.
        self.assertEqual(self.count("v_event WHERE kind = 'vfork' AND result > 0 AND ended = 'root' AND dur_ns > 0"), 2)
        self.assertEqual(self.count("process c JOIN process p ON p.id = c.parent_id"), 2)

    def test_a_number_that_is_used_again(self):
        first = self.ready(LINEAGE, "processes", "1")
        other = self.ready(LINEAGE, "processes", "1")
        tracer = self.attach("--pid", str(first.pid), "--pid", str(other.pid))
        first.stdin.close()
        self.assertEqual(first.wait(WAIT), 0)
        self.run_to_end(LINEAGE, "as", str(first.pid), LINEAGE, "work")  # not traced: it has only the number
        other.stdin.close()
        self.assertEqual(other.wait(WAIT), 0)
        self.ends(tracer)
        self.assertEqual(self.rows(f"SELECT count(*) FROM {MARKS} GROUP BY pid"), [(1,), (1,)])
        self.assertEqual(self.count(f"process WHERE pid = {first.pid}"), 1)

    @of_the_trace_map
    def test_a_number_of_the_application_that_is_used_again(self):
        tracer = self.attach("--app", APP)
        first = self.start(LINEAGE, "work")
        self.assertEqual(first.wait(WAIT), 0)
        helper = self.script("as-number", f"#!/bin/sh\nexec {LINEAGE} work\n")
        # From a copy by another name: neither traced itself, nor is its child before it executes the application.
        copy = os.path.join(self.folder.name, "other-name")
        with open(LINEAGE, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        os.chmod(copy, 0o755)
        self.run_to_end(copy, "as", str(first.pid), copy, "work")
        self.run_to_end(copy, "as", str(first.pid), helper)
        self.finish(tracer)
        self.assertEqual(self.images(), [APP, APP])
        self.assertEqual(self.rows("SELECT pid FROM process"), [(first.pid,), (first.pid,)])
        self.assertEqual(self.rows("SELECT count(*) FROM event JOIN kind ON kind.id = kind_id WHERE name = 'getppid' GROUP BY image_id"),
                         [(1,), (1,)])

    def test_a_process_whose_first_thread_has_ended(self):
        process = self.ready(LINEAGE, "leaderless")
        self.wait_for(lambda: state_of(process.pid) == "Z", "the first thread goes on")
        tracer = self.attach("--app", APP)
        self.assertIn("1 thread runs already", self.text())
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.count(MARKS), 1)
        self.assertEqual(self.rows("SELECT kind, ended FROM v_event WHERE how = 'attached' AND folded LIKE '%;waits_for_the_end;%'"),
                         [("read", "root")])


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def state_of(pid):
    return text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]


def running():
    """The executables that run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            pass
    return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
