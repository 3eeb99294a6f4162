#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The processes that read ELF files for a tracer: which privileges they have while it traces, that they are never traced themselves, and
that tracing goes on when they are killed. Needs root and a backend; usage: readers.py USCOPE FIXTURES"""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

NOBODY = "\t".join(["65534"] * 4)


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return {}


def family_of(pid):
    """Who reads for this tracer: its children of that name, and what those have forked."""
    found = []
    statuses = {int(name): status_of(name) for name in os.listdir("/proc") if name.isdigit()}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for child, status in statuses.items():
            if status.get("PPid") == str(parent) and status["Name"] == "uscope-reader" and status["State"][0] != "Z":
                found.append(child)
                waiting.append(child)
    return found


def targets_of(pid):
    """What a process has open: files by path, others by kind."""
    try:
        return {os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}
    except FileNotFoundError:  # closed meanwhile
        return set()


class Readers(AttachCase):
    def tracer(self, *arguments):
        return self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *arguments, stderr=subprocess.DEVNULL)

    def readers_of(self, recording, count=3):
        """Two keepers, and a reader that has read the command's files."""
        self.wait_for(lambda: len(family_of(recording.pid)) >= count, "no readers")
        return family_of(recording.pid)

    def test_they_have_no_privileges(self):
        recording = self.tracer("--", "sleep", "2")
        for pid in self.readers_of(recording):
            status = status_of(pid)
            with self.subTest(pid):
                self.assertEqual((status["Uid"], status["Gid"], status["Groups"].strip()), (NOBODY, NOBODY, ""))
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

    def test_they_are_not_traced(self):
        """Nor is the tracer, where what it traces is the process that has started it."""
        record = " ".join([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--duration", "3s", "--pid", "$$"])
        shell = self.start("sh", "-c", f"{record} 2> {self.said} & until grep -q Ctrl-C {self.said}; do sleep 0.1; done; ls /proc/self; wait")
        self.assertEqual(shell.wait(WAIT), 0, self.text())
        self.assertIn("ls", self.commands())
        self.assertEqual(set(self.commands()) - {"sh", "dash", "sleep", "grep", "ls"}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
