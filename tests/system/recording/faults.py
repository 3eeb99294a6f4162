#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What goes wrong around a recording: each fault is told (what, on what, the way out), with a status that is not 0 where tracing failed, and
what was captured is kept. Needs root and a backend; usage: faults.py USCOPE FIXTURES"""
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from attaching import AttachCase, FIXTURES, USCOPE, WAIT  # noqa: E402
from backend import BACKEND, OPTIONS as BACKEND_OPTIONS  # noqa: E402

FAILED = 125
LOOP = f"{FIXTURES}/fixture_many_stacks"


def record(db, *command, before=()):
    return subprocess.run([*before, USCOPE, "record", *BACKEND_OPTIONS, "-o", db, *command], capture_output=True, text=True,
                          timeout=WAIT * 2, check=False)


class Faults(AttachCase):
    def refused(self, *texts, command=None, before=(), db=None):
        """Nothing is started, and nothing is left behind."""
        marker = os.path.join(self.folder.name, "started")
        done = record(db or self.db, *(command or ("--", "touch", marker)), before=before)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists(marker))
        self.assertFalse(os.path.exists(self.db))
        self.assertFalse(os.path.exists(self.db + ".raw.part"))

    def in_mount_namespace(self, script):
        """To stand before a command: the script mounts, and nobody else sees it."""
        return ["unshare", "--mount", "sh", "-c", script + ' && exec "$@"', "sh"]

    @unittest.skipIf(BACKEND == "kmod", "the module asks for one capability")
    def test_each_missing_capability_is_named(self):
        for names, capability in (("-bpf,-sys_admin", "CAP_BPF"), ("-perfmon,-sys_admin", "CAP_PERFMON")):
            with self.subTest(capability):
                self.refused(f"missing {capability}", "sudo", before=["setpriv", "--bounding-set", names])

    @unittest.skipIf(BACKEND == "kmod", "for BPF only")
    def test_kernel_without_type_information(self):
        self.refused("/sys/kernel/btf/vmlinux is not there", "CONFIG_DEBUG_INFO_BTF", before=self.in_mount_namespace("mount -t tmpfs none /sys/kernel/btf"))

    def test_target_is_missing(self):
        self.refused("4194000", "ps -e", command=("--pid", "4194000"))
        self.refused("/sys/fs/cgroup/none", command=("--cgroup", "/sys/fs/cgroup/none"))

    def test_target_ends_before_tracing_begins(self):
        gone = self.start("sleep", "60")
        gone.kill()
        gone.wait()
        self.refused(str(gone.pid), "no process", command=("--pid", str(gone.pid)))
        # Not waited for: there, but dead.
        dead = self.start("sleep", "60")
        os.kill(dead.pid, signal.SIGKILL)
        self.wait_for(lambda: state(dead.pid) == "Z", "it is not dead")
        self.refused(f"process {dead.pid} has ended before tracing began", "--app", command=("--pid", str(dead.pid)))

    def test_output_folder_cannot_be_written(self):
        place = os.path.join(self.folder.name, "place")
        os.mkdir(place)
        self.refused("Read-only file system", "-o", db=place + "/trace.db", before=self.in_mount_namespace(f"mount -t tmpfs -o ro none {place}"))

    def test_too_few_descriptors(self):
        self.refused("only 64 files may be open", "ulimit -n", before=["prlimit", "--nofile=64:64"])

    def test_no_memory_may_be_locked(self):
        done = record(self.db, "--", "true", before=["prlimit", "--memlock=0:0"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.count("event"), 10)

    def test_a_disk_that_is_full(self):
        """Tracing stops and the command goes on; what was captured can be loaded."""
        place = os.path.join(self.folder.name, "place")
        os.mkdir(place)
        kept = os.path.join(self.folder.name, "kept")
        done = subprocess.run([*self.in_mount_namespace(f"mount -t tmpfs -o size=1m none {place}"), "sh", "-c",
                               f"{USCOPE} record {' '.join(BACKEND_OPTIONS)} -o {place}/trace.db -- {LOOP} 50000 10000; code=$?; "
                               f"cp {place}/trace.db.raw.part {kept}; ls {place}; exit $code"],
                              capture_output=True, text=True, timeout=WAIT * 2, check=False)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertRegex(done.stdout, r"^\d+\nwall \d+\ntrace.db.raw.part\n$")  # the times of the loop, and no half database
        self.assertIn("No space left on device", done.stderr)
        self.assertIn("can be loaded", done.stderr)
        subprocess.run([USCOPE, "load", kept, "-o", self.db], check=True, capture_output=True)
        self.assertGreater(self.count("v_event WHERE kind = 'getppid' AND ended = 'root'"), 1000)
        self.assertEqual(self.count("loss WHERE cause = 'cut_off'"), 1)

    def test_a_disk_that_stands_still(self):
        """A file system is frozen for a second: what does not fit the rings is counted."""
        image, place = (os.path.join(self.folder.name, name) for name in ("image", "place"))
        os.mkdir(place)
        with open(image, "wb") as file:
            file.truncate(512 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", image], check=False).returncode
        if made or subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, check=False).returncode:
            self.skipTest("no file system can be made here")
        self.addCleanup(subprocess.run, ["umount", "--lazy", place], check=True)
        calls = 1_000_000
        self.db = place + "/trace.db"
        tracer = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", LOOP, str(calls), "200", stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(self.db + ".raw.part") and os.path.getsize(self.db + ".raw.part") > 4 << 20, "no event is written")
        subprocess.run(["fsfreeze", "--freeze", place], check=True)
        thaw = threading.Timer(1.5, subprocess.run, [["fsfreeze", "--unfreeze", place]])
        thaw.start()
        self.assertEqual(tracer.wait(WAIT * 2), 0)
        thaw.join()
        lost = self.rows("SELECT sum(count) FROM loss WHERE cause = 'ring_full_event'")[0][0]
        events = self.count("event")
        self.db = os.path.join(self.folder.name, "short.db")
        self.run_to_end(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", LOOP, "10", "200", stderr=subprocess.DEVNULL)
        self.assertEqual(events + lost, self.count("event") - 10 + calls)

    def test_links_in_the_place_of_the_files_in_the_making_are_not_followed(self):
        victim = os.path.join(self.folder.name, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("precious")
        os.symlink(victim, self.db + ".raw.part")
        done = record(self.db, "--", "true")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(".raw.part", done.stderr)
        os.unlink(self.db + ".raw.part")
        os.symlink(victim, self.db + ".part")  # where the loader writes
        done = record(self.db, "--", "true")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("trace.db.part", done.stderr)
        os.unlink(self.db + ".part")
        os.unlink(self.db + ".raw.part")  # kept, since it could not be loaded
        os.symlink(victim, self.db)  # root's own, in root's folder: followed, to a file that is no trace
        self.refused_without_force(victim)
        os.unlink(victim)
        self.assertEqual(record(self.db, "--", "true").returncode, 0)
        self.assertTrue(os.path.islink(self.db))
        self.assertEqual(os.stat(victim).st_mode & 0o777, 0o600)

    def refused_without_force(self, victim):
        done = record(self.db, "--", "true")
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("exists, and is no trace of uscope's", done.stderr)
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_an_interrupt_while_it_loads(self):
        """Tracing has ended: nothing half is left, and the raw trace can be loaded."""
        recording = self.start(USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", LOOP, "1000000", "200", stderr=subprocess.PIPE, text=True)
        self.wait_for(lambda: os.path.exists(self.db + ".part") or recording.poll() is not None, "it does not load")
        recording.send_signal(signal.SIGINT)
        said = recording.communicate(timeout=WAIT)[1]
        self.assertEqual(recording.returncode, -signal.SIGINT, said)
        self.assertIn(f"uscope load {self.db}.raw.part -o {self.db}", said)
        self.assertEqual(os.listdir(self.folder.name), ["trace.db.raw.part"])
        subprocess.run([USCOPE, "load", self.db + ".raw.part", "-o", self.db], check=True, capture_output=True)
        self.assertEqual(self.count("v_event WHERE kind = 'getppid'"), 1_000_000)

    def test_under_sudo_the_output_is_the_users(self):
        kept = os.path.join(self.folder.name, "kept")
        env = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534"}
        run = [USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--keep-raw", kept, "--", "true"]
        for _ in range(2):  # also in place of one that is the user's by now
            subprocess.run(run, env=env, check=True, capture_output=True, timeout=WAIT)
            for path in (self.db, kept):
                status = os.stat(path)
                self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (65534, 65534, 0o600), path)
            os.unlink(kept)

    def test_others_files_are_read_without_privileges(self):
        kept = os.path.join(self.folder.name, "kept")
        self.assertEqual(record(self.db, "--keep-raw", kept, "--", LOOP, "300000", "200").returncode, 0)
        loading = self.start(USCOPE, "load", kept, "-o", self.db)
        found = {}
        while loading.poll() is None and found.get("Seccomp") != "2":
            with open(f"/proc/{loading.pid}/status", encoding="ascii") as file:
                found = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertEqual(loading.wait(WAIT), 0)
        self.assertEqual((found["Seccomp"], found["NoNewPrivs"], int(found["CapEff"], 16), int(found["CapPrm"], 16)), ("2", "1", 0xA, 0xA))

    def test_the_command_gets_nothing_of_the_tracers(self):
        inside = os.path.join(self.folder.name, "inside")
        script = f"env | sort > {inside}.env; ls -l /proc/self/fd > {inside}.fds; grep -E '^(Cap|Sig(Blk|Ign)|NoNewPrivs|Seccomp:)' /proc/self/status > {inside}.status; ulimit -a > {inside}.limits; nice > {inside}.nice"
        subprocess.run(["sh", "-c", script], check=True)
        alone = {name: self.words(f"{inside}.{name}") for name in ("env", "status", "limits", "nice")}
        self.assertEqual(record(self.db, "--", "sh", "-c", script).returncode, 0)
        self.assertEqual({name: self.words(f"{inside}.{name}") for name in alone}, alone)
        with open(inside + ".fds", encoding="utf-8") as file:
            numbers = {line.split(" -> ")[0].split()[-1] for line in file if " -> " in line}
        self.assertEqual(numbers, {"0", "1", "2", "3"})  # the last one is that of ls

    @staticmethod
    def words(path):
        with open(path, encoding="utf-8") as file:
            return [line for line in file if not line.startswith("_=")]


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


if __name__ == "__main__":
    assert shutil.which("unshare")
    unittest.main(verbosity=2)
