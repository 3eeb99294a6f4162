#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Processes that change their own code in memory, traced or not: a probe would have them execute the file's instruction. Processes that
lose their breakpoints. The programs print what they compute. Needs root and BPF; usage: patched_code.py USCOPE"""
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from trace_case import TraceCase  # noqa: E402
from uprobe_event import uprobe_event  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"

# Commands come as lines: "patch" writes 9 into work's first instruction, "open" leaves the page writable, "lose" drops the page
# with the kernel's breakpoint, "hook" writes a breakpoint there, which the program handles itself, "map" makes a copy of the page and writes 9 there, "end" makes that read-only; each is answered by what
# work() and other() return.
PROGRAM = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
int work(void);
int other(void);
extern char code[];
__asm__(".text\\n.balign 4096\\n.globl code\\ncode:\\n.globl work\\n.type work,@function\\nwork: mov $7,%eax\\nret\\n.size work,.-work\\n"
        ".balign 64\\n.globl other\\n.type other,@function\\nother: mov $5,%eax\\nret\\n.size other,.-other\\n.balign 4096\\n");
static void take(int signal, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  registers[REG_RIP] += 4;
  registers[REG_RAX] = 11;
}
int main(void) {
  struct sigaction hook = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &hook, NULL);
  char line[64];
  extern char __executable_start;
  char* copy = NULL;
  while (fgets(line, sizeof(line), stdin) != NULL) {
    if (line[0] == 'p' || line[0] == 'o' || line[0] == 'h') mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (line[0] == 'p') {
      code[1] = 9;
      mprotect(code, 4096, PROT_READ | PROT_EXEC);
    }
    if (line[0] == 'h') {
      code[0] = 0xcc;
      mprotect(code, 4096, PROT_READ | PROT_EXEC);
    }
    if (line[0] == 'l') madvise(code, 4096, MADV_DONTNEED);
    if (line[0] == 'm') {
      copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), code - &__executable_start);
      copy[1] = 9;
    }
    if (line[0] == 'e') mprotect(copy, 4096, PROT_READ);
    printf("%d %d\\n", work(), other());
    fflush(stdout);
  }
  return 0;
}
"""


