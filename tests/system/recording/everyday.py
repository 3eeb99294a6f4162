#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What readers say of real programs: the files that were used and the bytes that went through them, the time between calls, times by the
clock, folders of relative paths. Needs root and a backend; usage: everyday.py USCOPE"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# Reads a file in pieces, writes another one, copies one by sendfile, asks for one that is not there, computes, sleeps.
PROGRAM = """
import os, time
with open("input", "rb", buffering=0) as source:
    while source.read(1000):
        pass
source = os.open("input", os.O_RDONLY)
os.mkdir("sub")
os.chdir("sub")
output = os.open("output", os.O_WRONLY | os.O_CREAT, 0o600)
os.write(output, b"x" * 700)
os.write(output, b"y" * 77)
os.sendfile(output, source, 0, 2000)
for _ in range(3):
    try:
        os.open("missing", os.O_RDONLY)
    except FileNotFoundError:
        pass
os.getppid()
total = 0
for i in range(5_000_000):
    total += i
os.getpgrp()
time.sleep(0.2)
"""


class Told(unittest.TestCase):
    """What `record` says of itself."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-told-")
        self.addCleanup(folder.cleanup)
        self.db = os.path.join(folder.name, "trace.db")

    def record(self, *words, **options):
        return subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, *words], check=False, capture_output=True, text=True,
                              timeout=120 * SLOWNESS, **options)

    def test_whom_it_waits_for(self):
        """Also where no terminal is; not of a command that leaves nobody, nor of one that is asked to be quiet."""
        said = "the command has ended; tracing goes on until what it left has ended, too: sleep (pid "
        leaves = "sleep 2.5 & echo $!"
        done = self.record("--", "sh", "-c", leaves)
        self.assertIn(said + done.stdout.strip(), done.stderr)
        self.assertEqual(done.stderr.count("the command has ended"), 1)
        self.assertNotIn("the command has ended", self.record("-q", "--", "sh", "-c", leaves).stderr)
        self.assertNotIn("the command has ended", self.record("--", "sh", "-c", "sleep 1.5").stderr)

    def settings(self, *words, **options):
        """What the trace holds of them, and all that the database holds of the environment's secret."""
        env = {"PATH": os.environ["PATH"], "TOKEN": "hidden-7531", "STAGE": "blue"}
        done = self.record("-q", "--force", *words, env=env, cwd="/var", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.db, "rb") as file:
            self.assertNotIn(b"hidden-7531", file.read())
        with sqlite3.connect(self.db) as database:
            return [json.loads(text) for text, in database.execute("SELECT value FROM meta WHERE key = 'settings'")]

    def test_settings_of_a_command(self):
        one, = self.settings("--env", "ST*", "--", "true")[0]
        self.assertEqual((one["uid"], one["cwd"], one["environment"]), (0, "/var", ["PATH", "STAGE", "TOKEN"]))
        self.assertEqual(one["values"], {"PATH": os.environ["PATH"], "STAGE": "blue"})
        self.assertIn("NOFILE", one["limits"])
        one, = self.settings("--no-strings", "-u", "nobody", "--", "true")[0]
        self.assertNotEqual(one["uid"], 0)
        self.assertFalse({"cwd", "environment"} & set(one) or one["values"], one)

    def test_settings_of_what_runs(self):
        with subprocess.Popen(["sh", "-c", "sleep 20 & wait"], env={"LATE": "hidden-7531"}, cwd="/usr", user=65534) as shell:
            try:
                one, = self.settings("--pid", str(shell.pid), "--duration", "0.3s")[0]
            finally:
                subprocess.run(["pkill", "-P", str(shell.pid)], check=False)
        self.assertEqual((one["pid"], one["uid"], one["cwd"]), (shell.pid, 65534, "/usr"))
        self.assertIn("LATE", one["environment"])

    @unittest.skipIf(BACKEND_OPTIONS, "the module asks for others")
    def test_who_may_trace(self):
        os.chmod(os.path.dirname(self.db), 0o777)
        done = self.record("--", "true", user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"^uscope: tracing needs root: missing CAP_BPF ")


