#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Outputs: what stands at their names, and folders of somebody else who replaces them while they are written. Needs root and a backend;
usage: outputs.py USCOPE FIXTURES"""
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

FAILED = 125
NOBODY = 65534
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
LOOP = f"{FIXTURES}/fixture_many_stacks"


def record(db, *options, command=("true",), **kwargs):
    return subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", db, *options, "--", *command], capture_output=True, text=True,
                          timeout=WAIT * 2, check=False, **kwargs)


class Outputs(AttachCase):
    def name(self, *parts):
        return os.path.join(self.folder.name, *parts)

    def content(self, path):
        with open(path, "rb") as file:
            return file.read()

    def test_a_device_is_not_replaced(self):
        null = self.name("null")
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        marker = self.name("started")
        for options in ((), ("--force",)):
            done = record(null, *options, command=("touch", marker))
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(f"{null} is a character device: a database cannot be written to it", done.stderr)
        done = record(self.db, "--keep-raw", null, command=("touch", marker))
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("a raw trace cannot be written to it", done.stderr)
        self.assertTrue(stat.S_ISCHR(os.lstat(null).st_mode))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["null"])
        done = record("/dev/stdout", command=("touch", marker))
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("is a descriptor of this process, a pipe", done.stderr)

    def test_only_traces_are_overwritten(self):
        kept = self.name("kept")
        for path in (self.db, kept):
            with open(path, "w", encoding="ascii") as file:
                file.write("precious")
        marker = self.name("started")
        for options, path in (((), self.db), (("--keep-raw", kept), kept)):
            done = record(self.name("new.db") if path == kept else self.db, *options, command=("touch", marker))
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(f"{path} exists, and is no trace of uscope's", done.stderr)
            self.assertIn("--force", done.stderr)
            self.assertEqual(self.content(path), b"precious")
        self.assertFalse(os.path.exists(marker))
        self.assertEqual(record(self.db, "--force", "--keep-raw", kept).returncode, 0)
        self.assertGreater(self.count("event"), 10)
        # A trace of the same kind needs no word, and a database is kept.
        before = self.content(self.db)
        done = record(self.db, "--keep-raw", kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"the one before is {self.db}.old", done.stderr)
        self.assertEqual(self.content(self.db + ".old"), before)
        done = record(kept)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("is a raw trace of uscope's", done.stderr)

    def test_a_link_is_followed_or_refused_never_replaced(self):
        os.mkdir(self.name("big"))
        os.symlink("big/real.db", self.db)
        kept = self.name("kept")
        self.assertEqual(record(self.db, "--keep-raw", kept).returncode, 0)
        self.assertTrue(os.path.islink(self.db))
        self.assertEqual(os.listdir(self.name("big")), ["real.db"])
        self.assertGreater(self.count("event"), 10)
        os.unlink(self.db)
        os.symlink(self.name("victim"), self.db)
        os.lchown(self.db, NOBODY, NOBODY)
        done = record(self.db)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("symbolic link that another user could have made", done.stderr)
        self.assertTrue(os.path.islink(self.db))
        self.assertFalse(os.path.exists(self.name("victim")))

    def test_a_file_beyond_the_limit_of_sizes_is_told(self):
        """As a full disk is. The command gets the signal that uscope holds back."""
        script = f"ulimit -f 16; exec {USCOPE} record {' '.join(BACKEND_OPTIONS)} -o {self.db} -- sh -c 'ls -R /usr/include; head -c 99999 /dev/zero >{self.name('big')}'"
        done = subprocess.run(["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertRegex(done.stderr, r"tracing ended early: cannot write the raw trace .*: File too large; raise the limit of file sizes")
        script = f"ulimit -f 4000; exec {USCOPE} record {' '.join(BACKEND_OPTIONS)} -o {self.name('other.db')} -- sh -c 'ulimit -f 1; exec head -c 99999 /dev/zero >{self.name('big')}'"
        done = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE, text=True, timeout=WAIT, check=False)
        self.assertEqual(done.returncode, -signal.SIGXFSZ, done.stderr)

    def test_two_recordings_of_one_name(self):
        first = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sleep", "2", stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(self.db + ".raw.part"), "it does not begin")
        second = record(self.db)
        self.assertEqual(second.returncode, FAILED)
        self.assertIn(f"another uscope is recording to {self.db}", second.stderr)
        self.assertIn("wait until it has ended, or choose another place with -o", second.stderr)
        self.assertEqual(first.wait(WAIT), 0)
        self.assertEqual(os.listdir(self.folder.name), ["trace.db"])

    def test_the_raw_trace_is_loaded_by_its_descriptor(self):
        """Whoever takes it away, or puts another one there, changes nothing."""
        raw = self.db + ".raw.part"
        recording = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sh", "-c", f"mv {raw} {raw}.gone; echo x > {raw}",
                               stderr=subprocess.PIPE, text=True)
        said = recording.communicate(timeout=WAIT)[1]
        self.assertEqual(recording.returncode, 0, said)
        self.assertIn("mv", self.commands())
        self.assertEqual(self.content(raw), b"x\n")
        self.assertEqual(self.content(raw + ".gone"), b"")  # thrown away, wherever it is

    def test_output_descriptors_that_are_closed(self):
        done = subprocess.run(["sh", "-c", f'exec "$@" <&- >&- 2>&-', "sh", USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", "sh", "-c",
                               "echo x; echo y >&2; exit 7"], timeout=WAIT, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertGreater(self.count("event"), 10)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def attacked(self, names, make, tries):
        """Runs make() again and again in a folder of nobody's, who replaces these names meanwhile. What every try must hold to."""
        attacker = self.name("folder_owner")
        subprocess.run(["cc", "-O2", "-o", attacker, os.path.join(PROGRAMS, "folder_owner.c")], check=True)
        os.chmod(self.folder.name, 0o755)
        nest = self.name("nest")
        good = bad = 0
        for attempt in range(tries):
            shutil.rmtree(nest, ignore_errors=True)
            for folder in (nest, nest + "/out", nest + "/other"):
                os.mkdir(folder)
                os.chown(folder, NOBODY, NOBODY)
            owner = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", attacker, nest + "/out",
                                      *names])
            self.addCleanup(self.end, owner)
            done = make(nest + "/out/x.db", attempt)
            self.assertIn(done.returncode, (0, 2, FAILED), done.stderr)
            succeeded = done.returncode == 0
            good, bad = good + succeeded, bad + (not succeeded)
            os.kill(owner.pid, signal.SIGSTOP)
            self.look_at(nest, succeeded, done.stderr)
            owner.send_signal(signal.SIGTERM)
            owner.send_signal(signal.SIGCONT)
            self.assertEqual(owner.wait(WAIT), 0, "a file of nobody's was written to")
        return good, bad

    def look_at(self, nest, succeeded, said):
        """No file of nobody's holds a byte of a trace, none of root's can be read by others."""
        whole = 0
        for folder, _, files in os.walk(nest):
            for file in files:
                path = os.path.join(folder, file)
                status = os.lstat(path)
                if not stat.S_ISREG(status.st_mode):
                    continue
                content = self.content(path)
                if status.st_uid == NOBODY:
                    self.assertIn(content, (b"bait\0", b""), f"{path} of nobody's: {len(content)} bytes")
                else:
                    self.assertEqual(stat.S_IMODE(status.st_mode), 0o600, path)
                    whole += content.startswith(b"SQLite format 3\0")
        if succeeded:
            self.assertEqual(whole, 1, f"success was reported: {said}")
        else:
            self.assertIn("uscope: ", said)

    def test_who_owns_the_folder_does_not_get_the_trace(self):
        kept = self.name("kept")
        self.assertEqual(record(self.db, "--keep-raw", kept).returncode, 0)

        def load(output, _):
            return subprocess.run([USCOPE, "load", kept, "-o", output], capture_output=True, text=True, timeout=WAIT, check=False)

        good, bad = self.attacked(["x.db.part", "x.db"], load, 24)
        print(f"load: {good} good, {bad} spoilt")
        self.assertGreater(bad, 0)
        self.attacked(["FOLDER", "x.db.part"], load, 6)

    def test_nor_while_it_is_recorded(self):
        def make(output, i):
            return record(output, *(("--keep-raw", os.path.dirname(output) + "/x.raw") if i % 2 else ()))

        for names in (["x.db.part", "x.db"], ["x.db.raw.part", "x.raw"]):
            good, bad = self.attacked(names, make, 4)
            print(f"record, {names}: {good} good, {bad} spoilt")

    def test_a_raw_trace_is_kept_in_another_folder(self):
        folder = self.name("other")
        os.mkdir(folder)
        kept = os.path.join(folder, "kept")
        before = []
        for _ in range(2):
            done = record(self.db, "--keep-raw", kept)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["kept"])
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["other", os.path.basename(self.db), *before])
            before = [os.path.basename(self.db) + ".old"]
            self.assertEqual(stat.S_IMODE(os.stat(kept).st_mode), 0o600)

    def test_but_not_in_another_file_system(self):
        if os.stat("/dev/shm").st_dev == os.stat(self.folder.name).st_dev:
            self.skipTest("no second file system here")
        marker = self.name("started")
        done = record(self.db, "--keep-raw", "/dev/shm/uscope-kept", command=("touch", marker))
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("cannot be kept in another file system", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_an_export_is_not_seen_by_the_owner_of_the_folder(self):
        self.assertEqual(record(self.db, command=(LOOP, "1000", "1000")).returncode, 0)

        def export(output, _):
            return subprocess.run([USCOPE, "export", self.db, "-o", output], capture_output=True, text=True, timeout=WAIT, check=False)

        folder = self.name("folder")
        os.mkdir(folder)
        os.chown(folder, NOBODY, NOBODY)
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        os.chown(fifo, NOBODY, NOBODY)
        done = export(fifo, 0)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is a pipe of another user", done.stderr)
        self.assertEqual(export(folder + "/folded", 0).returncode, 0)
        self.assertIn(b";", self.content(folder + "/folded"))
        self.assertEqual(os.stat(folder + "/folded").st_mode & 0o777, 0o600)

    def test_readers_are_confined(self):
        query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        self.assertEqual(record(self.db).returncode, 0)
        reader = self.start(USCOPE, "sql", self.db, query)
        found = {}

        def confined():
            with open(f"/proc/{reader.pid}/status", encoding="ascii") as file:
                found.update(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            return found.get("Seccomp") == "2"

        self.wait_for(confined, "it is not confined")
        self.assertEqual((found["NoNewPrivs"], int(found["CapEff"], 16), int(found["CapPrm"], 16)), ("1", 0xA, 0xA))
        began = time.monotonic()
        reader.send_signal(signal.SIGINT)
        self.assertEqual(reader.wait(WAIT), -signal.SIGINT)
        self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
