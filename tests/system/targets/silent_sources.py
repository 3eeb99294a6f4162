#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Probes in files that are changed, replaced, copied or shared: no program goes astray, and what is not recorded is a loss. The programs
count their own calls. Needs root and BPF; usage: silent_sources.py USCOPE"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# The place of work() in the first version lies within a number in the second one, which a breakpoint there would change.
VERSIONS = """
#include <stdio.h>
int answer(void);
__asm__(".text\\n.globl work\\n.type work,@function\\n.balign 16\\nanswer:\\n"
#ifdef SECOND
        ".byte 0xb8\\nwork: .byte 0x11,0x22,0x33,0x44\\nret\\nnop\\nnop\\n.size work,.-work\\n"
#else
        "nop\\nwork: mov $7,%eax\\nret\\nnop\\n.size work,.-work\\n"
#endif
);
int main(void) { for (int i = 0; i < 3; i++) printf("%x ", answer()); puts(""); return 0; }
"""

CALLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef IN_LIBRARY
__attribute__((noinline, aligned(4096))) int work(int x) { __asm__ volatile(""); return x * 3 + 1; }
__attribute__((noinline, aligned(4096))) int behind(int x) { __asm__ volatile(""); return x; }
#endif
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
#ifdef IN_LIBRARY
  /* Loads the library, calls it five times and unloads it, twice; in between it waits for a line. */
  for (int turn = 0; turn < 2; turn++) {
    void* library = dlopen(argv[1], RTLD_NOW);
    int (*work)(int) = (int (*)(int))dlsym(library, "work");
    for (int i = 0; i < 5; i++) work(i);
    dlclose(library);
    puts("5"); fflush(stdout);
    if (turn == 0) getchar();
  }
#else
  int (*called)(int) = work;
  if (strcmp(how, "sleeps") == 0) usleep(500000);
  if (strcmp(how, "memory") == 0 || strcmp(how, "briefly") == 0) {
    /* Goes on from a copy of itself. */
    char bytes[4096], path[32];
    int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("some name", 0);
    for (ssize_t got; (got = read(from, bytes, sizeof(bytes))) > 0;) if (write(to, bytes, got) != got) return 1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
    work(0);
    execl(path, argv[0], how[0] == 'm' ? "sleeps" : NULL, NULL);
    return 1;
  }
  int shared = strcmp(how, "shared") == 0, writable = strcmp(how, "writable") == 0, first = strcmp(how, "first") == 0;
  if (shared || writable || first || strcmp(how, "none") == 0) {
    extern char __executable_start;
    int fd = open("/proc/self/exe", O_RDONLY), executable = PROT_READ | PROT_EXEC;
    called = (int (*)(int))mmap(0, 4096, shared ? executable : writable ? executable | PROT_WRITE : first ? PROT_READ | PROT_WRITE : PROT_NONE,
                                shared ? MAP_SHARED : MAP_PRIVATE, fd, (char*)&work - &__executable_start);
    if (first && argc > 2) ((char*)called)[4095] = 1;
    if (!shared && !writable) mprotect(called, 4096, executable);
    work(0);
  }
  if (strcmp(how, "opened") == 0) {
    /* Its own code: the breakpoints stay. */
    mprotect((void*)work, 4096, PROT_READ | PROT_WRITE);
    mprotect((void*)work, 4096, PROT_READ | PROT_EXEC);
  }
  if (strcmp(how, "copied") == 0) {
    char* copy = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(copy, (void*)work, 4096);
    mprotect(copy, 4096, PROT_READ | PROT_EXEC);
    mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)work);
  }
  if (strcmp(how, "copied") == 0 || strcmp(how, "waits") == 0) { puts("ready"); fflush(stdout); getchar(); }
  for (int i = 0; i < 5; i++) called(i);
  puts("5");
