#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A build where there is no npm, and what its program then says. usage: no_npm.py PROGRAM_WITHOUT_PAGES SOURCE_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

USCOPE, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
# What scripts/pages.sh takes beside npm and node.
TOOLS = ("bash", "cat", "cmp", "cp", "dirname", "env", "find", "flock", "mkdir", "rm", "sha256sum", "sort", "xargs")
BUNDLES = [f"{page}.{kind}" for page in ("report", "diff", "deadlock") for kind in ("js", "css")]


class WithoutNpm(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uscope-no-npm-")
        self.addCleanup(self.folder.cleanup)

    def file(self, *names):
        return os.path.join(self.folder.name, *names)

    def test_the_bundles_are_empty_and_the_build_goes_on(self):
        os.mkdir(self.file("scripts"))
        shutil.copy(os.path.join(SOURCE, "scripts", "pages.sh"), self.file("scripts"))
        shutil.copytree(os.path.join(SOURCE, "pages"), self.file("pages"), ignore=shutil.ignore_patterns("node_modules", "dist"))
        os.mkdir(self.file("bin"))
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.file("bin", tool))

        def make(*words):
            return subprocess.run([self.file("scripts", "pages.sh"), *words], env={"PATH": self.file("bin")}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=50, check=False)
        done = make(self.file("build"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(done.stderr, "there is no npm: scripts/install-deps.sh installs it\n"
                                      "warning: uscope is built without the pages of --html; scripts/pages.sh makes them\n")
        self.assertEqual({name: os.path.getsize(self.file("build", name)) for name in BUNDLES}, dict.fromkeys(BUNDLES, 0))
        self.assertEqual(make().returncode, 1, "asked for alone, what cannot be made is an error")

    def test_each_page_says_what_is_missing_and_how_to_get_it(self):
        page = self.file("page.html")
        for words in (("report", "t.db"), ("diff", "--normal", "a.db", "--abnormal", "b.db"), ("deadlock", "t.db"),
                      ("deadlock", "--pid", str(os.getpid()))):
            with self.subTest(words):
                done = subprocess.run([USCOPE, *words, "--html", page], capture_output=True, text=True, timeout=50, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertTrue(done.stderr.startswith("uscope: this uscope was built without the pages that --html writes\n"), done.stderr)
                for remedy in ("scripts/install-deps.sh", "scripts/pages.sh"):
                    self.assertIn(remedy, done.stderr)
                    self.assertTrue(os.path.exists(os.path.join(SOURCE, remedy)))
                self.assertFalse(os.path.exists(page))

    def test_all_else_works(self):
        done = subprocess.run([USCOPE, "report", self.file("t.db")], capture_output=True, text=True, timeout=50, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("t.db", done.stderr)


if __name__ == "__main__":
    unittest.main()
