#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Calls about files of a file system whose server no longer answers (FUSE): named with path, mount and server, and undecided. Needs root and a
backend; usage: served_files.py USCOPE"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

# Mounts a file system, answers the kernel's first message, and then nothing more; with "own" it asks itself.
SERVER = r"""
import ctypes, os, struct, sys, time
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
assert ctypes.CDLL(None).mount(b"deadfs", sys.argv[1].encode(), b"fuse.deadfs", 0, options) == 0
unique = struct.unpack_from("=IIQ", os.read(device, 1 << 20))[2]
os.write(device, struct.pack("=IiQ", 80, 0, unique) + struct.pack("=IIIIHHI40x", 7, 31, 0, 0, 0, 0, 4096))
print("ready", flush=True)
if sys.argv[2] == "own": os.stat(sys.argv[1] + "/itself")
time.sleep(1000)
"""


@unittest.skipUnless(os.path.exists("/dev/fuse"), "this kernel has no FUSE")
class ServedFiles(AttachCase):
    def setUp(self):
        super().setUp()
        self.mount = self.path("mnt")
        os.mkdir(self.mount)
        self.programs = []

    def serve(self, mode="silent"):
        server = subprocess.Popen([sys.executable, "-c", SERVER, self.mount, mode], stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: [program.wait() for program in self.programs])  # they may end only after their server
        self.addCleanup(server.wait)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        self.addCleanup(subprocess.run, ["umount", "-l", self.mount], stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(server.stdout.readline(), "ready\n")
        return server.pid

    def hung(self, *command, **options):
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.programs.append(program)
        self.addCleanup(program.kill)
        self.wait_for(lambda: self.sleeps_in_fuse(program.pid), command)
        return program.pid

    def sleeps_in_fuse(self, pid):
        with open(f"/proc/{pid}/wchan", encoding="utf-8") as file:
            place = file.read()
            return "request_wait_answer" in place or "fuse" in place

    def look(self, *pids):
        options = [part for pid in pids for part in ("-p", str(pid))]
        done = subprocess.run([USCOPE, "deadlock", *BACKEND_OPTIONS, "--format", "json", *options], capture_output=True, text=True,
                              timeout=WAIT, check=False)
        return done.returncode, json.loads(done.stdout)

    def test_calls_by_path(self):
        server = self.serve()
        os.symlink(self.mount, self.path("link"))
        for call, path, command in (("statx", f"{self.mount}/x", ["stat", f"{self.mount}/x"]), ("statfs", self.mount, ["stat", "-f", self.mount]),
                                    ("openat", f"{self.mount}/dir/file", ["cat", f"{self.mount}/dir/file"]),
                                    ("statx", f"{self.mount}/y", ["stat", self.path("link/y")]),
                                    ("statx", f"{self.mount}/z", ["stat", "mnt/z"])):
            with self.subTest(command):
                pid = self.hung(*command, cwd=self.folder.name)
                status, found = self.look(pid)
                self.assertEqual((status, found["verdict"]), (3, "undecided"))
                self.assertRegex(found["reason"], rf"thread {pid} .* waits in {call}\({path}\) for an answer of process {server} `python3[^`]*`, which "
                                 rf"serves the file system {self.mount} \(fuse.deadfs\) and is not traced")

    def test_a_server_that_asks_itself(self):
        server = self.serve("own")
        self.wait_for(lambda: self.sleeps_in_fuse(server), "the server does not ask itself")
        status, found = self.look(server)
        self.assertEqual((status, found["verdict"]), (1, "deadlock"), found["reason"])
        self.assertEqual(found["findings"][0]["type"], "self_deadlock")
        self.assertIn(f"the server's end of {self.mount} (fuse.deadfs) is open in its own process", found["findings"][0]["explanation"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