#endif
  return 0;
}
"""

LIBRARY = "__attribute__((noinline)) int work(int x) { __asm__ volatile(\"\"); return x * 3 + 1; }\n"


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip()


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class SilentSources(TraceCase):
    def build(self, name, source, *options):
        path = self.path(name)
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", path, *options], input=source, text=True, check=True)
        return path

    def record(self, target, *command, options=(), **more):
        return subprocess.run([USCOPE, "record", "-e", "none", "-o", self.db, "-t", target, *options, "--", *command], capture_output=True,
                              text=True, timeout=60 * SLOWNESS, check=False, **more)

    def begin(self, target, *options, ready=None, **more):
        """A recording whose command or process goes on when its input gets a line."""
        recording = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", target, *options],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(recording.stdout.close)
        if ready is not None:
            self.assertEqual(recording.stdout.readline().split(), ready)
        return recording

    def guard_of(self, recording):
        guards = [pid for pid in children_of(recording.pid) if name_of(pid) == "uscope-guard"]
        self.assertEqual(len(guards), 1)
        return guards[0]

    def hits(self):
        return self.rows("SELECT count(*) FROM v_event WHERE class = 'ufunction'")[0][0]

    def losses(self):
        """Of events: a file that was changed or replaced has also lost its names."""
        return dict(self.rows("SELECT cause, sum(count) FROM loss WHERE cause <> 'file_changed' GROUP BY cause"))

    def news(self):
        return "".join(value for (value,) in self.rows("SELECT value FROM meta WHERE key = 'source_news'"))

    def test_a_file_that_is_changed_in_place_has_no_probes_before_it_is_changed(self):
        program, second = self.build("changed", VERSIONS), self.build("second", VERSIONS, "-DSECOND")
        recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c", f"{program}; echo ended; read line; true",
                               ready=["7"] * 3)
        self.assertEqual(recording.stdout.readline(), "ended\n")
        with open(second, "rb") as new, open(program, "wb") as old:
            old.write(new.read())
        untraced = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        _, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual(recording.returncode, 0, said)
        self.assertEqual(untraced.split(), ["44332211"] * 3)
        self.assertEqual((self.hits(), self.losses()), (3, {"probe_removed": 1}))
        self.assertIn(f"{program} was opened for writing or truncated: its probes were removed before", said)
        self.assertIn(program, self.news())
        self.assertEqual(subprocess.run([program], capture_output=True, text=True, check=True).stdout.split(), ["44332211"] * 3)

    def test_a_file_can_be_changed_while_the_tracer_is_stopped(self):
        second = self.build("second", VERSIONS, "-DSECOND")
        for stop in (os.kill, os.killpg):
            program = self.build("changed", VERSIONS)
            recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c", f"{program}; echo ended; read line; true",
                                   ready=["7"] * 3, start_new_session=True)
            self.assertEqual(recording.stdout.readline(), "ended\n")
            stop(recording.pid, signal.SIGSTOP)
            began = time.monotonic()
            try:
                shutil.copyfile(second, program)
                took = time.monotonic() - began
                untraced = subprocess.run([program], capture_output=True, text=True, check=False)
            finally:
                stop(recording.pid, signal.SIGCONT)
            said = recording.communicate("\n", timeout=60 * SLOWNESS)[1]
            self.assertEqual((recording.returncode, untraced.returncode), (0, 0), said)
            self.assertLess(took, 10 * SLOWNESS)  # the kernel ends a lease after 45 s
            self.assertEqual(untraced.stdout.split(), ["44332211"] * 3)
            self.assertEqual((self.hits(), self.losses()), (3, {"probe_removed": 1}), said)

    def test_probes_that_are_removed_too_late_are_told_as_such(self):
        program, second = self.build("changed", VERSIONS), self.build("second", VERSIONS, "-DSECOND")
        recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c", f"{program}; echo ended; read line", ready=["7"] * 3)
        self.assertEqual(recording.stdout.readline(), "ended\n")
        guard = self.guard_of(recording)
        os.kill(guard, signal.SIGSTOP)
        limit = pathlib.Path("/proc/sys/fs/lease-break-time")
        before = limit.read_text(encoding="ascii")
        limit.write_text("1", encoding="ascii")
        try:
            shutil.copyfile(second, program)  # the kernel lets it go on after that time
        finally:
            limit.write_text(before, encoding="ascii")
        os.kill(guard, signal.SIGCONT)
        said = recording.communicate("\n", timeout=60 * SLOWNESS)[1]
        self.assertIn(f"{program} was opened for writing or truncated, and may have been changed before its probes were removed", said)
        self.assertEqual((recording.returncode, self.losses()), (0, {"probe_removed": 1}), said)

    def test_an_end_of_the_process_that_holds_probes_is_told(self):
        program = self.build("held", CALLS)
        recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c", f"{program}; read line; {program}", ready=["5"])
        guard = self.guard_of(recording)
        os.kill(guard, signal.SIGKILL)
        until = time.monotonic() + 20 * SLOWNESS
        while is_alive(guard) and time.monotonic() < until:
            time.sleep(0.01)
        rest, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual((recording.returncode, rest, self.hits()), (0, "5\n", 5), said)
        # The second run is a process that has mapped a file without probes, if uscope knew by then.
        self.assertIn(self.losses(), ({"probe_removed": 1, "probe_not_there": 1}, {"probe_removed": 1}), said)
        self.assertIn(f"{program} has lost its probes: the process that holds them (uscope-guard) was ended", said)

    def test_a_process_that_holds_probes_and_is_stopped_holds_up_nobody(self):
        program, new = self.build("held", CALLS), self.build("new", CALLS, "-O2")
        recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c",
                               f"{program}; mv {new} {program}; read line; {program}; read line; {program}", ready=["5"])
        guard = self.guard_of(recording)
        os.kill(guard, signal.SIGSTOP)
        recording.stdin.write("\n")
        recording.stdin.flush()
        self.assertEqual(recording.stdout.readline(), "5\n")
        time.sleep(2)  # the new file is read, and the guard is given up
        began = time.monotonic()
        rest, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual((recording.returncode, rest, self.hits()), (0, "5\n", 5), said)
        self.assertEqual(self.losses(), {"probe_not_there": 2}, said)
        self.assertIn(f"{program} has no probes: cannot probe {program}: the process that holds probes in files (uscope-guard, {guard}) is stopped", said)
        self.assertLess(time.monotonic() - began, 20 * SLOWNESS)
        self.assertFalse(is_alive(guard))

    def test_a_file_that_is_open_for_writing_is_not_probed(self):
        program, new = self.build("written", CALLS), self.build("new", CALLS, "-O2")
        with open(program, "r+b"):
            # Linux 6.11 to 6.12 let it be executed, others do not.
            done = self.record(f"ufunction:{program}:work", "true")
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"cannot probe {program}: it is open for writing by process {os.getpid()} (", done.stderr)
        with open(new, "r+b") as writer, subprocess.Popen(["sleep", "60"], stdin=writer) as holder:
            writer.close()
            try:
                mapper = "import mmap,sys; f=open(sys.argv[1],'rb'); mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC); " \
                         "input()"
                recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c",
                                       f"{program}; mv {new} {program}; python3 -c \"{mapper}\" {program}", ready=["5"])
                time.sleep(1)  # the new file is read
                said = recording.communicate("\n", timeout=60 * SLOWNESS)[1]
            finally:
                holder.kill()
        self.assertEqual((self.hits(), self.losses()), (5, {"probe_not_there": 1}), said)
        self.assertIn(f"it is open for writing by process {holder.pid} (sleep)", said)

    def test_code_without_breakpoints_is_counted(self):
        program = self.build("calls", CALLS, "-no-pie")
        for how in (["shared"], ["writable"], ["first"], ["first", "written"]):
            done = self.record(f"ufunction:{program}:work", program, *how, options=["--force"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.hits(), self.losses()), (1, {"probe_not_there": 1}), how)
            self.assertIn("puts no probes", done.stderr)
        done = self.record(f"ufunction:{program}:work", program, "none", options=["--force"])
        self.assertEqual((done.returncode, self.hits(), self.losses()), (0, 6, {}), done.stderr)
        # Who makes its code writable may be about to set a breakpoint: its probes are removed, before its calls, between them or after them.
        done = self.record(f"ufunction:{program}:work", program, "opened", options=["--force"])
        removed = self.losses() == {"probe_removed": 1}
        self.assertIn(self.losses(), ({}, {"probe_removed": 1}), done.stderr)
        self.assertIn((done.returncode, self.hits()), [(0, hits) for hits in (range(6) if removed else (5,))], done.stderr)
        done = self.record(f"ufunction:{program}:behind", program, "", options=["--force"])
        self.assertEqual(self.losses(), {}, done.stderr)

    def test_a_copy_in_memory_is_counted(self):
        program = self.build("copied", CALLS)
        for how, news in (("memory", f"executes a copy of {re.escape(program)} in memory"),
                          ("briefly", f"executes a copy of {re.escape(program)} in memory|executed a file in memory")):
            done = self.record(f"ufunction:{program}:work", program, how, options=["--force"])
            self.assertEqual((done.returncode, done.stdout, self.hits(), self.losses()), (0, "5\n", 1, {"probe_not_there": 1}),
                             done.stderr)
            self.assertRegex(done.stderr, f"({news}) .*some name")

    def test_a_program_that_is_replaced_is_probed_again(self):
        program, new = self.build("replaced", CALLS), self.build("new", CALLS, "-O2")
        recording = self.begin(f"ufunction:{program}:work", "--", "sh", "-c",
                               f"{program}; mv {new} {program}; {program}; read line; {program}", ready=["5"])
        self.assertEqual(recording.stdout.readline(), "5\n")
        time.sleep(1)  # the new file is read
        rest, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual((recording.returncode, rest), (0, "5\n"), said)
        self.assertEqual(self.losses(), {"probe_not_there": 1})
        self.assertIn(self.hits(), range(10, 16), "the second run was partly recorded at most")
        self.assertEqual(self.rows("SELECT count(DISTINCT kind) FROM v_event WHERE class = 'ufunction'"), [(1,)])
        self.assertRegex(said, re.escape(program) + " was mapped in place of the file that was probed")

    def test_what_ends_before_its_new_file_is_read_is_counted(self):
        program, new = self.build("brief", CALLS), self.build("new", CALLS, "-O2")
        stripped = self.build("stripped", CALLS, "-s")
        done = self.record(f"ufunction:{program}:work", "sh", "-c", f"{program}; mv {new} {program}; {program}")
        self.assertEqual((done.returncode, self.hits(), self.losses()), (0, 5, {"probe_not_there": 1}), done.stderr)
        self.build("brief", CALLS)
        done = self.record(f"ufunction:{program}:work", "sh", "-c", f"{program}; mv {stripped} {program}; {program}; {program}",
                           options=["--force"])
        self.assertEqual((done.returncode, self.hits(), self.losses()), (0, 5, {"probe_not_there": 2}), done.stderr)

    def test_a_library_that_is_replaced_between_two_loads(self):
        library, new = self.build("libwork.so", LIBRARY, "-shared", "-fPIC"), self.build("libnew.so", LIBRARY, "-shared", "-fPIC", "-O2")
        host = self.build("host", CALLS, "-DIN_LIBRARY", "-ldl")
        recording = self.begin(f"ufunction:{library}:work", "--", host, library, ready=["5"])
        os.rename(new, library)
        _, said = recording.communicate("\n", timeout=60 * SLOWNESS)
        self.assertEqual((recording.returncode, self.losses()), (0, {"probe_not_there": 1}), said)
        self.assertIn(self.hits(), range(5, 11))

    def test_a_process_that_runs_a_copy_is_named_before_tracing(self):
        program = self.build("copies", CALLS)
        for how, losses, hits in (("copied", {"probe_not_there": 1}, 0), ("waits", {}, 5)):
            with subprocess.Popen([program, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                self.assertEqual(process.stdout.readline(), "ready\n")
                recording = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{program}:work",
                                              "--pid", str(process.pid)], stderr=subprocess.PIPE, text=True)
                said = ""
                while "tracing" not in said:
                    line = recording.stderr.readline()
                    self.assertTrue(line, said)
                    said += line
                process.communicate("\n", timeout=60 * SLOWNESS)
                said += recording.communicate(timeout=60 * SLOWNESS)[1]
            self.assertEqual(process.returncode, 0, how)
            self.assertEqual((self.losses(), self.hits()), (losses, hits), said)
            self.assertEqual(f"process {process.pid} (copies) has other memory" in said, how == "copied", said)


if __name__ == "__main__":
    unittest.main()
