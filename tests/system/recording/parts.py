#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Parts of a recording, by thread and by time: report, files and time say of a part what SQL over v_event says with the same condition; the two
parts on both sides of a moment add up to the whole; and a part that has everything is the whole. Needs root and BPF (or the module); usage:
parts.py USCOPE DOCS-JSON"""
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

USCOPE, SCHEMAS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:3]
WAIT = 60 * SLOWNESS
# Threads that rename themselves, sleep and call; a rename of a file by relative paths, an empty path, children, descriptors left open.
THREADS = '''
import ctypes, os, signal, subprocess, sys, threading, time
libc = ctypes.CDLL(None)
kept = []
signal.signal(signal.SIGUSR1, lambda *a: None)
def work(number):
    for step in range(8):
        libc.prctl(15, f"job-{number}-{step % 3}".encode())
        for _ in range(12):
            with open("/etc/hostname") as file:
                file.read()
            try:
                os.stat("/no/such/file")
            except OSError:
                pass
        if step == 5:
            kept.append(os.open("/etc/passwd", os.O_RDONLY))
        time.sleep(0.01)
threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
for thread in threads:
    thread.start()
os.kill(os.getpid(), signal.SIGUSR1)
for thread in threads:
    thread.join()
open("one", "w").write("some bytes")
os.rename("one", "two")
folder = os.getcwd()
for name in "d1", "d2":
    os.mkdir(name)
    os.chdir(name)
    open("old", "w").close()
    os.rename("old", "new")
    os.rename(os.path.abspath("new"), "newer")
    os.rename("newer", os.path.abspath("new"))
    os.rename(os.path.abspath("new"), "newer")
    os.chdir(folder)
os.chdir("/")
try:
    os.open("", os.O_RDONLY)
except OSError:
    pass
with open("/etc/hostname") as source, open(sys.argv[1], "w") as target:
    os.sendfile(target.fileno(), source.fileno(), 0, 100)
subprocess.run(["sh", "-c", "ls / >/dev/null; exec true"])
'''
MAKEFILE = "prog: a.o b.o\n\tgcc -o prog a.o b.o\n"
WHERE_NAMES = "thread GLOB 'job-2-*'"


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=WAIT, **more)


def without_part(text):
    """Without what tells which part it is."""
    text = re.sub(r"^PART .*\n\n?", "", text, flags=re.M)
    return re.sub(r"^(LOST +nothing: no loss was counted) in .*$", r"\1", text, flags=re.M)


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="uscope-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recordings = {}
        cls.record("threads", sys.executable, "-c", THREADS, os.path.join(cls.folder, "copy"), options=("--signals",))
        for name in "d1", "d2":
            shutil.rmtree(os.path.join(cls.folder, name))
        cls.record("samples", sys.executable, "-c", THREADS, os.path.join(cls.folder, "copy"),
                   options=("-t", "sample:999", "-t", "offcpu"))
        cls.record("git", "sh", "-c", "git init -q g && cd g && echo x >x && git add . && "
                   "git -c user.email=a@b -c user.name=x commit -qm x && git log --stat >/dev/null")
        for name, text in (("a.c", "int f(int); int main(){return f(1);}\n"), ("b.c", "int f(int x){return x-1;}\n"),
                           ("Makefile", MAKEFILE)):
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)
        cls.record("make", "make", "-s", "-B", "-j2")
        cls.record("sqlite", "sqlite3", "rows.sqlite", "create table t(a); insert into t values(1); select count(*) from t")
        cls.record_redis()

    @classmethod
    def record(cls, name, *command, options=()):
        path = os.path.join(cls.folder, name + ".db")
        run(USCOPE, "record", "-q", *BACKEND_OPTIONS, *options, "-o", path, "--", *command, cwd=cls.folder)
        cls.recordings[name] = path

    @classmethod
    def record_redis(cls):
        if not shutil.which("redis-benchmark"):
            print("skipped: redis is not installed", file=sys.stderr)
            return
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        # Its own snapshot at the end would be a child's work; --save "" makes none.
        command = f"redis-server --port {port} --save '' --io-threads 3 >/dev/null & server=$!; " \
                  f"until redis-cli -p {port} ping >/dev/null 2>&1; do sleep 0.05; done; " \
                  f"redis-benchmark -p {port} -t set,get -n 2000 -q >/dev/null; redis-cli -p {port} shutdown nosave; wait $server"
        cls.record("redis", "sh", "-c", command)

    def ask(self, name, verb, *options):
        return run(USCOPE, verb, *options, self.recordings[name]).stdout

    def json(self, name, verb, *options):
        return json.loads(self.ask(name, verb, "--format", "json", *options))

    def rows(self, name, sql):
        with sqlite3.connect(f"file:{self.recordings[name]}?mode=ro", uri=True) as database:
            return database.execute(sql).fetchall()

    def start_and_end(self, name):
        return self.rows(name, "SELECT (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'start_ns'), "
                               "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'duration_ns')")[0]

    def middle(self, name):
        """A moment with no event near it, and calls under way if there are any, in ns since the start."""
        start, _ = self.start_and_end(name)
        times = [ts - start for ts, in self.rows(name, "SELECT ts_ns FROM event ORDER BY 1")]
        times = times[len(times) // 3:2 * len(times) // 3]
        gap, earlier = max((later - earlier, earlier) for earlier, later in zip(times, times[1:]))
        return earlier + gap // 2

    def busiest_thread(self, name):
        return self.rows(name, "SELECT tid FROM v_event GROUP BY 1 ORDER BY count(*) DESC, 1")[0][0]

    def conditions(self, name):
        """Options, and what they are in SQL."""
        start, _ = self.start_and_end(name)
        middle, tid = self.middle(name), self.busiest_thread(name)
        pid = self.rows(name, "SELECT pid FROM v_event GROUP BY 1 ORDER BY count(*) DESC, 1")[0][0]
        conditions = [((f"--tid={tid}",), f"tid = {tid}"), ((f"--pid={pid}",), f"pid = {pid}"),
                      ((f"--since={middle}ns",), f"ts_ns >= {start + middle}"), ((f"--until={middle}ns",), f"ts_ns <= {start + middle}"),
                      ((f"--pid={pid}", f"--until={middle}ns"), f"pid = {pid} AND ts_ns <= {start + middle}")]
        if name in ("threads", "samples"):
            conditions += [(("--thread=job-2-*",), WHERE_NAMES), (("--thread=job-*-1", f"--since={middle}ns"),
                                                                 f"thread GLOB 'job-*-1' AND ts_ns >= {start + middle}"),
                           (("--thread=job-0-0", "--thread=job-4-?"), "(thread = 'job-0-0' OR thread GLOB 'job-4-?')")]
        return conditions

    # A part that has everything is the whole, counted from the events.
    def test_a_part_with_everything_is_the_whole(self):
        for name in self.recordings:
            with self.subTest(recording=name):
                pids = [f"--pid={pid}" for pid, in self.rows(name, "SELECT pid FROM process")]
                for verb, options in [("report", ()), ("report", ("--top", "0")), ("report", ("--top", "1500")), ("files", ()),
                                      ("files", ("--callers",)), ("files", ("--open",)), ("files", ("--sort", "bytes", "--top", "5")),
                                      ("time", ())]:
                    for part in (("--until", "9999s"), ("--since", "0s"), ("--thread", "*"), pids):
                        with self.subTest(verb=verb, options=options, part=part[0]):
                            whole, same = self.ask(name, verb, *options), self.ask(name, verb, *options, *part)
                            # The kernel's account of the time on CPUs is of whole recordings.
                            if verb in ("report", "time") and name == "samples" and part[0] not in ("--until", "--since"):
                                continue
                            self.assertEqual(without_part(same), without_part(whole))
                for verb in ("report", "files"):
                    whole, same = self.json(name, verb), self.json(name, verb, "--until", "9999s")
                    self.assertIsNone(whole.pop("part"))
                    self.assertEqual(same.pop("part")["until_ns"], 9999 * 10**9)
                    self.assertEqual(same, whole)

    def report_numbers(self, name, *options):
        report = self.json(name, "report", "--top", "0", *options)
        lines = report["calls"]["lines"] + report["waits"]["lines"]
        calls = {(line["call"], line["abi"]): (line["events"], line["errors"], line["total_ns"], line["max_ns"]) for line in lines}
        return report, calls

    def test_a_report_of_a_part_is_what_sql_says(self):
        for name in self.recordings:
            with self.subTest(recording=name):
                for options, where in self.conditions(name):
                    with self.subTest(options=options):
                        report, calls = self.report_numbers(name, *options)
                        expected = self.rows(name, f"SELECT kind, count(*), sum(errno IS NOT NULL), coalesce(sum(dur_ns), 0), "
                                                   f"coalesce(max(dur_ns), 0) FROM v_event WHERE class = 'syscall' AND {where} GROUP BY 1")
                        self.assertTrue(expected or len(options) > 1)
                        found = {call: numbers for (call, _), numbers in calls.items()}
                        # Above 4096 durations of a call the longest is rounded up.
                        self.assertEqual({call: numbers[:3] for call, numbers in found.items()}, {row[0]: row[1:4] for row in expected})
                        for call, events, _, _, longest in expected:
                            if events <= 4096:
                                self.assertEqual(found[call][3], longest, call)
                        events, errors, threads, stacks = self.rows(
                            name, "SELECT count(*), coalesce(sum(errno IS NOT NULL), 0), count(DISTINCT pid || ':' || tid), count(DISTINCT stack_id) "
                                  f"FROM v_event WHERE {where}")[0]
                        trace = report["trace"]
                        self.assertEqual((trace["events"], trace["errors"]), (events, errors))
                        if name != "samples":  # several stacks with frames of the kernel have one user stack
                            self.assertEqual(trace["stacks"], stacks)
                        self.assertEqual(sum(line["events"] for line in report["threads"]["lines"]), events)
                        self.assertEqual(sum(line["events"] for line in report["processes"]["lines"]), events)
                        self.assertGreaterEqual(trace["threads"], threads)
                        triggers = {(line["call"], line["function"], line["module"]): line["events"] for line in report["triggers"]["lines"]}
                        expected = self.rows(name, "SELECT kind, coalesce(\"trigger\", ''), coalesce(trigger_module, ''), count(*) FROM v_event "
                                                   f"WHERE class = 'syscall' AND {where} GROUP BY 1, 2, 3")
                        self.assertEqual({(call, function or "", module or ""): n for (call, function, module), n in triggers.items()},
                                         {row[:3]: row[3] for row in expected})
                        failed = sum(line["events"] for line in report["errors"]["lines"])
                        self.assertEqual(failed, errors)
                        slowest = [line["event_id"] for line in report["slowest"]["lines"] + report["longest_waits"]["lines"]]
                        within = {row[0] for row in self.rows(name, f"SELECT id FROM v_event WHERE {where}")}
                        self.assertLessEqual(set(slowest), within)
                        signals = sum(line["sent"] + line["delivered"] for line in report["signals"]["lines"])
                        self.assertEqual(signals, self.rows(name, f"SELECT count(*) FROM v_event WHERE class = 'signal' AND {where}")[0][0])

    def test_files_of_a_part_are_what_sql_says(self):
        for name in self.recordings:
            with self.subTest(recording=name):
                for options, where in self.conditions(name):
                    with self.subTest(options=options):
                        files = self.json(name, "files", "--peers", *options)["files"]
                        found = {}
                        for line in files:
                            if line["calls"] and line["name"] is not None:
                                calls, failures, ns = found.get(line["name"], (0, 0, 0))
                                found[line["name"]] = calls + line["calls"], failures + line["failures"], ns + line["total_ns"]
                        expected = self.rows(name, "SELECT object, count(*), sum(errno IS NOT NULL), coalesce(sum(dur_ns), 0) FROM v_event "
                                                   f"WHERE object IS NOT NULL AND {where} GROUP BY 1")
                        found.pop("", None)  # an empty path is no object's name
                        self.assertEqual(found, {row[0]: row[1:] for row in expected})

    @staticmethod
    def sums(files):
        return {key: sum(line[key] for line in files["files"]) for key in ("calls", "failures", "opens", "reads", "writes", "changes",
                                                                           "bytes_read", "bytes_written", "total_ns", "wait_ns")}

    def test_two_parts_add_up(self):
        for name in self.recordings:
            with self.subTest(recording=name):
                middle = self.middle(name)
                parts = [(f"--until={middle}ns",), (f"--since={middle}ns",)]
                whole, first, second = (self.report_numbers(name, *options) for options in [(), *parts])
                calls = {}
                for _, part in (first, second):
                    for call, (events, errors, total, longest) in part.items():
                        a, b, c, d = calls.get(call, (0, 0, 0, 0))
                        calls[call] = a + events, b + errors, c + total, max(d, longest)
                self.assertEqual({call: numbers[:3] for call, numbers in calls.items()},
                                 {call: numbers[:3] for call, numbers in whole[1].items()})
                for key in ("gaps", "slowest", "longest_waits", "open"):
                    self.assertEqual(first[0][key]["total"] + second[0][key]["total"], whole[0][key]["total"], key)
                self.assertEqual(first[0]["trace"]["images"] + second[0]["trace"]["images"], whole[0]["trace"]["images"])
                between = [sum(line["between_ns"] for line in report["threads"]["lines"]) for report, _ in (whole, first, second)]
                self.assertEqual(between[1] + between[2], between[0])
                whole, first, second = (self.json(name, "files", *options) for options in [(), *parts])
                for key, value in self.sums(whole).items():
                    self.assertEqual(self.sums(first)[key] + self.sums(second)[key], value, key)
                held = [self.json(name, "files", "--open", *options)["held"]["descriptors"] for options in [(), *parts]]
                self.assertEqual(held[1] + held[2], held[0])

    # A name holds from one renaming to the next: the threads' own log of it are their prctl calls.
    def test_names_are_those_of_the_time(self):
        report = self.json("threads", "report", "--thread", "job-3-1", "--top", "0")
        opened = sum(line["events"] for line in report["calls"]["lines"] if line["call"] == "openat")
        tid, = {line["tid"] for line in report["threads"]["lines"]}
        inside, events = 0, self.rows("threads", f"SELECT kind, ts_ns, dur_ns, object FROM v_event WHERE tid = {tid} ORDER BY ts_ns")
        step = -1
        for kind, _, _, _ in events:
            step += kind == "prctl"
            inside += kind == "openat" and step >= 0 and step % 3 == 1
        self.assertEqual(opened, inside)
        shares = self.json("samples", "time", "--thread", "job-3-*")
        whole = self.json("samples", "time")
        lived = {line["tid"]: line["total_ns"] for line in whole["threads"]["lines"]}
        parts = [self.json("samples", "time", "--thread", f"job-3-{step}") for step in range(3)]
        thread, = shares["threads"]["lines"]
        self.assertLess(thread["total_ns"], lived[thread["tid"]])
        self.assertAlmostEqual(sum(part["threads"]["lines"][0]["total_ns"] for part in parts), thread["total_ns"], delta=100)

    def test_spellings_of_times(self):
        start, length = self.start_and_end("git")
        offset = int(self.rows("git", "SELECT value FROM meta WHERE key = 'utc_offset_ns'")[0][0])
        moment = (start + offset + length // 2) // 10**6 * 10**6
        seconds, fraction = divmod(moment, 10**9)
        clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{fraction // 10**6:03}Z"
        expected = self.rows("git", f"SELECT count(*) FROM event WHERE ts_ns >= {moment - offset}")[0][0]
        since = moment - offset - start
        for text in (clock, clock.replace("T", " "), f"{since}ns", f"{since / 10**3:.3f}us", f"{since / 10**9:.9f}s"):
            with self.subTest(since=text):
                self.assertEqual(self.json("git", "report", "--since", text)["trace"]["events"], expected)
                self.assertEqual(len(self.json("git", "events", "--since", text)["events"]), expected)

    def test_what_is_said(self):
        text = self.ask("threads", "report", "--thread", "job-1-*", "--until", "1s")
        self.assertTrue(text.split("\n")[2].startswith("LOST"))
        self.assertIn("PART       threads, while they were named job-1-*, up to 1.000000 s of ", text)
        self.assertTrue(self.ask("threads", "files", "--tid", str(self.busiest_thread("threads"))).startswith("PART       thread "))
        for verb in ("report", "files"):
            none = run(USCOPE, verb, "--tid", "999999999", self.recordings["git"])
            self.assertIn("the trace has no thread 999999999", none.stderr)
            none = run(USCOPE, verb, "--thread", "nobody*", self.recordings["threads"])
            self.assertIn("the trace has no thread with such a name; names in it: ", none.stderr)
            late = run(USCOPE, verb, "--since", "1h", self.recordings["git"])
            self.assertIn("--since is after the end of the trace", late.stderr)
            crossed = subprocess.run([USCOPE, verb, "--since", "2s", "--until", "1s", self.recordings["git"]], capture_output=True, text=True,
                                     timeout=WAIT)
            self.assertNotEqual(crossed.returncode, 0)
            self.assertIn("--since 2s is after --until 1s", crossed.stderr)

    def test_schemas_and_pages(self):
        import jsonschema
        for verb in ("report", "files"):
            with open(os.path.join(SCHEMAS, verb + ".schema.json")) as file:
                schema = json.load(file)
            for options in ((), ("--since", "0.01s", "--thread", "job-*")):
                jsonschema.validate(self.json("threads", verb, *options), schema)
        page = os.path.join(self.folder, "page.html")
        tid = self.busiest_thread("threads")
        run(USCOPE, "report", "--html", page, "--tid", str(tid), self.recordings["threads"])
        with open(page) as file:
            html = file.read()
        data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', html, re.S).group(1))
        self.assertEqual([thread["tid"] for thread in data["threads"]], [tid])
        events, = self.rows("threads", f"SELECT count(*) FROM v_event WHERE tid = {tid}")[0]
        self.assertEqual(sum(data["cells"]["events"]), events)
        self.assertEqual(sum(data["cube"]["events"]), events)
        self.assertEqual({line["pid"] for line in data["processes"]}, {data["threads"][0]["pid"]})
        self.assertTrue(any(line.startswith("PART ") for line in data["head"]))

    def test_time_counts_what_lies_in_the_part(self):
        middle = self.middle("samples")
        whole, first, second = (self.json("samples", "time", *options) for options in [(), (f"--until={middle}ns",), (f"--since={middle}ns",)])
        self.assertAlmostEqual(first["all"]["total_ns"] + second["all"]["total_ns"], whole["all"]["total_ns"], delta=1000)
        self.assertEqual(first["all"]["samples"] + second["all"]["samples"], whole["all"]["samples"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=2)
