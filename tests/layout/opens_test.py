#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What opens.py finds in small trees."""
import unittest

import opens
from small_tree import small_tree

FORBIDDEN = ("int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);",
             "UniqueFd fd(::openat(folder,\n    fmt::format(\"{}/x\", at).c_str(),\n    O_RDWR));",
             "std::ifstream file(path);",
             "FILE* f = std::fopen(path, \"re\");",
             "for (const auto& x : std::filesystem::directory_iterator(folder)) {}",
             "syscall(SYS_openat2, folder, path, &how, sizeof(how));")
FREE = ("auto trace = RawReader::open(path);", "symbols.open(module);", "auto file = open(module);", "// open(path, O_RDONLY)",
        "auto fd = open_regular(path, \"\");", "struct stat status; // a file's O_RDONLY")


class Opens(unittest.TestCase):
    def faults(self, line, allowed=None):
        with small_tree({"tracer/room/a.cpp": line + "\n"}) as source:
            return opens.faults_of(source, allowed or {})

    def test_each_way_to_open_is_found(self):
        for line in FORBIDDEN:
            faults, count = self.faults(line)
            self.assertEqual(([fault.split(":")[0] for fault in faults], count), (["tracer/room/a.cpp"], 1), line)

    def test_nothing_else_is(self):
        for line in FREE:
            self.assertEqual(self.faults(line), ([], 0), line)

    def test_a_listed_file_may_and_must(self):
        listed = {"tracer/room/a.cpp": "a reason"}
        self.assertEqual(self.faults(FORBIDDEN[0], listed), ([], 1))
        self.assertEqual(self.faults("int a = 0;", listed), (["tests/layout/opens.py: tracer/room/a.cpp opens nothing any more"], 0))


if __name__ == "__main__":
    unittest.main()
