#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs and libraries on overlayfs, as containers have them: their paths are those that the programs see, and what takes the place of a
probed file, by a change of its layer or another file, is probed, or counted. Needs root and BPF; usage: layered_files.py USCOPE"""
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

PROGRAM = """
#include <stdio.h>
#include <sys/sdt.h>
#include <unistd.h>
__attribute__((noinline)) int work(int x) { __asm__ volatile(""); return x * 3 + 1; }
int main(int argc, char** argv) {
  if (argc > 1) { puts("ready"); fflush(stdout); getchar(); }
  for (int i = 0; i < 5; i++) { work(i); DTRACE_PROBE1(layer, turn, i); }
  getppid();
  puts("5");
  return argc == 9;
}
"""

LIBRARY = "__attribute__((noinline)) int work(int x) { __asm__ volatile(\"\"); return x * 3 + 1; }\n"

HOST = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW);
  int (*work)(int) = (int (*)(int))dlsym(library, "work");
  for (int i = 0; i < 5; i++) work(i);
  puts("5");
  return 0;
}
"""


class LayeredFiles(TraceCase):
    def setUp(self):
        super().setUp()
        self.layer = self.folder_named("layer")
        self.build("prog", PROGRAM)
        self.build("host", HOST, "-ldl")
        self.build("lib.so", LIBRARY, "-shared", "-fPIC")

    def folder_named(self, name):
        os.mkdir(self.path(name))
        return self.path(name)

    def build(self, name, source, *options):
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", os.path.join(self.layer, name), *options], input=source, text=True, check=True)

    def mount(self, name):
        merged, upper, scratch = (self.folder_named(name + suffix) for suffix in ("", ".upper", ".scratch"))
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={self.layer},upperdir={upper},workdir={scratch}", merged],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", merged], check=True)
        return merged

    def record(self, targets, *command, options=("-e", "none")):
        done = subprocess.run([USCOPE, "record", "--force", *options, "-o", self.db, *(word for target in targets for word in ("-t", target)),
                               "--", *command], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def hits_by_run(self):
        """Of each program or library, by its name."""
        return dict(self.rows("SELECT kind || ' ' || class, count(*) FROM v_event WHERE class IN ('ufunction', 'usdt') GROUP BY 1"))

    def losses(self):
        return dict(self.rows("SELECT cause, sum(count) FROM loss WHERE cause <> 'file_changed' GROUP BY cause"))

    def test_a_short_program_has_its_stack_and_its_path(self):
        program = os.path.join(self.mount("view"), "prog")
        self.record([], "sh", "-c", f"{program}; true", options=("-e", "getppid"))
        self.assertEqual(self.rows("SELECT path FROM module WHERE path LIKE '%prog'"), [(program,)])
        self.assertEqual(self.rows("SELECT DISTINCT ended FROM stack"), [("root",)])

    def record_attached(self, process, *options):
        with subprocess.Popen([USCOPE, "record", "-e", "getppid", "--force", *options, "-o", self.db], stderr=subprocess.PIPE,
                              text=True) as recording:
            said = ""
            while "tracing" not in said:
                said += recording.stderr.readline()
            self.assertEqual(process.communicate("\n", timeout=60 * SLOWNESS)[0], "5\n")
            self.assertEqual(recording.wait(60 * SLOWNESS), 0, said)

    def triggers(self):
        """Of getppid(), and whether its stack has frames."""
        return self.rows("SELECT \"trigger\", depth > 0 FROM v_event WHERE kind = 'getppid'")

    def test_a_process_that_runs_has_its_own_frames(self):
        """The kernel notes the layered file as the executable, and the layer's as what is mapped, which has no path once it was copied up: then
        the frames have no names, as is told, but they are there."""
        for change, name in (("true", "main"), ("chmod 777 prog", "prog+0x"), ("rm prog", "main"), ("mv prog other", "other+0x")):
            for mode in ("app-last", "app-all") if name == "main" else ("app-last",):
                with self.subTest(change=change, mode=mode):
                    view = self.mount(f"view-{change.split()[0]}-{mode}")
                    with subprocess.Popen([f"{view}/prog", "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                        self.assertEqual(process.stdout.readline(), "ready\n")
                        subprocess.run(change, shell=True, cwd=view, check=True)
                        self.record_attached(process, "--mode", mode, "-p", str(process.pid))
                    self.assertEqual([(trigger.startswith(name), has_frames) for trigger, has_frames in self.triggers()], [(True, 1)])
                    changed = self.rows("SELECT count(*) FROM loss WHERE cause = 'file_changed'")
                    self.assertEqual(changed, [(int(name != "main"),)])
        self.record([], f"{view}/other", options=("-e", "getppid", "--mode", "app-last"))
        self.assertEqual(self.triggers(), [("main", 1)])

    def test_what_takes_the_place_of_a_probed_file_is_probed(self):
        view = self.mount("view")
        for name in ("attributes", "renamed", "made_again", "late"):
            shutil.copy(os.path.join(self.layer, "prog"), os.path.join(self.layer, name))
        changes = f"chmod 777 attributes lib.so; cp renamed new; mv new renamed; rm made_again; cp {self.layer}/made_again made_again"
        programs = ("attributes", "renamed", "made_again")
        runs = "; ".join([f"./{name}" for name in programs] + ["./host ./lib.so"])
        done = self.record([f"ufunction:{view}/{name}:work" for name in (*programs, "lib.so")] + [f"usdt:{view}/attributes:layer:turn"],
                           "sh", "-c", f"cd {view}; {runs}; {changes}; {runs}; sleep 1; {runs}")
        self.assertEqual(done.stdout.split(), ["5"] * 12)
        hits = self.hits_by_run()
        self.assertEqual(len(hits), 5, hits)
        for kind, count in hits.items():
            self.assertIn(count, range(10, 16), (kind, hits, done.stderr))
        self.assertEqual(self.losses(), {"probe_not_there": 4}, done.stderr)
        for name in (*programs, "lib.so"):
            self.assertIn(f"{view}/{name} was mapped in place of the file that was probed", done.stderr)

    def test_what_an_asked_path_leads_to_is_probed_by_whatever_path_it_is_mapped(self):
        other, view = self.folder_named("other"), self.mount("view")
        subprocess.run(["mount", "--bind", view, other], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", other], check=True)
        names = ("bound", "linked", "rooted")
        for name in (*names, "first"):
            shutil.copy(os.path.join(self.layer, "prog"), os.path.join(self.layer, name))
        os.symlink("first", f"{view}/current")
        changes = "for name in " + " ".join(names) + "; do cp $name new; mv new $name; done; ln linked hard; ln -sfn prog current"
        runs = f"{other}/bound; {view}/hard; unshare -m sh -c 'mount --bind {view} /mnt; /mnt/rooted'; ./current"
        done = self.record([f"ufunction:{view}/{name}:work" for name in (*names, "current")], "sh", "-c",
                           f"cd {view}; {changes}; {runs}; sleep 1; {runs}; {view}/linked")
        self.assertEqual(done.stdout.split(), ["5"] * 9, done.stderr)
        self.assertEqual(self.losses(), {"probe_not_there": 4}, done.stderr)
        self.assertIn(sum(self.hits_by_run().values()), range(25, 46), done.stderr)
        for name in (*names, "current"):
            self.assertIn(f"{view}/{name} was mapped in place of the file that was probed", done.stderr)

    def test_a_copy_that_another_container_has_changed_is_another_program(self):
        one, other = self.mount("one"), self.mount("other")
        done = self.record([f"ufunction:{one}/prog:work"], "sh", "-c", f"{one}/prog; {other}/prog; chmod 777 {other}/prog; {other}/prog")
        self.assertEqual((done.stdout.split(), self.losses()), (["5"] * 3, {}), done.stderr)
        self.assertEqual(sum(self.hits_by_run().values()), 10)

    def test_a_process_that_has_mapped_what_its_file_was_before_is_counted(self):
        program = os.path.join(self.mount("view"), "prog")
        with subprocess.Popen([program, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            os.chmod(program, 0o777)
            with subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{program}:work", "-p",
                                   str(process.pid)], stderr=subprocess.PIPE, text=True) as recording:
                said = ""
                while "tracing" not in said:
                    said += recording.stderr.readline()
                self.assertEqual(process.communicate("\n", timeout=60 * SLOWNESS)[0], "5\n")
                said += recording.communicate(timeout=60 * SLOWNESS)[1]
        self.assertEqual((self.hits_by_run(), self.losses()), ({}, {"probe_not_there": 1}), said)


if __name__ == "__main__":
    unittest.main()
