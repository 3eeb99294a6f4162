#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What `uscope files` says of who has what open, against what /proc/PID/fd says at that moment. Needs root and BPF (or the module);
usage: held_open.py USCOPE"""
import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1))
WAIT = 60 * SLOWNESS

# Opens in many ways, and says what it has open, by /proc: at its start, and before it ends or waits. Its child has what is inherited, what
# a message brought, and what no exec closed.
OPENS = '''
import array, ctypes, fcntl, json, os, socket, subprocess, sys
def held():
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        try: found[int(fd)] = os.readlink("/proc/self/fd/" + fd)
        except FileNotFoundError: pass
    return found
def say(first):
    print(json.dumps([os.getpid(), [fd for fd in first], held()]), flush=True)
def open_leak(name): return os.open(name, os.O_RDWR | os.O_CREAT)
first = held()
if len(sys.argv) > 1:  # the child, behind an exec
    carrier = socket.socket(fileno=int(sys.argv[1]))
    _, rights, _, _ = carrier.recvmsg(1, socket.CMSG_SPACE(4))
    array.array("i", rights[0][2][:4])
    open_leak("of-child")
    say(first)
    sys.stdin.readline()
    os._exit(0)
leaks = [open_leak("leak-%d" % i) for i in range(12)]
os.close(open_leak("closed"))
os.dup(leaks[0])
os.dup2(leaks[1], 150)
fcntl.fcntl(leaks[2], fcntl.F_DUPFD_CLOEXEC, 170)
for fd in range(200, 210): os.dup2(leaks[3], fd)
ctypes.CDLL(None).syscall(436, 202, 207, 0)  # close_range
removed = open_leak("removed"); os.unlink("removed")
locked = open_leak("locked"); fcntl.flock(locked, fcntl.LOCK_EX)
fcntl.lockf(open_leak("locked-too"), fcntl.LOCK_EX)
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen(); listener.set_inheritable(True)
other = socket.socket(socket.AF_UNIX); other.bind("socket"); other.listen()
pipe = os.pipe()
near, far = socket.socketpair(); far.set_inheritable(True)
os.set_inheritable(leaks[4], True)
child = subprocess.Popen([sys.executable, __file__, str(far.fileno())], close_fds=False, stdin=subprocess.PIPE)
near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [leaks[5]]))])
near.settimeout(60)
say(first)
print(listener.getsockname()[1], flush=True)
sys.stdin.readline()
child.stdin.close(); child.wait()
os._exit(0)
'''
HELD = ("SELECT pid, fd, value, until, kind.name, held_descriptor.event_id IS NOT NULL FROM held_descriptor JOIN process ON process.id = "
        "process_id LEFT JOIN string ON string.id = string_id LEFT JOIN event ON event.id = event_id LEFT JOIN kind ON kind.id = kind_id")


class HeldOpen(TraceCase):
    def setUp(self):
        super().setUp()
        with open(self.path("opens.py"), "w", encoding="utf-8") as file:
            file.write(OPENS)

    def start(self, *before):
        return subprocess.Popen([*before, sys.executable, self.path("opens.py")], cwd=self.folder.name, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told(self, process):
        """By process: descriptors at its start, and those at the moment. The child may be the first to say it. And the listener's port."""
        lines = [json.loads(process.stdout.readline()) for _ in range(3)]
        port = next(line for line in lines if isinstance(line, int))
        return {line[0]: (set(line[1]), {int(fd): name for fd, name in line[2].items()}) for line in lines if line != port}, port

    def held(self, until):
        found = {}
        for pid, fd, name, how, call, _ in self.rows(HELD):
            if how == until:
                found.setdefault(pid, {})[fd] = (name, call)
        return found

    def compare(self, found, truth, what):
        """Files have the path that /proc has, and nothing else is said to be open."""
        self.assertEqual({fd: name for fd, (name, _) in found.items() if fd not in truth}, {}, what)
        for fd, path in truth.items():
            name = path.removesuffix(" (deleted)")
            if not name.startswith(self.folder.name):
                continue
            self.assertIn(fd, found, (what, path))
            self.assertEqual(found[fd][0], name, (what, fd))

    def files(self, *words):
        done = subprocess.run([USCOPE, "files", *words, self.db], capture_output=True, text=True, check=False, timeout=WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_of_a_command(self):
        with self.start(USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", self.db, "--") as process:
            truths, port = self.told(process)
            process.communicate("\n", timeout=WAIT)
        self.assertEqual(len(truths), 2)
        found = self.held("exit")
        parent = next(pid for pid, (_, truth) in truths.items() if "leak-11" in " ".join(truth.values()))
        child = next(pid for pid in truths if pid != parent)
        for pid, (first, truth) in truths.items():
            own = {fd: path for fd, path in truth.items() if fd not in first and path.startswith(self.folder.name)}
            self.compare({fd: one for fd, one in found[pid].items() if (one[0] or "").startswith(self.folder.name)}, own, pid)
        # Whoever has the port, also if it was only inherited; with its address, and not the sockets that were closed.
        self.assertEqual({pid for pid in found for name, _ in found[pid].values() if name == f"socket:[at inet:127.0.0.1:{port}]"},
                         {parent, child})
        text = self.files("--path", f"*:{port}]")
        self.assertIn(f"[{child}]", text)
        self.assertIn(f"[{parent}]", text.partition("HELD OPEN")[2])
        text = self.files()
        for name in "removed", "locked", "locked-too":
            self.assertRegex(text.partition("HELD OPEN")[2], rf"\[{parent}\] .*/{name}\n")
        self.assertNotIn("/leak-0\n", text.partition("HELD OPEN")[2])

    def test_leaks_are_the_first_group(self):
        with self.start(USCOPE, "record", *BACKEND_OPTIONS, "-q", "-o", self.db, "--") as process:
            self.told(process)
            process.communicate("\n", timeout=WAIT)
        text = self.files("--open", "--path", "leak-*")
        self.assertIn("stack  ", text)
        self.assertIn("leak-1\n", text)
        table = json.loads(self.files("--open", "--format", "json"))["held"]
        largest = table["groups"][0]
        # The first opens come from other places in the interpreter, before it has adapted its code.
        self.assertEqual({os.path.basename(one["name"]) for one in largest["descriptors"]} & {"leak-10", "leak-11", "closed"},
                         {"leak-10", "leak-11"})
        self.assertEqual(largest["call"], "openat")
        self.assertIn(";", largest["stack"])
        # What parent and child have in common is one group of two processes, behind a leak.
        both = next(group for group in table["groups"] if group["processes"] == 2)
        self.assertEqual(len({one["pid"] for one in both["descriptors"]}), 2)
        self.assertGreater(table["groups"].index(both), 0)
        self.assertIn("2 processes of python3", self.files("--open"))
        calls = self.files("--sort", "opens", "--format", "json")
        opens = [line["opens"] for line in json.loads(calls)["files"]]
        self.assertEqual(opens, sorted(opens, reverse=True))

    def test_of_a_process_that_ran_before(self):
        """All that it has at the end, also what was open before tracing."""
        with self.start() as process:
            truths, port = self.told(process)
            pids = [option for pid in truths for option in ("--pid", str(pid))]
            tracer = subprocess.Popen([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *pids], stderr=subprocess.PIPE, text=True)
            tracer.stderr.readline()  # it is attached
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=WAIT)
            process.communicate("\n", timeout=WAIT)
        found = self.held("tracing")
        self.assertEqual(set(found), set(truths))
        for pid, (_, truth) in truths.items():
            self.assertEqual({fd: name for fd, name in truth.items() if fd not in found[pid] and "/fd" not in name}, {}, pid)
            self.assertEqual({fd for fd in found[pid] if fd not in truth}, set())
        self.assertIn(f"socket:[at inet:127.0.0.1:{port}]", {name for name, _ in found[min(truths)].values()})


if __name__ == "__main__":
    unittest.main(verbosity=2)
