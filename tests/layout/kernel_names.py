#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""syscalls/kernel_names.h against the kernel's headers that are installed here.

    kernel_names.py TOP
"""

import importlib.util
import os
import re
import subprocess
import sys
import unittest

TOP = os.path.abspath(sys.argv.pop(1))
HEADERS = "/usr/include"


def script():
    spec = importlib.util.spec_from_file_location("kernel_names", os.path.join(TOP, "scripts", "kernel-names.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def installed_version():
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "linux-libc-dev"], capture_output=True, text=True, check=False)
    return done.stdout


class KernelNames(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(TOP, "syscalls", "kernel_names.h"), encoding="utf-8") as file:
            self.text = file.read()
        self.version = re.search(r'kHeaders\[\] = "([^"]+)"', self.text)[1]

    def test_no_name_has_another_value_here(self):
        tables = script().tables(script().Headers(HEADERS), with_ioctls=False)
        compared = 0
        for table, body in re.findall(r"FlagName k(\w+)\[\] = \{\n(.*?)\};", self.text, re.S):
            kept = {name: int(value, 16) for value, name in re.findall(r'\{(0x[0-9a-f]+), "([^"]+)"\}', body)}
            for value, name in tables.get(table, []):
                compared += name in kept
                self.assertEqual(kept.get(name, value), value, f"{table}: {name}")
        self.assertGreater(compared, 1000)

    def test_the_tables_are_what_the_script_makes_of_their_headers(self):
        if installed_version() != self.version:
            self.skipTest(f"linux-libc-dev here is {installed_version()}, the tables are of {self.version}")
        names = script()
        headers = names.Headers(HEADERS)
        self.assertEqual(names.header_text(names.tables(headers), self.version), self.text)
        with open(os.path.join(TOP, "syscalls", "kernel_layouts.h"), encoding="utf-8") as file:
            self.assertEqual(names.layouts(headers).text(self.version), file.read())


if __name__ == "__main__":
    unittest.main()
