# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Recordings of what uscope does not start itself; for the tests attach*.py. Their usage: TEST USCOPE FIXTURES [FILTER]"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from backend import OPTIONS as BACKEND_OPTIONS, PATIENCE
from process_tree import children_of
from standstill import Standstill
from trace_case import TraceCase

FIXTURES = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else "."
USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
COPIES = tempfile.TemporaryDirectory(prefix="uscope-attach-programs-")


def own_copy(fixture):
    """By a name that nobody else's processes have: other tests may run at the same time."""
    os.chmod(COPIES.name, 0o755)
    return shutil.copy(os.path.join(FIXTURES, "fixture_" + fixture), os.path.join(COPIES.name, f"{fixture}-{os.getpid()}"))


WAITERS = own_copy("waiters")
LINEAGE = own_copy("lineage")
WAIT = 120 * PATIENCE  # against a hang: an emulated machine of a busy host takes a minute to attach to a storm of forks


def cgroup_root():
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            words = line.split()
            if words[2] == "cgroup2":
                return words[1]
    return None


def kill_tree(pid):
    """A process with what it started."""
    for child in children_of(pid):
        kill_tree(child)
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def in_calls(pid):
    """The call that each thread waits in, with its arguments; None for one that runs."""
    calls = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
            words = file.read().split()
        calls[int(tid)] = [int(words[0]), *(int(word, 16) for word in words[1:])] if words[0] != "running" else None
    return calls


def sleeping(pid):
    """Whether every thread waits in a call."""
    return None not in in_calls(pid).values()


class AttachCase(TraceCase):
    # Where the machine stood still for so long, uscope may have given up a look that nobody could answer, and told that. What does not
    # answer is given up after a quarter of a second.
    STOOD_STILL = 0.25

    def setUp(self):
        super().setUp()
        self.said = self.path("said")
        self.standstill = Standstill()
        self.addCleanup(self.standstill.end)

    def start(self, *command, **kwargs):
        kwargs.setdefault("stdout", subprocess.DEVNULL)
        process = subprocess.Popen(command, **kwargs)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            kill_tree(process.pid)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()

    def run_to_end(self, *command, code=0, **kwargs):
        self.assertEqual(self.start(*command, **kwargs).wait(WAIT), code, command)

    def wait_for(self, condition, what):
        end = time.monotonic() + WAIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def wait_until_asleep(self, pid, threads):
        """Until the process has so many threads and each of them waits in a call: on a slow machine this takes long."""
        self.wait_for(lambda: len(os.listdir(f"/proc/{pid}/task")) == threads and sleeping(pid), f"{threads} threads of {pid} do not wait")

    def attach(self, *options):
        """A recording that has begun: what runs has been adopted."""
        with open(self.said, "w", encoding="utf-8") as said:
            tracer = subprocess.Popen([USCOPE, "record", "-o", self.db, *BACKEND_OPTIONS, *options], stderr=said)
        self.addCleanup(lambda: (tracer.kill(), tracer.wait()))
        self.wait_for(lambda: "Ctrl-C ends tracing" in self.text() or tracer.poll() is not None, "tracing did not begin")
        self.assertIn("Ctrl-C ends tracing", self.text())
        return tracer

    def text(self):
        with open(self.said, encoding="utf-8") as said:
            return said.read()

    def ends(self, tracer):
        """By itself."""
        self.assertEqual(tracer.wait(WAIT), 0, self.text())
        lost = self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause")
        stood_still = f"The machine stood still for {self.standstill.longest:.3f} s at most.\n"
        if self.standstill.longest > self.STOOD_STILL and [cause for cause, _ in lost] == ["no_answer"]:
            print(f"accepted: {lost}. {stood_still}", file=sys.stderr)
            return
        self.assertEqual(lost, [], stood_still + self.text() + self.what_is_missing() if lost else "")

    def what_is_missing(self):
        files = self.rows("SELECT path, trouble FROM unwind_table WHERE trouble IS NOT NULL")
        calls = self.rows("SELECT tid, kind, how, ended, folded FROM v_event WHERE folded IS NULL OR ended IS NOT 'root'")
        return f"files that were not read: {files}\ncalls without a whole stack: {calls}\n"

    def finish(self, tracer):
        tracer.send_signal(signal.SIGINT)
        self.ends(tracer)

    def count(self, what):
        return self.rows("SELECT count(*) FROM " + what)[0][0]

    def causes_of_missing_events(self):
        """The causes of loss in this trace that the product says lose events."""
        said = subprocess.run([USCOPE, "report", "--format", "json", self.db], capture_output=True, check=True).stdout
        return [loss["cause"] for loss in json.loads(said)["losses"] if loss["events_missing"]]

    def commands(self):
        return [row[0] for row in self.rows("SELECT DISTINCT process FROM v_event ORDER BY 1")]

    def script(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def control_group(self):
        """A new one, and the one below it."""
        root = cgroup_root()
        if root is None:
            self.skipTest("no control groups of version 2 here")
        group = os.path.join(root, f"uscope-test-{os.getpid()}")
        below = os.path.join(group, "below")
        os.makedirs(below)
        self.addCleanup(lambda: (os.rmdir(below), os.rmdir(group)))
        return root, group, below
