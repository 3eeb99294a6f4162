#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""--app: every name that ps, pgrep and systemctl show for a process finds it, whether it runs already or is started later; names that
no process has come with those that are like them. Needs root and a backend; usage: attach_names.py USCOPE FIXTURES"""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT, WAITERS, sleeping  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

RENAMES_ITSELF = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
print("renamed", flush=True)
time.sleep(100)
"""


class Names(AttachCase):
    def setUp(self):
        super().setUp()
        self.number = os.getpid()

    def link(self, name):
        """As redis-server is a link to redis-check-rdb: the executable has another name."""
        path = os.path.join(self.folder.name, name)
        os.symlink(WAITERS, path)
        return path

    def check_running(self, name, *command, **kwargs):
        running = self.start(*command, **kwargs)
        self.wait_until_asleep(running.pid, 5)
        tracer = self.attach("--app", name)
        self.assertIn("5 threads run already", self.text())
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT pid FROM process"), [(running.pid,)])

    def check_later(self, name, *command, options=(), **kwargs):
        tracer = self.attach("--app", name, *options)
        self.assertIn("waiting for it", self.text())
        later = self.start(*command, **kwargs)
        self.assertEqual(later.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT pid FROM process"), [(later.pid,)])
        # From its first instruction on.
        self.assertGreater(self.rows("SELECT count(*) FROM v_event WHERE kind = 'brk'")[0][0], 0)

    def test_a_running_one_by_the_links_name(self):
        name = f"linked-{self.number}"
        self.check_running(name, self.link(name), "60000")

    def test_a_running_one_by_a_links_name_that_is_longer_than_a_threads(self):
        name = f"linked-by-a-long-name-{self.number}"
        self.check_running(name, self.link(name), "60000")

    def test_a_later_one_by_the_links_name(self):
        name = f"linked-by-a-long-name-{self.number}"
        self.check_later(name, self.link(name), "200")

    def test_a_running_one_by_its_argument_0(self):
        name = f"named-{self.number}"
        self.check_running(name, f"/no/such/folder/{name}", "60000", executable=WAITERS)

    def test_a_later_one_by_its_argument_0(self):
        name = f"named-{self.number}"
        self.check_later(name, f"/no/such/folder/{name}", "200", executable=WAITERS)

    def test_a_later_one_stays_with_follow_image(self):
        name = f"named-{self.number}"
        self.check_later(name, name, "200", executable=WAITERS, options=("--follow", "image"))

    def test_a_running_one_by_the_name_that_it_gave_itself(self):
        name = f"own-{self.number}"
        running = self.start(sys.executable, "-c", RENAMES_ITSELF, name, stdout=subprocess.PIPE)
        self.assertEqual(running.stdout.readline(), b"renamed\n")
        tracer = self.attach("--app", name)
        self.assertIn("1 thread runs already", self.text())
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT pid FROM process"), [(running.pid,)])

    def calls_of(self, db, name):
        """The calls that `--process NAME` finds, by the process's name that stands before them."""
        done = subprocess.run([USCOPE, "events", db, "--process", name, "--format", "json"], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {event["process"] for event in json.loads(done.stdout)["events"]}

    def check_one_name(self, name, others, *command, **kwargs):
        """Attached to and launched, it has this name, and is found by the others."""
        running = self.start(*command, stdin=subprocess.PIPE, **kwargs)
        self.wait_until_asleep(running.pid, 1)
        tracer = self.attach("--pid", str(running.pid))
        running.stdin.close()
        running.wait()
        tracer.wait(WAIT)
        launched = self.path("launched.db")
        done = subprocess.run([USCOPE, "record", "-q", "-o", launched, *BACKEND_OPTIONS, "--", *command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=WAIT, check=False, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        for db in (self.db, launched):
            for wanted in (name, *others):
                self.assertEqual(self.calls_of(db, wanted), {name}, (db, wanted))
            none = subprocess.run([USCOPE, "events", db, "--process", "no-such-name"], capture_output=True, text=True, timeout=WAIT, check=False)
            self.assertIn("no process goes by the name \"no-such-name\"\n", none.stderr)
            self.assertIn(name, none.stderr)
        done = subprocess.run([USCOPE, "diff", "--normal", self.db, "--abnormal", launched], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("programs that ran", done.stdout)

    # As redis-server is a link to redis-check-rdb, and awk one to mawk.
    def test_a_link_has_one_name_attached_and_launched(self):
        name = f"linked-by-a-long-name-{self.number}"
        path = os.path.join(self.folder.name, name)
        os.symlink(shutil.which("cat"), path)
        self.check_one_name(name, ["cat", name[:15]], path)

    def test_an_interpreter_has_one_name_attached_and_launched(self):
        name = f"python-{self.number}"
        path = os.path.join(self.folder.name, name)
        os.symlink(os.path.realpath(sys.executable), path)
        script = self.script(f"one-name-{self.number}.py", "import sys; sys.stdin.read()")
        self.check_one_name(name, [os.path.basename(os.path.realpath(sys.executable)), os.path.basename(script)], path, script)

    def test_a_script_has_one_name_attached_and_launched(self):
        name = f"one-name-{self.number}.sh"
        script = self.script(name, "#!/bin/sh\nread line || true\n")
        os.chmod(script, 0o755)
        self.check_one_name(name, ["sh", os.path.basename(os.path.realpath("/bin/sh"))], script)

    def test_another_argument_is_no_name(self):
        name = f"argument-{self.number}"
        running = self.start("sleep", "100", f"/{name}")
        running.kill()
        bystander = self.start("sh", "-c", "sleep 100", "sh", name)
        time.sleep(0.2)
        tracer = self.attach("--app", name)
        self.assertIn("waiting for it", self.text())
        self.finish(tracer)
        self.assertIsNone(bystander.poll())
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(0,)])

    def test_a_shells_command_is_no_script(self):
        name = f"command-{self.number}"
        running = self.start("sh", "-c", f": /etc/{name}; sleep 100; : /etc/{name}")
        self.wait_for(lambda: os.path.exists(f"/proc/{running.pid}/task/{running.pid}/children") and sleeping(running.pid), "it does not wait")
        tracer = self.attach("--app", name)
        self.assertIn("waiting for it", self.text())
        self.run_to_end("sh", "-ec", f": /etc/{name}")
        self.run_to_end(sys.executable, "-c", f"0 #/{name}")
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT count(*) FROM process"), [(0,)])

    def script(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check_script(self, name, *command):
        """Both while it runs and when it is started later; it ends when its input does."""
        running = self.start(*command, stdin=subprocess.PIPE)
        self.wait_until_asleep(running.pid, 1)
        tracer = self.attach("--app", name)
        self.assertIn("1 thread runs already", self.text())
        later = self.start(*command, stdin=subprocess.DEVNULL)
        self.assertEqual(later.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(sorted(self.rows("SELECT pid FROM process")), sorted([(running.pid,), (later.pid,)]))

    def test_a_script_behind_options_and_their_values(self):
        name = f"script-{self.number}.py"
        self.check_script(name, sys.executable, "-W", "ignore", "-X", "utf8", "-B", "-s", "-u", self.script(name, "import sys; sys.stdin.read()"))

    def test_a_shells_script_behind_options_and_their_values(self):
        name = f"script-{self.number}.sh"
        self.check_script(name, "bash", "--norc", "-eo", "pipefail", "+o", "posix", "-u", self.script(name, "read line || true"))

    def test_a_module_is_a_script(self):
        name = f"module_{self.number}"
        self.script(name + ".py", "import sys; sys.stdin.read()")
        self.check_script(name, "env", "-C", self.folder.name, sys.executable, "-u", "-m", name)

    # The kernel cuts a thread's name to 15 letters. It counts as ps shows it.
    def test_a_running_one_by_a_threads_name_that_was_cut(self):
        name = f"cut-{self.number:011}"
        self.check_running(name, "argument-0", "60000", executable=self.link(name + "-and-more"))

    def test_a_later_one_by_a_threads_name_that_was_cut(self):
        name = f"cut-{self.number:011}"
        self.check_later(name, "argument-0", "200", executable=self.link(name + "-and-more"))

    def test_near_misses_are_named(self):
        name = f"nearly-{self.number}"
        running = self.start(self.link(name + "-server"), "60000")
        self.wait_until_asleep(running.pid, 5)
        tracer = self.attach("--app", name)
        near = f"no process is called {name}; did you mean {name}-server (pid {running.pid})?"
        lines = f"  no process is called {name}; did you mean\n    {name}-server (pid {running.pid})?\n"
        self.wait_for(lambda: lines in self.text(), "the near miss is not named")
        self.assertIn("waiting for it", self.text())
        self.finish(tracer)
        done = subprocess.run([USCOPE, "deadlock", *BACKEND_OPTIONS, "--app", name], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(near, done.stderr)
        done = subprocess.run([USCOPE, "top", "--once", "--duration", "1", *BACKEND_OPTIONS, "--app", name], capture_output=True, text=True,
                              timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(lines, done.stderr)

    def test_a_misspelt_name_beside_one_that_runs(self):
        name = f"beside-{self.number}"
        running = self.start(self.link(name), "60000")
        self.wait_until_asleep(running.pid, 5)
        misspelt = name.replace("side", "sdie")
        tracer = self.attach("--app", name, "--app", misspelt)
        said = f"  no process is called {misspelt}; did you mean\n    {name} (pid {running.pid})?\n"
        self.wait_for(lambda: said in self.text(), "it is not named")
        self.assertIn("5 threads run already", self.text())
        self.finish(tracer)

    def test_uscopes_own_helpers_are_not_offered(self):
        tracer = self.attach("--app", "uscope-reade")
        self.assertIn("waiting for it", self.text())
        self.assertIn("no process is called uscope-reade", self.text())
        with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as children:
            helpers = children.read().split()
        self.assertTrue(helpers)
        for pid in helpers:
            self.assertNotIn(f"(pid {pid})", self.text())
        self.finish(tracer)


if __name__ == "__main__":
    unittest.main(verbosity=2)
