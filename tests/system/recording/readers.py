#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The processes that read ELF files for a tracer: which privileges they have while it traces, that they are never traced themselves, and
that tracing goes on when they are killed. Needs root and a backend; usage: readers.py USCOPE FIXTURES"""
import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

FIRST_OWN_USER = 1 << 31  # numbers that no system hands out


def users_of(status):
    """Each number that a process has as user or group."""
    return {int(number) for name in ("Uid", "Gid", "Groups") for number in status.get(name, "").split()}


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return {}


def family_of(pid, names=("uscope-reader",)):
    """Who reads for this tracer: its children of that name, and what those have forked."""
    found = []
    statuses = {int(name): status_of(name) for name in os.listdir("/proc") if name.isdigit()}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for child, status in statuses.items():
            if status.get("PPid") == str(parent) and status["Name"] in names and status["State"][0] != "Z":
                found.append(child)
                waiting.append(child)
    return found


def targets_of(pid):
    """What a process has open: files by path, others by kind."""
    try:
        return {os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}
    except FileNotFoundError:  # closed meanwhile
        return set()


def grip(tracer):
    """Tries, as whoever this process is, to stop, end, trace, slow down or limit each process of the tracer; returns what went."""
    libc = ctypes.CDLL(None, use_errno=True)
    seize = 0x4206
    done = set()

    def tries(what, call):
        with contextlib.suppress(OSError):
            call()
            done.add(what)

    def seizes(pid):
        if libc.ptrace(seize, pid, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    met = 0
    for pid in [tracer, *family_of(tracer, ("uscope-reader", "uscope-scout"))]:
        met += 1
        tries("stop", lambda pid=pid: os.kill(pid, signal.SIGSTOP))
        tries("end", lambda pid=pid: os.kill(pid, signal.SIGKILL))
        tries("trace", lambda pid=pid: seizes(pid))
        tries("slow down", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19))
        tries("schedule", lambda pid=pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
        tries("move", lambda pid=pid: os.sched_setaffinity(pid, {0}))
        tries("limit", lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)))
        tries("read", lambda pid=pid: open(f"/proc/{pid}/mem", "rb").close())
    return met, done


def users_in_use(but):
    """The numbers of all processes but these."""
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - set(but)
    return set().union(*(users_of(status_of(pid)) for pid in others))


class Hostile:
    """A process of each user that other processes have, or that is often shared (nobody's, systemd's for services, a human's, a container's),
    which does the above again and again until it is ended."""

    def __init__(self, tracer):
        self.ends = []
        for user in (users_in_use(family_of(tracer)) | {65534, 61184, 65519, 1000, 100000}) - {0}:
            end, theirs = os.pipe()
            pid = os.fork()
            if pid == 0:
                self.keep_gripping(tracer, user, theirs)
            os.close(theirs)
            self.ends.append((pid, end))

    @staticmethod
    def keep_gripping(tracer, user, pipe):
        ending = []
        signal.signal(signal.SIGTERM, lambda *_: ending.append(True))
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        met, done = 0, set()
        os.write(pipe, b"\n")
        while not ending:
            more, gripped = grip(tracer)
            met, done = met + more, done | gripped
            time.sleep(0.01)
        os.write(pipe, f"{met} {user} {sorted(done)}".encode())
        os._exit(0)

    def begun(self):
        return [os.read(end, 1) for _, end in self.ends]

    def told(self):
        for pid, _ in self.ends:
            os.kill(pid, signal.SIGTERM)
        told = []
        for pid, end in self.ends:
            os.waitpid(pid, 0)
            met, rest = os.read(end, 4096).decode().split(" ", 1)
            os.close(end)
            told.append((int(met), rest))
        return told


class Readers(AttachCase):
    def tracer(self, *arguments):
        return self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *arguments, stderr=subprocess.DEVNULL)

    def readers_of(self, recording, count=3):
        """Two keepers, and a reader that has read the command's files."""
        self.wait_for(lambda: len(family_of(recording.pid)) >= count, "no readers")
        return family_of(recording.pid)

    def test_they_have_no_privileges(self):
        recording = self.tracer("--", "sleep", "2")
        family = self.readers_of(recording)
        (own_user,) = users_of(status_of(family[0]))
        self.assertNotIn(own_user, users_in_use(but=family_of(recording.pid)))
        for pid in family:
            status = status_of(pid)
            with self.subTest(pid):
                (user,) = users_of(status)
                self.assertEqual((status["Groups"].strip(), user >= FIRST_OWN_USER), ("", True), user)
                self.assertEqual(user, own_user)
                self.assertEqual({int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, {0})
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
                # While a reader reads, it has that file, too.
                self.wait_for(lambda pid=pid: targets_of(pid) == {"/dev/null", "socket"}, "the reader has other files")
        self.assertEqual(recording.wait(WAIT), 0)
        self.assertEqual(self.rows("SELECT cause, count FROM loss"), [])

    def test_they_end_with_the_tracer(self):
        recording = self.tracer("--", "sleep", "3")
        readers = self.readers_of(recording)
        recording.kill()
        recording.wait()
        self.wait_for(lambda: all(status_of(pid).get("State", "Z")[0] == "Z" for pid in readers), "a reader is left")

    def test_tracing_goes_on_when_they_are_killed(self):
        gate = os.path.join(self.folder.name, "gate")
        # Looked up by nobody ahead: a program of a copied file, which is met when it is executed.
        program = os.path.join(self.folder.name, "program")
        with open("/bin/ls", "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        os.chmod(program, 0o755)
        recording = self.tracer("--", "sh", "-c", f"while ! [ -e {gate} ]; do sleep 0.1; done; {program} /proc/self > /dev/null")
        keeper = min(self.readers_of(recording))
        self.assertEqual(status_of(keeper)["PPid"], str(recording.pid))
        os.kill(keeper, signal.SIGKILL)
        time.sleep(0.2)
        with open(gate, "w", encoding="ascii"):
            pass
        self.assertEqual(recording.wait(WAIT), 0)
        self.assertEqual(self.rows("SELECT path, trouble FROM unwind_table WHERE trouble IS NOT NULL"), [])
        ended = dict(self.rows("SELECT ended, count(*) FROM v_event WHERE process = 'program' GROUP BY 1"))
        self.assertEqual(set(ended), {"root"})
        self.assertGreater(ended["root"], 20)

    def test_no_other_user_reaches_them(self):
        program = os.path.join(self.folder.name, "program")
        gate = os.path.join(self.folder.name, "gate")
        load = f"while ! [ -e {gate} ]; do sleep 0.1; done; i=0; while [ $i -lt 12 ]; do cp /usr/bin/expr {program}$i; {program}$i 1 + $i > /dev/null; i=$((i + 1)); done"
        recording = self.tracer("--", "sh", "-c", load)
        self.readers_of(recording)
        hostile = Hostile(recording.pid)
        hostile.begun()
        with open(gate, "w", encoding="ascii"):
            pass
        self.assertEqual(recording.wait(WAIT), 0)
        told = hostile.told()
        self.assertEqual([rest for _, rest in told if not rest.endswith("[]")], [])
        self.assertGreater(min(met for met, _ in told), 0)
        self.assertEqual(self.rows("SELECT path, trouble FROM unwind_table WHERE trouble IS NOT NULL"), [])
        ended = dict(self.rows("SELECT ended, count(*) FROM v_event WHERE process LIKE 'program%' GROUP BY 1"))
        self.assertEqual(set(ended), {"root"})
        self.assertEqual(self.rows("SELECT cause, count FROM loss"), [])

    def test_they_are_not_traced(self):
        """Nor is the tracer, where what it traces is the process that has started it."""
        record = " ".join([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--duration", "3s", "--pid", "$$"])
        shell = self.start("sh", "-c", f"{record} 2> {self.said} & until grep -q Ctrl-C {self.said}; do sleep 0.1; done; ls /proc/self; wait")
        self.assertEqual(shell.wait(WAIT), 0, self.text())
        self.assertIn("ls", self.commands())
        self.assertEqual(set(self.commands()) - {"sh", "dash", "sleep", "grep", "ls"}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
