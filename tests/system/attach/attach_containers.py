#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Applications in namespaces of their own and below another root, traced from outside: inner numbers, names as they are inside, perf maps
under the inner number. Needs root and a backend; usage: attach_containers.py USCOPE FIXTURES"""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, LINEAGE, USCOPE, WAIT, own_copy  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

JIT = own_copy("jit")
NAME = os.path.basename(JIT)
NAMED = ["main", "run", "jit_outer", "between", "jit_inner", "callback"]


def libraries_of(program):
    """The files that the loader takes, and the loader."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return [word for line in said.splitlines() for word in line.split() if word.startswith("/")]


class Containers(AttachCase):
    def new_root(self):
        """A folder with the fixtures in /app, the libraries that they need, and /tmp."""
        root = os.path.join(self.folder.name, "root")
        for folder in ("app", "tmp", "proc"):
            os.makedirs(os.path.join(root, folder))
        for program in (JIT, LINEAGE):
            shutil.copy(program, os.path.join(root, "app"))
            for library in libraries_of(program):
                os.makedirs(root + os.path.dirname(library), exist_ok=True)
                shutil.copy(library, root + library)
        os.chmod(self.folder.name, 0o755)
        os.chmod(os.path.join(root, "tmp"), 0o1777)
        return root

    def inside(self, command, program, *arguments):
        """A program that runs in a container and waits for its standard input to end."""
        process = self.start(*command, program, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def check_jit(self):
        """Its stacks as fixture_jit makes them, under its inner number, from the map that lies inside."""
        found = {tuple(folded.split(";")) for (folded,) in self.rows("SELECT folded FROM v_event WHERE kind = 'getppid' AND ended = 'root'")}
        self.assertEqual([frames[frames.index("main"):-1] for frames in map(list, found)], [NAMED])
        self.assertEqual(self.count("v_event WHERE ended <> 'root'"), 0)

    def trace_running(self, command, program, app, ns_pid, path):
        process = self.inside(command, program, "stay")
        tracer = self.attach("--app", app)
        self.assertIn("1 thread runs already", self.text())
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.finish(tracer)
        self.check_jit()
        ((outer, inner, name),) = self.rows("SELECT pid, ns_pid, path FROM process JOIN image ON process_id = process.id")
        self.assertEqual((inner, name), (ns_pid or outer, path))
        self.assertEqual(self.rows("SELECT ns_tid FROM thread"), [(inner,)])
        self.assertEqual(self.rows("SELECT path FROM module WHERE class = 'app'"), [(path,)])
        self.assertEqual(self.rows("SELECT kind FROM v_event WHERE how = 'attached'"), [("read",)])

    def trace_started(self, command, program, app, ns_pid, path):
        tracer = self.attach("--app", app)
        process = self.inside(command, program, "stay")
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        self.finish(tracer)
        self.check_jit()
        ((outer, inner),) = self.rows("SELECT pid, ns_pid FROM process WHERE id IN (SELECT process_id FROM image)")
        self.assertEqual(inner, ns_pid or outer)
        self.assertEqual(self.rows("SELECT path FROM module WHERE class = 'app'"), [(path,)])

    def both(self, command, program, ns_pid, path):
        for way in (self.trace_running, self.trace_started):
            with self.subTest(way.__name__):
                way(command, program, os.path.basename(path), ns_pid, path)

    def test_all_namespaces(self):
        # A /tmp of its own hides the fixtures where they lie there: the program is reached by a descriptor.
        command = ["unshare", "--pid", "--mount", "--user", "--cgroup", "--ipc", "--uts", "--net", "--map-root-user", "--fork", "--kill-child",
                   "--mount-proc", "sh", "-c", 'exec 3<"$0"; mount -t tmpfs none /tmp; exec /proc/self/fd/3 "$@"']
        self.both(command, JIT, 1, JIT)
        self.assertFalse(os.path.exists("/tmp/perf-1.map"))

    def test_the_tracer_in_a_pid_namespace(self):
        record = ["unshare", "--pid", "--fork", "--mount-proc", USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db]
        refused = subprocess.run([*record, "--app", NAME], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("pid namespace of its own", refused.stderr)
        self.assertIn("--pid=host", refused.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])
        done = subprocess.run([*record, "--", LINEAGE, "work"], capture_output=True, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.count("v_event WHERE kind = 'getppid' AND ended = 'root'"), 1)
        self.assertEqual(self.count("v_event WHERE ended NOT IN ('root', 'scope')"), 0)

    def test_a_pid_namespace_in_a_pid_namespace(self):
        enter = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
        self.both([*enter, "sh", "-c", 'exec "$@"', "sh", *enter, "sh", "-c",
                   'exec 3<"$0"; mount -t tmpfs none /tmp; exec /proc/self/fd/3 "$@"'], JIT, 1, JIT)

    def test_another_root(self):
        root = self.new_root()
        self.both(["chroot", root], "/app/" + NAME, 0, "/app/" + NAME)
        # Its libraries are the copies inside, by the names that they have there.
        libraries = [path for (path,) in self.rows("SELECT path FROM module WHERE path LIKE '/%' AND class = 'library'")]
        self.assertTrue(libraries)
        for path in libraries:
            self.assertTrue(os.path.exists(root + path), path)
        for name in os.listdir(os.path.join(root, "tmp")):
            self.assertTrue(name.startswith("perf-"))

    def test_another_root_and_all_namespaces(self):
        root = self.new_root()
        self.both(["unshare", "--pid", "--mount", "--user", "--cgroup", "--map-root-user", "--fork", "--kill-child", "--root", root],
                  "/app/" + NAME, 1, "/app/" + NAME)
        self.assertTrue(os.path.exists(os.path.join(root, "tmp/perf-1.map")))

    def test_two_containers_with_the_same_numbers(self):
        enter = ["unshare", "--pid", "--fork", "--kill-child"]
        first = self.inside(enter, LINEAGE, "processes", "2")
        second = self.inside(enter, LINEAGE, "processes", "2")
        tracer = self.attach("--app", os.path.basename(LINEAGE))
        self.assertIn("6 threads run already", self.text())
        for process in (first, second):
            process.stdin.close()
            self.assertEqual(process.wait(WAIT), 0)
        self.finish(tracer)
        self.assertEqual(self.rows("SELECT ns_pid, count(*), count(DISTINCT pid) FROM process GROUP BY 1"), [(1, 2, 2), (2, 2, 2), (3, 2, 2)])
        self.assertEqual(self.count("process c JOIN process p ON p.id = c.parent_id WHERE p.ns_pid = 1"), 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