class Causes(unittest.TestCase):
    """What stopped a program stands in the first three lines of ERRORS BY FILE; and who put a file in the place of another one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-causes-")
        self.addCleanup(folder.cleanup)
        self.work = os.path.realpath(folder.name)
        self.db = os.path.join(self.work, "trace.db")

    def record(self, *command):
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", self.db, "--", *command], cwd=self.work, check=False, capture_output=True,
                       timeout=120 * SLOWNESS)

    def read(self, *words):
        return json.loads(subprocess.run([USCOPE, *words, "--format", "json"], check=True, capture_output=True,
                                         timeout=60 * SLOWNESS).stdout)

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w", encoding="utf-8") as file:
            file.write(text)

    def assert_told(self, ending, *command):
        self.record(*command)
        first = [line["object"] or "" for line in self.read("report", self.db)["errors_by_file"]["lines"][:3]]
        self.assertTrue(any(name.endswith(ending) for name in first), first)

    def test_a_missing_library(self):
        self.write("zz.c", "int zz(void) { return 0; }\n")
        self.write("a.c", "int zz(void);\nint main(void) { return zz(); }\n")
        compiler = "cc"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", "libzz.so", "zz.c"], cwd=self.work, check=True)
        subprocess.run([compiler, "-o", "a.out", "a.c", "-L.", "-lzz"], cwd=self.work, check=True)
        os.unlink(os.path.join(self.work, "libzz.so"))
        self.assert_told("libzz.so", "./a.out")
        [line] = [line for line in self.read("report", self.db)["errors_by_file"]["lines"] if line["object"] == "libzz.so"]
        self.assertGreater(len(line["objects"]), 1)
        self.assertEqual(sum(one["events"] for one in line["objects"]), line["events"])

    def test_a_missing_file_of_python(self):
        self.write("app.py", "import json\njson.load(open('settings.json'))\n")
        self.assert_told("/settings.json", sys.executable, "app.py")

    def test_a_missing_file_of_a_command_in_a_script(self):
        self.write("run.sh", "cat names.txt | sort\nls > /dev/null\n")
        self.assert_told("/names.txt", "bash", "run.sh")

    def test_who_renamed_onto_a_file(self):
        self.write("F", "one\n")
        self.record("bash", "-c", "cat F; sed -i s/one/two/ F; cat F")
        found = self.read("files", self.db, "--path", os.path.join(self.work, "F"))
        [file] = found["files"]
        self.assertEqual(file["changes"], 1)
        first = found["callers"]["lines"][0]
        self.assertEqual((first["process"], first["changes"], first["call"].startswith("rename")), ("sed", 1, True), first)


class Everyday(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-everyday-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = os.path.realpath(cls.folder.name)
        cls.db = os.path.join(cls.work, "trace.db")
        with open(os.path.join(cls.work, "input"), "wb") as file:
            file.write(b"z" * 12345)
        cls.began = time.time()
        subprocess.run([USCOPE, "record", *BACKEND_OPTIONS, "-o", cls.db, "--", sys.executable, "-S", "-c", PROGRAM], cwd=cls.work,
                       check=True, capture_output=True, timeout=120 * SLOWNESS)
        cls.ended = time.time()

    def uscope(self, *words, **environment):
        done = subprocess.run([USCOPE, *words], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False,
                              env={**os.environ, "TZ": "UTC0", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.uscope(*words, "--format", "json"))

    def rows(self, sql):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(sql).fetchall()

    def file(self, path):
        found = [line for line in self.json("files", self.db)["files"] if line["name"] == path]
        self.assertEqual(len(found), 1, path)
        return found[0]

    def test_bytes_are_counted_by_file(self):
        source = self.file(os.path.join(self.work, "input"))
        self.assertEqual((source["opens"], source["bytes_read"], source["bytes_written"]), (2, 12345 + 2000, 0))
        self.assertEqual(source["reads"], 14 + 1)  # 13 pieces, the end, sendfile
        output = self.file(os.path.join(self.work, "sub", "output"))
        self.assertEqual((output["opens"], output["writes"], output["bytes_written"], output["bytes_read"]), (1, 3, 2777, 0))

    def test_failures_count_where_they_were_asked_for(self):
        missing = self.file(os.path.join(self.work, "sub", "missing"))
        self.assertEqual((missing["opens"], missing["failures"], missing["calls"]), (3, 3, 3))
        [worst] = self.json("files", self.db, "--path", os.path.join(self.work, "*"), "--sort", "failures", "--top", "1")["files"]
        self.assertEqual(worst["name"], missing["name"])

    def test_a_report_names_what_is_missing(self):
        found = [line for line in self.json("report", self.db)["errors_by_file"]["lines"] if (line["object"] or "").endswith("/sub/missing")]
        self.assertEqual([(line["call"], line["name"], line["events"]) for line in found], [("openat", "ENOENT", 3)])

    def test_who_wrote_a_file_is_told_by_its_base_name(self):
        found = self.json("files", self.db, "--path", "output")
        [line] = found["files"]
        [user] = line["processes"]
        self.assertEqual((line["name"], user["bytes_written"]), (os.path.join(self.work, "sub", "output"), 2777))
        writers = [caller for caller in found["callers"]["lines"] if caller["bytes_written"] > 0]
        self.assertEqual(sum(caller["bytes_written"] for caller in writers), 2777)
        self.assertEqual({(caller["pid"], caller["process"]) for caller in writers}, {(user["pid"], user["name"])})
        self.assertTrue(all(caller["function"] for caller in writers))

    def test_nothing_is_left_out_of_the_sums(self):
        everything = self.json("files", self.db)["all"]
        # mmap of anonymous memory is about no file.
        [(calls, failures, time_inside)] = self.rows(
            "SELECT count(*), sum(result BETWEEN -4095 AND -1), sum(dur_ns) FROM event JOIN kind ON kind.id = kind_id WHERE kind_id IN "
            "(SELECT kind_id FROM object_total) AND NOT (name = 'mmap' AND a4 & 0xffffffff = 0xffffffff)")
        self.assertEqual((everything["calls"], everything["failures"], everything["total_ns"]), (calls, failures, time_inside))
        [(read,)] = self.rows("SELECT sum(result) FROM event JOIN kind ON kind.id = kind_id WHERE name IN ('read', 'pread64') AND result > 0")
        self.assertEqual(everything["bytes_read"], read + 2000)

    def test_computing_is_a_gap_and_sleeping_is_a_wait(self):
        report = self.json("report", self.db)
        [gap] = [line for line in report["gaps"]["lines"] if line["before"] and line["before"]["call"] == "getppid"]
        self.assertGreaterEqual(gap["dur_ns"], 20_000_000)
        self.assertEqual((gap["after"]["call"], gap["doubtful"]), ("getpgrp", False))
        self.assertIn(report["longest_waits"]["lines"][0]["call"], ("clock_nanosleep", "select", "pselect6"))
        self.assertNotIn(report["slowest"]["lines"][0]["call"], ("clock_nanosleep", "select", "pselect6"))
        thread = report["threads"]["lines"][0]
        self.assertGreaterEqual(thread["wait_ns"], 200_000_000)
        self.assertGreaterEqual(thread["between_ns"], gap["dur_ns"])

    def test_relative_paths_stand_behind_their_folder(self):
        text = self.uscope("events", self.db, "--path", os.path.join(self.work, "sub", "missing"))
        self.assertEqual(text.count("\n"), 3, text)
        self.assertIn(f'openat(AT_FDCWD<{self.work}/sub>, "missing", ', text)

    def test_times_by_the_clock(self):
        line = self.uscope("events", self.db, "-t", "-n", "1")
        self.assertRegex(line, r"^\S+\[\d+/\d+\] \d\d:\d\d:\d\d\.\d{6} execve\(")
        began = self.json("report", self.db)["trace"]["began"]
        stamps = [time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) for at in (self.began - 1, self.ended + 1)]
        self.assertTrue(stamps[0] <= began <= stamps[1], (stamps, began))
        elsewhere = self.uscope("report", self.db, TZ="XYZ-5")
        self.assertRegex(elsewhere, r"began \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0500 \(XYZ\)")
        events = self.json("events", self.db)["events"]
        since = events[5]["time"][:26].replace("T", " ")  # to the microsecond
        self.assertIn(len(self.json("events", self.db, "--since", since)["events"]), (len(events) - 5, len(events) - 4))

    def test_an_event_with_its_neighbours(self):
        [(middle,)] = self.rows("SELECT event.id FROM event JOIN kind ON kind.id = kind_id WHERE name = 'getppid'")
        events = self.json("events", self.db, "--id", str(middle), "--around", "2")["events"]
        self.assertEqual(len(events), 5)
        self.assertEqual([event["id"] for event in events if "frames" in event], [middle])
        self.assertEqual(events[3]["call"], "getpgrp")

    def test_export_takes_filters_and_levels(self):
        lines = self.uscope("export", self.db, "-e", "getppid", "--levels", "pid,thread,call").splitlines()
        self.assertEqual(len(lines), 1)
        self.assertTrue(re.match(r"pid \d+;\S+/\d+;", lines[0]), lines)
        self.assertTrue(lines[0].endswith(";getppid 1"), lines)


if __name__ == "__main__":
    unittest.main()
