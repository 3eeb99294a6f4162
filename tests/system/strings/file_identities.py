#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""At which object a call counts whose path leads elsewhere: through a descriptor of a process, or in another mount namespace.
Needs root and BPF (or the module); usage: file_identities.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv[1])
del sys.argv[1:2]
WAIT = 60 * SLOWNESS
THROUGH = '''
import ctypes, os, subprocess, sys
folder = sys.argv[1]
file = os.open(folder + "/file", os.O_RDWR | os.O_CREAT)
where = os.open(folder, os.O_RDONLY)
def use(path):
    os.close(os.open(path, os.O_RDONLY))
use(f"/dev/fd/{file}")
use(f"/proc/self/fd/{file}")
use(f"/proc/thread-self/fd/{file}")
use(f"/proc/{os.getpid()}/fd/{file}")
use(f"/proc/self/fd/{where}/file")
os.dup2(file, 0)
use("/dev/stdin")
if os.fork() == 0:
    use(f"/proc/{os.getppid()}/fd/{file}")
    os._exit(0)
os.wait()
program = os.open("/bin/true", os.O_RDONLY)
os.set_inheritable(program, True)
if os.fork() == 0:
    os.execv(f"/proc/self/fd/{program}", ["true"])
os.wait()
if os.fork() == 0:
    bin = os.open("/bin", os.O_PATH)
    libc = ctypes.CDLL(None)
    words = (ctypes.c_char_p * 2)(b"true", None)
    libc.syscall(322, bin, f"/dev/fd/{bin}/true".encode(), words, None, 0)
    os._exit(9)
os.wait()
'''
NAMESPACES = '''
cat "$1/a" "$1/shared" > /dev/null
unshare -m sh -c '
    mount --bind "$1/b" "$1/a"; cat "$1/a" "$1/shared" > /dev/null
    unshare -m sh -c "mount --bind $1/c $1/a; cat $1/a $1/shared > /dev/null; cp $1/b $1/new; mv $1/new $1/d; cat $1/d >/dev/null" sh "$1"
    cat "$1/a" > /dev/null' sh "$1"
cat "$1/a" "$1/shared" > /dev/null
'''

# Opens its files, says so, and reads them when it is told to.
HOLDS = '''
import os, sys
files = [os.open(name, os.O_RDONLY) for name in sys.argv[1:]]
print("open", flush=True)
sys.stdin.readline()
for number in files:
    os.pread(number, 100, 0)
'''


class FileIdentities(TraceCase):
    def setUp(self):
        super().setUp()
        self.work = os.path.realpath(self.path("work"))
        os.mkdir(self.work)

    def record(self, *command):
        subprocess.run([USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", self.db, "--", *command], check=True, timeout=WAIT)

    def files(self, path):
        answer = subprocess.run([USCOPE, "files", "--format", "json", "--path", path, self.db], capture_output=True, timeout=WAIT)
        return json.loads(answer.stdout)["files"] if answer.returncode == 0 else []

    def test_paths_through_descriptors(self):
        self.record(sys.executable, "-c", THROUGH, self.work)
        self.assertEqual([line["name"] for glob in ("/dev/fd/*", "/proc/*/fd/*", "/dev/stdin") for line in self.files(glob)], [])
        self.assertEqual([line["opens"] for line in self.files(self.work + "/file")], [8])
        self.assertEqual(len(self.files("/bin/true")), 1)
        paths = [path for path, in self.rows("SELECT value FROM event JOIN kind ON kind.id = kind_id JOIN event_string ON event_id = "
                                             "event.id AND arg = 1 JOIN string ON string.id = string_id WHERE name = 'execveat'")]
        self.assertRegex(paths[0], r"^/dev/fd/\d+/true$")

    def test_mount_namespaces(self):
        for name in "a", "b", "c", "shared":
            with open(os.path.join(self.work, name), "w", encoding="utf-8") as file:
                file.write(name * 10)
        self.record("sh", "-c", NAMESPACES, "sh", self.work)
        lines = self.files(self.work + "/a")
        self.assertEqual(sorted((line["bytes_read"], line["mount_namespace"] is None) for line in lines), [(10, False), (20, False), (20, True)])
        self.assertEqual(len({line["mount_namespace"] for line in lines}), 3)
        self.assertEqual([line["name"] for line in lines], [self.work + "/a"] * 3)
        # One file in all of them, once uscope knows that there are several: but for what was opened before.
        self.assertLessEqual(len(self.files(self.work + "/shared")), 2)
        self.assertEqual(len(self.files("*/libc.so.6")), 1)

    def test_what_was_open_before_tracing(self):
        """Two processes, each in a namespace of its own or both in uscope's: their files are told apart by device and inode."""
        names = [os.path.join(self.work, name) for name in ("a", "b", "shared")]
        for name in names:
            with open(name, "w", encoding="utf-8") as file:
                file.write(name[-1] * 10)
        holder = [sys.executable, "-c", HOLDS, names[0], names[2]]
        elsewhere = ["unshare", "-m", "sh", "-c", f"mount --bind {names[1]} {names[0]} && exec \"$@\"", "sh", *holder]
        for commands, lines in (([holder, holder], 1), ([holder, elsewhere], 2), ([elsewhere, elsewhere], 1), ([elsewhere, holder], 2)):
            with self.subTest([command[0] for command in commands]):
                processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands]
                for process in processes:
                    self.assertEqual(process.stdout.readline(), "open\n")
                tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "-e", "pread64",
                                           *(word for process in processes for word in ("-p", str(process.pid)))], stderr=subprocess.PIPE, text=True)
                while "tracing" not in tracer.stderr.readline():
                    self.assertIsNone(tracer.poll())
                for process in processes:
                    process.communicate("\n", timeout=WAIT)
                tracer.communicate(timeout=WAIT)
                found = self.files(names[0])
                self.assertEqual(sorted(line["bytes_read"] for line in found), [20] if lines == 1 else [10, 10])
                self.assertEqual([line["name"] for line in found], [names[0]] * lines)
                self.assertEqual(len({line["mount_namespace"] for line in found}), lines)
                shared, = self.files(names[2])
                self.assertEqual((shared["bytes_read"], shared["mount_namespace"] is None), (20, any(command == holder for command in commands)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
