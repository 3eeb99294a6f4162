#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A program watches who opens and reads a file that is to be probed (fanotify), and does not answer, as a hung virus scanner: Ctrl-C ends
uscope all the same, at each moment of its start, and leaves nothing behind. Needs root and BPF; usage: unanswered_files.py USCOPE"""
import ctypes
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from process_tree import name_of  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

LIBC = ctypes.CDLL(None, use_errno=True)
# linux/fanotify.h, fcntl.h
FAN_CLOEXEC, FAN_CLASS_CONTENT, FAN_MARK_ADD, FAN_OPEN_PERM, FAN_ACCESS_PERM, FAN_ALLOW, AT_FDCWD = 1, 4, 1, 0x10000, 0x20000, 1, -100
EVENT = struct.Struct("=IBBHQii")


class Watcher:
    """Lets processes open and read a file, but for one moment: `is_left(pid)` says whether it is that."""

    def __init__(self, path, is_left):
        self.is_left = is_left
        self.left = threading.Event()
        self.fd = LIBC.fanotify_init(FAN_CLOEXEC | FAN_CLASS_CONTENT, os.O_RDONLY)
        assert self.fd >= 0, os.strerror(ctypes.get_errno())
        mask = ctypes.c_uint64(FAN_OPEN_PERM | FAN_ACCESS_PERM)
        assert LIBC.fanotify_mark(self.fd, FAN_MARK_ADD, mask, AT_FDCWD, path.encode()) == 0, os.strerror(ctypes.get_errno())
        self.wake, self.ends = os.pipe()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            ready = select.select([self.fd, self.wake], [], [])[0]
            if self.wake in ready:
                return
            events = os.read(self.fd, 4096)
            for at in range(0, len(events), EVENT.size):
                *_, fd, pid = EVENT.unpack_from(events, at)
                if not self.left.is_set() and self.is_left(pid):
                    self.left.set()
                else:
                    os.write(self.fd, struct.pack("=iI", fd, FAN_ALLOW))
                os.close(fd)

    def close(self):
        """The kernel lets all go that wait."""
        os.write(self.ends, b"\0")
        self.thread.join()
        for fd in (self.fd, self.wake, self.ends):
            os.close(fd)


class UnansweredFiles(TraceCase):
    def setUp(self):
        super().setUp()
        self.program = self.path("watched")
        subprocess.run(["gcc", "-x", "c", "-", "-o", self.program], input="int main(void) { return 0; }\n", text=True, check=True)

    def record(self, is_left):
        """Whether it came to that moment, and was ended there."""
        watcher = Watcher(self.program, is_left)
        try:
            recording = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{self.program}:main", "--",
                                          "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.pid = recording.pid
            until = time.monotonic() + 30 * SLOWNESS
            while not watcher.left.is_set() and recording.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            if not watcher.left.is_set():
                said = recording.communicate(timeout=30 * SLOWNESS)[1]
                self.assertEqual(recording.returncode, 0, said)
                return False
            time.sleep(0.2)  # it waits there
            children = []
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{thread}/children", encoding="ascii") as file:
                    children += file.read().split()
            recording.send_signal(signal.SIGINT)
            said = recording.communicate(timeout=4 * SLOWNESS)[1]
            self.assertNotEqual(recording.returncode, 0, said)
            until = time.monotonic() + 10 * SLOWNESS
            while any(name_of(pid).startswith("uscope") for pid in children) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual([name_of(pid) for pid in children if name_of(pid).startswith("uscope")], [])
            return True
        finally:
            watcher.close()

    def test_uscope_itself_waits(self):
        for moment in range(1, 100):
            seen = []
            if not self.record(lambda pid: pid == self.pid and (seen.append(pid) or len(seen) == moment)):
                break
        self.assertGreater(moment, 1)

    def test_the_process_that_holds_probes_waits(self):
        self.assertTrue(self.record(lambda pid: name_of(pid) == "uscope-guard"))


if __name__ == "__main__":
    unittest.main()