class PatchedCode(TraceCase):
    def setUp(self):
        super().setUp()
        self.program = self.path("patches")
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", self.program], input=PROGRAM, text=True, check=True)

    def start(self):
        process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        return process

    @staticmethod
    def say(process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def record(self, function, *options):
        return subprocess.run([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{self.program}:{function}", *options,
                               "--", self.program], input="call\n", capture_output=True, text=True, timeout=60 * SLOWNESS, check=False)

    def hits(self):
        return self.rows("SELECT count(*) FROM v_event WHERE class = 'ufunction'")[0][0]

    def test_a_place_that_an_untraced_process_has_changed_is_not_probed(self):
        patched = self.start()
        self.assertEqual(self.say(patched, "patch"), "9 5")
        done = self.record("work")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"process {patched.pid} (patches) has changed its code there", done.stderr)
        # Of several places, the others are probed.
        done = self.record("[wo]*r*")
        self.assertEqual((done.returncode, done.stdout, self.hits()), (0, "7 5\n", 1), done.stderr)
        self.assertEqual(self.say(patched, "call"), "9 5")
        listed = subprocess.run([USCOPE, "list", "--refused", f"ufunction:{self.program}:*or*"], capture_output=True, text=True, check=False)
        self.assertIn(f"process {patched.pid} (patches) has changed", listed.stdout + listed.stderr)
        done = self.record("work", "--force-probe")
        self.assertEqual((done.returncode, done.stdout, self.hits()), (0, "7 5\n", 1), done.stderr)

    def test_a_breakpoint_that_a_process_handles_itself_is_not_hidden(self):
        hooked = self.start()
        self.assertEqual(self.say(hooked, "hook"), "11 5")
        done = self.record("work")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"process {hooked.pid} (patches) has a breakpoint of its own there", done.stderr)
        self.assertEqual(self.say(hooked, "call"), "11 5")

    # The kernel's, for another tracer: it is in every process that maps the file.
    def test_a_breakpoint_of_another_tracer_is_no_hindrance(self):
        with uprobe_event(self.program, "work"):
            other = self.start()
            self.assertEqual(self.say(other, "call"), "7 5")
            done = self.record("work")
            self.assertEqual((done.returncode, done.stdout, self.hits()), (0, "7 5\n", 1), done.stderr)
            self.assertEqual(self.say(other, "call"), "7 5")

    def test_a_process_of_another_container_with_the_same_layer_counts(self):
        layer, empty, one, other = (self.path(name) for name in ("layer", "empty", "one", "other"))
        for folder in (layer, empty, one, other):
            os.mkdir(folder)
        shutil.move(self.program, layer)
        for folder in (one, other):
            subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"ro,lowerdir={layer}:{empty}", folder], check=True)
            self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        programs = [os.path.join(folder, "patches") for folder in (one, other, layer)]
        for changed in programs:
            self.program = changed
            patched = self.start()
            self.assertEqual(self.say(patched, "patch"), "9 5")
            for self.program in programs:
                done = self.record("work")
                self.assertNotEqual(done.returncode, 0, (changed, self.program))
                self.assertIn(f"process {patched.pid} (patches) has changed its code there", done.stderr)
            patched.kill()
            patched.wait()

    def trace_another(self, *steps):
        """Records this program, while another process of it takes these steps; returns what that one answers, and what uscope says."""
        recording = subprocess.Popen([USCOPE, "record", "-e", "none", "--force", "-o", self.db, "-t", f"ufunction:{self.program}:work", "--",
                                      self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(self.say(recording, "call"), "7 5")
        other = self.start()
        self.assertEqual(self.say(other, "call"), "7 5")
        answers = [self.say(other, step) for step in steps]
        until = time.monotonic() + 60 * SLOWNESS
        while answers[-1] != "9 5" and time.monotonic() < until:
            time.sleep(0.2)
            answers.append(self.say(other, "call"))
        said = recording.communicate("call\n", timeout=60 * SLOWNESS)
        self.assertEqual((recording.returncode, said[0]), (0, "7 5\n"), said)
        return other, answers, said[1]

    def losses(self):
        return dict(self.rows("SELECT cause, sum(count) FROM loss GROUP BY cause"))

    def test_probes_are_removed_where_an_untraced_process_changes_its_code_later(self):
        other, answers, said = self.trace_another("patch")
        self.assertEqual(answers[-1], "9 5", said)
        self.assertIn(f"process {other.pid} (patches) has made memory writable with code that has probes in {self.program}", said)
        self.assertEqual((self.losses(), self.hits()), ({"probe_removed": 1}, 1), said)

    def test_probes_are_removed_where_code_around_them_becomes_writable(self):
        other, answers, said = self.trace_another("open", "patch")
        self.assertEqual(answers[-1], "9 5", said)
        self.assertIn(f"process {other.pid} (patches) has ", said)
        self.assertEqual(self.losses(), {"probe_removed": 1}, said)

    def test_a_copy_that_is_only_written_leaves_probes_alone(self):
        copies = self.start()
        self.assertEqual(self.say(copies, "map"), "7 5")
        done = self.record("work")
        self.assertEqual((done.returncode, self.hits(), self.losses()), (0, 1, {}), done.stderr)
        # The kernel would put a breakpoint into the process's data.
        self.assertEqual(self.say(copies, "end"), "7 5")
        done = self.record("work")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"process {copies.pid} (patches) has changed a copy of the file there, which it does not execute", done.stderr)

    def test_a_traced_process_that_loses_its_breakpoint_is_counted(self):
        with open(self.path("said"), "w+", encoding="utf-8") as said:
            recording = subprocess.Popen([USCOPE, "record", "-e", "none", "-o", self.db, "-t", f"ufunction:{self.program}:work", "--",
                                          self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
            self.assertEqual(self.say(recording, "call"), "7 5")
            self.assertEqual(self.say(recording, "lose"), "7 5")
            text, until = "", time.monotonic() + 60 * SLOWNESS
            while "has lost a probe" not in text and time.monotonic() < until:
                time.sleep(0.1)
                said.seek(0)
                text = said.read()
            self.assertEqual(self.say(recording, "call"), "7 5")
            recording.communicate()
        self.assertRegex(text, rf"\(patches\) has lost a probe in {self.program}")
        self.assertEqual((recording.returncode, self.hits(), self.losses()), (0, 1, {"probe_not_there": 1}), text)


if __name__ == "__main__":
    unittest.main()
