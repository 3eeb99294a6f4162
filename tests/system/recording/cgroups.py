#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Control groups of processes, and containers by their paths: of commands, of processes that ran before, recorded and live. The file system
of control groups is the witness. Needs root and cgroup version 2; usage: cgroups.py USCOPE"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1))
CONTAINER = "0123456789abcdef" * 4


def hierarchy():
    """Where cgroup version 2 is mounted; None: nowhere."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return next((fields[1] for fields in map(str.split, mounts) if fields[2] == "cgroup2"), None)


class Cgroups(TraceCase):
    def setUp(self):
        super().setUp()
        root = hierarchy()
        if root is None:
            self.skipTest("cgroup version 2 is not mounted")
        with open("/proc/self/cgroup", encoding="utf-8") as groups:
            own = next(line.rstrip("\n")[3:] for line in groups if line.startswith("0::"))
        self.own = own
        below = "" if own == "/" else own
        self.paths = {name: f"{below}/uscope-test-{os.getpid()}/{name}" for name in ("app.service", f"docker-{CONTAINER}.scope", "n" * 200)}
        self.root = root
        self.addCleanup(self.remove, f"{root}{below}/uscope-test-{os.getpid()}")
        for path in self.paths.values():
            os.makedirs(root + path)
            self.addCleanup(self.remove, root + path)

    def remove(self, folder):
        for _ in range(100):  # its last process may be ending
            try:
                os.rmdir(folder)
                return
            except OSError:
                time.sleep(0.05 * SLOWNESS)
        os.rmdir(folder)

    def entering(self, name, command):
        """A shell's text: `command` in a control group of its own."""
        return f"echo 0 > '{self.root}{self.paths[name]}/cgroup.procs'; exec {command}"

    def groups(self):
        """By the last program of each process: number, path and container."""
        return {name: (number, path, container) for name, number, path, container in self.rows(
            "SELECT (SELECT name FROM image WHERE process_id = process.id ORDER BY ts_ns DESC LIMIT 1), cgroup_id, cgroup, container FROM process")}

    def expect(self, groups, program, name):
        path = self.paths[name]
        container = CONTAINER if CONTAINER in path else None
        self.assertEqual(groups[program], (os.stat(self.root + path).st_ino, path, container))

    def test_of_a_command_and_what_it_starts(self):
        script = "; ".join(f"({self.entering(name, program)})" for name, program in (
            ("app.service", "cat /dev/null"), (f"docker-{CONTAINER}.scope", "uname"), ("n" * 200, "env"))) + "; id; exit 0"
        self.run_uscope("record", "-o", self.db, "--force", "--", "sh", "-c", script)
        groups = self.groups()
        self.expect(groups, "cat", "app.service")
        self.expect(groups, "uname", f"docker-{CONTAINER}.scope")
        self.expect(groups, "env", "n" * 200)
        self.assertEqual(groups["id"][1:], (self.own, None))
        self.assertEqual(self.rows("SELECT DISTINCT cgroup, container FROM v_event WHERE process = 'uname'"),
                         [(self.paths[f"docker-{CONTAINER}.scope"], CONTAINER)])

    def test_of_a_process_that_ran_before_and_of_its_children(self):
        with subprocess.Popen(["sh", "-c", self.entering(f"docker-{CONTAINER}.scope", "sh -c 'while :; do sleep 0.05; done'")]) as shell:
            try:
                time.sleep(0.3 * SLOWNESS)
                self.run_uscope("record", "-o", self.db, "--force", "--duration", f"{SLOWNESS}s", "--pid", str(shell.pid))
            finally:
                subprocess.run(["pkill", "-P", str(shell.pid)], check=False)
                shell.kill()
        path = self.paths[f"docker-{CONTAINER}.scope"]
        self.assertEqual(set(self.rows("SELECT cgroup, container FROM process")), {(path, CONTAINER)})
        self.assertGreater(self.rows("SELECT count(*) FROM process")[0][0], 1)

    def test_of_a_query_while_it_happens(self):
        script = f"({self.entering('app.service', 'uname')}); exit 0"
        done = self.run_uscope("query", "--format", "csv", "SELECT cgroup, container, count(*) > 0 FROM v_event WHERE process = 'uname' GROUP BY 1, 2",
                               "--", "sh", "-c", script)
        self.assertIn(f"{self.paths['app.service']},,1", done.replace("\r", ""))

    def run_uscope(self, verb, *arguments):
        done = subprocess.run([USCOPE, verb, *BACKEND_OPTIONS, *arguments], capture_output=True, text=True, timeout=120 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main()
