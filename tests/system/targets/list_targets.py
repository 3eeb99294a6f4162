#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What `uscope list` finds, against other programs that list the same: bpftrace, readelf, nm, tracefs. Needs root;
usage: list_targets.py USCOPE"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LIBSTDCXX = os.path.realpath("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")

# Two probes with a name of their own, one with an argument in a register and one with a constant.
PROGRAM = """
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>
__attribute__((noinline)) int work(int count, const char* name) {
  STAP_PROBE2(shop, sold, count, 7);
  return count + *name + getppid();
}
int main(int argc, char** argv) {
  STAP_PROBE1(shop, opened, argc);
  return work(argc, argv[0]) == 0;
}
"""


# Whether BPF programs can be run at functions of the kernel: then it has this function.
with open("/proc/kallsyms", encoding="ascii") as symbols:
    HAS_FPROBE = any(line.split()[2] == "register_fprobe" for line in symbols)


def run(*words):
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)


def listed(*words):
    done = run(USCOPE, "list", "--format", "json", *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def targets(*words):
    return listed(*words)["targets"]


def refused(*words):
    return listed(*words)["refused"]


def lines_of(*words):
    return run(*words).stdout.splitlines()


class Tracepoints(unittest.TestCase):
    def test_those_of_bpftrace(self):
        listed = {t["target"] for t in targets("tracepoint")}
        self.assertGreater(len(listed), 100)
        # bpftrace leaves out what it can attach in other ways.
        self.assertEqual({line for line in lines_of("bpftrace", "-l", "tracepoint:*")} - listed, set())

    def test_fields_are_those_of_the_format(self):
        folder = "/sys/kernel/tracing/events/sched/sched_switch"
        if not os.path.exists(folder):
            folder = folder.replace("/tracing/", "/debug/tracing/")
        with open(os.path.join(folder, "format"), encoding="ascii") as file:
            names = [n for n in re.findall(r"field:[^;]*?(\w+)(?:\[\d+\])?;", file.read()) if not n.startswith("common_")]
        (switch,) = targets("tracepoint:sched:sched_switch")
        self.assertEqual([a["name"] for a in switch["arguments"]], names[:6])
        self.assertIsNone(switch["why_not"])
        # An event holds six.
        self.assertEqual(len(names), 7)
        self.assertEqual(switch["note"], f"{names[6]} is not kept: an event holds six arguments")
        self.assertEqual(lines_of(USCOPE, "list", "tracepoint:sched:sched_switch")[-1], f"[1] {switch['note']}")


class Libraries(unittest.TestCase):
    def test_functions_are_those_of_nm(self):
        exported = {line.split()[2].split("@")[0] for line in lines_of("nm", "-D", "--defined-only", LIBC)
                    if line.split()[1] in "TW" and re.match(r"(open|close|read|write)\w*(@|$)", line.split()[2])}
        self.assertGreater(len(exported), 8)
        for name in exported:
            (found,) = targets(f"ufunction:libc.so.6:{name}")
            self.assertEqual(found["target"], f"ufunction:libc.so.6:{name}")
            self.assertEqual(os.path.realpath(found["path"]), os.path.realpath(LIBC))

    def test_a_name_that_is_chosen_at_the_start_is_refused(self):
        ifunc = [line.split()[2].split("@")[0] for line in lines_of("nm", "-D", "--defined-only", LIBC) if line.split()[1] == "i"]
        self.assertIn("strlen", ifunc)
        (found,) = [t["why_not"] for t in refused(f"ufunction:{LIBC}:strlen")]
        self.assertIn("IFUNC", found)
        with tempfile.TemporaryDirectory(prefix="uscope-targets-") as folder:
            done = run(USCOPE, "record", "-o", os.path.join(folder, "x.db"), "-t", f"ufunction:{LIBC}:strlen", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot be traced", done.stderr)
        # Nobody asked for what cannot be traced: it is counted.
        shown = run(USCOPE, "list", f"ufunction:{LIBC}:str*").stdout
        self.assertIn(":strfry  ", shown)
        self.assertNotIn(":strlen ", shown)
        self.assertRegex(shown, r"names them\):\n +\d+  .*IFUNC")
        self.assertIn(":strlen  [1]", run(USCOPE, "list", "--refused", f"ufunction:{LIBC}:str*").stdout)

    def test_probes_are_those_of_readelf(self):
        names = set()
        provider = ""
        for line in lines_of("readelf", "-n", LIBSTDCXX):
            word = line.strip().split(": ")
            if word[0] == "Provider":
                provider = word[1]
            elif word[0] == "Name":
                names.add(f"{provider}:{word[1]}")
        self.assertEqual({t["name"].split(":", 1)[1] for t in targets(f"usdt:{LIBSTDCXX}")}, names)
        self.assertEqual(len(names), 3)

    def test_kernel_functions_say_why_not(self):
        (read,) = targets("kfunction:vfs_read") if HAS_FPROBE else refused("kfunction:vfs_read")
        self.assertEqual([a["name"] for a in read["arguments"]], ["file", "buf", "count", "pos"])
        self.assertEqual(read["arguments"][0]["type"], "struct file *")
        (lock,) = refused("kfunction:_raw_spin_lock")
        if HAS_FPROBE:
            self.assertIsNone(read["why_not"])
            self.assertIn("the tracer's own programs take such a lock", lock["why_not"])
        else:
            self.assertIn("CONFIG_FPROBE", read["why_not"])
            self.assertEqual(lock["why_not"], read["why_not"])


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-targets-")
        self.addCleanup(folder.cleanup)
        self.program = os.path.join(os.path.realpath(folder.name), "shop")
        with open(self.program + ".c", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-g", "-O2", "-o", self.program, self.program + ".c"], check=True)

    def test_everything_of_a_file(self):
        found = {t["target"]: t for t in targets(self.program)}
        work = found[f"ufunction:{self.program}:work"]
        self.assertEqual(work["arguments"], [{"name": "count", "type": "int"}, {"name": "name", "type": "const char *"}])
        self.assertEqual(work["name"], "shop:work")
        self.assertEqual(found[f"usdt:{self.program}:shop:sold"]["arguments"],
                         [{"name": "arg0", "type": "int"}, {"name": "arg1", "type": "int"}])
        text = run(USCOPE, "list", f"ufunction:{self.program}:work").stdout
        self.assertEqual(text, f"ufunction:{self.program}:work  int count, const char *name  -> int\n")

    def test_an_application_that_runs(self):
        sleeper = subprocess.Popen(["sleep", "100"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        while os.path.basename(os.readlink(f"/proc/{sleeper.pid}/exe")) == "python3" or not os.path.exists(f"/proc/{sleeper.pid}/maps"):
            pass
        listed = {t["target"] for t in targets("ufunction:libc:getpid", "--pid", str(sleeper.pid))}
        self.assertEqual(listed, {"ufunction:libc.so.6:getpid"})
        counts = json.loads(run(USCOPE, "list", "--format", "json", "--pid", str(sleeper.pid)).stdout)["classes"]
        self.assertGreater({c["class"]: c["targets"] for c in counts}["ufunction"], 1000)

    def test_what_is_not_there_is_explained(self):
        for pattern, what, remedy in (
                (f"ufunction:{self.program}:wrok", "no function of shop matches 'wrok'", "did you mean work?"),
                (f"usdt:{self.program}:shop:slod", "no USDT probe of shop matches 'shop:slod'", "did you mean shop:sold?"),
                (f"ufunction:{self.program}.none:x", "no file is called", "give its path"),
                ("tracepoint:sched:sched_swich", "no such tracepoint", "did you mean sched:sched_switch"),
                ("no_such_word_anywhere", "no target has 'no_such_word_anywhere' in its name", "`uscope list` shows")):
            done = run(USCOPE, "list", pattern)
            self.assertEqual(done.returncode, 2, pattern)
            self.assertIn(what, done.stderr)
            self.assertIn(remedy, done.stderr)


if __name__ == "__main__":
    unittest.main()
