#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Stacks through trampolines in anonymous memory that keep no frame pointer, as Python's `-X perf` makes them: `sub $8,%rsp; call *%rcx;
add $8,%rsp; ret`, and the form that saves rbp. Their callers use rbp for something else. Needs root and BPF; usage: trampolines.py USCOPE"""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

USCOPE = os.path.abspath(sys.argv.pop(1))
DEPTH = 5
PROGRAM = r"""
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char forms[2][16] = {
    {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3},
    {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3}};

/* Calls the trampoline, its second argument, which calls the first one; rbp is 1 meanwhile. */
long through(long (*callback)(long), void* trampoline, long argument);
__asm__(".globl through\n.type through, @function\nthrough:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "mov $1, %ebp\nmov %rdi, %rcx\nmov %rdx, %rdi\ncall *%rsi\npop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n"
        ".size through, . - through");

static unsigned char* code;

__attribute__((noinline)) long level(long n) {
  long result = n ? through(level, code + 16 * n, n - 1) : getppid();
  __asm__ volatile("" : "+r"(result));
  return result;
}

int main(int argc, char** argv) {
  const int form = argc > 1 && argv[1][0] == 'b';
  code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  for (int i = 0; i < 256; i++) memcpy(code + 16 * i, forms[form], 16);
  for (int i = 0; i < 3; i++) level(DEPTH);
  return 0;
}
"""


class Trampolines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="uscope-trampolines-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def stacks(self, *arguments):
        source, program, db = (os.path.join(self.folder, name) for name in ("program.c", "program", "trace.db"))
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-O2", "-fomit-frame-pointer", f"-DDEPTH={DEPTH}", "-o", program, source], check=True)
        done = subprocess.run([USCOPE, "record", "--force", "-e", "getppid", "-o", db, "--", program, *arguments],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT ended, folded FROM v_event WHERE kind = 'getppid' ORDER BY id").fetchall()

    def check(self, *arguments):
        stacks = self.stacks(*arguments)
        self.assertEqual(len(stacks), 3)
        for ended, folded in stacks:
            self.assertEqual(ended, "root", folded)
            frames = folded.split(";")
            own = ["[anon]" if frame.startswith("[anon]+") else frame for frame in frames[frames.index("main"):]]
            self.assertEqual(own[:-1], ["main"] + ["level", "through", "[anon]"] * DEPTH + ["level"], folded)

    def test_without_a_frame_pointer(self):
        self.check("a")

    def test_that_save_rbp(self):
        self.check("b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
