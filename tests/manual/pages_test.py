#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The man pages that the build has made: man-db and mandoc read them, and they say what `uscope VERB --help` says.
usage: pages_test.py USCOPE FOLDER"""
import os
import re
import subprocess
import sys
import unittest

USCOPE, FOLDER = (sys.argv.pop(1) for _ in range(2)) if len(sys.argv) > 2 else ("build/release/uscope", "build/release/man")


def output(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", **environment}).stdout


def shown(name):
    """A page as `man` prints it, in one line, without the strokes that make letters bold."""
    text = output("mandoc", "-T", "utf8", "-O", "width=1000", os.path.join(FOLDER, name + ".1"))
    return re.sub(r"\s+", " ", re.sub(r".\x08", "", text))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.help = output(USCOPE, "--help")
        cls.verbs = re.findall(r"^  ([a-z]+)  ", cls.help.partition("Subcommands:")[2], re.M)
        cls.pages = ["uscope"] + [f"uscope-{verb}" for verb in cls.verbs]

    def test_a_page_for_the_command_and_each_verb(self):
        self.assertGreater(len(self.verbs), 15)
        self.assertEqual(sorted(os.listdir(FOLDER)), sorted(name + ".1" for name in self.pages))

    def test_mandoc_finds_nothing_to_say(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *(os.path.join(FOLDER, name + ".1") for name in self.pages)],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.stdout + done.stderr, "")

    def test_man_db_finds_nothing_to_say(self):
        for name in self.pages:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", os.path.join(FOLDER, name + ".1")], capture_output=True, text=True,
                                  check=False, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
            self.assertEqual((name, done.returncode, done.stderr), (name, 0, ""))

    def test_examples_stand_first(self):
        for name in self.pages:
            with open(os.path.join(FOLDER, name + ".1"), encoding="utf-8") as page:
                sections = re.findall(r'^\.SH "?([A-Z ]+?)"?$', page.read(), re.M)
            self.assertEqual(sections[:3], ["NAME", "SYNOPSIS", "EXAMPLES"], name)
            self.assertEqual(sections[-1], "SEE ALSO", name)

    def test_options_are_those_of_the_help(self):
        """What --help prints of an option stands in the page of its verb, by name, value and words."""
        checked = 0
        for verb in self.verbs:
            page = shown(f"uscope-{verb}")
            words = re.sub(r"\s+", " ", output(USCOPE, verb, "--help"))
            options = words.partition(" Options: ")[2] or words.partition(" OPTIONS: ")[2]
            for names in re.findall(r" ((?:-\w,)?--[\w-]+)", " " + options):
                for name in names.split(","):
                    self.assertIn(name, page.partition(" OPTIONS ")[2], verb)
                    checked += 1
        self.assertGreater(checked, 150)

    def test_names_for_apropos(self):
        for verb in self.verbs:
            self.assertRegex(shown(f"uscope-{verb}"), rf"NAME uscope-{verb} [–-] \w")


if __name__ == "__main__":
    unittest.main()
