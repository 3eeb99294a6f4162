#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What arch_names.py finds in small trees."""
import unittest

import arch_names
from small_tree import small_tree

FORBIDDEN = ("__u64 rsp = 0;", "s->start_rbp = 1;", "constexpr unsigned kRsp = 4;", "x = USC_REG_RBP;", "// counted from rsp", "by_rbp(r12);",
             "if ((int)regs->orig_ax != -1)", "pc = regs->ip;", "pc = ctx -> sp;", "if (abi == USC_ABI_I386)", "nr == X32_sendmsg",
             "config.calls_x86_64[0] = 1;", "config.strings_i386[0] = 1;", "NR_openat = 257,", "if (nr == 202)", 'abi == "x86_64"',
             "#include <asm/unistd_64.h>", "type == R_X86_64_RELATIVE", "header.e_machine != EM_X86_64", "constexpr std::size_t kPage = 4096;",
             "#define PAGE_BYTES 4096ull", "address & 4095")
FREE = ("x = USC_REG_SP;", "USC_REGS_PC(regs)", "nr == NR_openat", "x.abi == USC_ABI_NATIVE", "calls[USC_CALLS_COMPAT]", "constexpr int kMost = 4096;",
        "itimerspec time;", "interpret(program);", "if (nr == 0)", "// grip and strip are words", "perspective")


class ArchNames(unittest.TestCase):
    def faults(self, line, path="tracer/room/a.cpp", known=None):
        with small_tree({path: line + "\n"}) as source:
            return arch_names.faults_of(source, known or {})[0]

    def test_each_name_is_found_with_its_line(self):
        for line in FORBIDDEN:
            faults = self.faults(line)
            self.assertTrue(faults, line)
            self.assertTrue(faults[0].startswith("tracer/room/a.cpp:1: "), faults)
            self.assertIn(line.strip(), faults[0])

    def test_nothing_else_is(self):
        for line in FREE:
            self.assertEqual(self.faults(line), [], line)

    def test_rooms_of_a_machine_may(self):
        for room in arch_names.ROOMS:
            self.assertEqual(self.faults(FORBIDDEN[0], room + "/a.h"), [], room)
        self.assertTrue(self.faults(FORBIDDEN[0], "include/uscope/architecture.h"))

    def test_a_known_file_may_and_must(self):
        known = {"tracer/room/a.cpp": "a reason"}
        self.assertEqual(self.faults(FORBIDDEN[0], known=known), [])
        self.assertEqual(self.faults("int a = 0;", known=known), ["tests/layout/arch_names.py: tracer/room/a.cpp names no machine any more"])


if __name__ == "__main__":
    unittest.main()
