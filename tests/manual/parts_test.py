#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""cli/manual on small pages: tables that follow the command line and keep what is written by hand, and Markdown as macros."""
import unittest

import manual
from chapters import BEGIN, END, Chapter, Fault, updated
from roff import to_roff

OUTPUT = {"names": ["--output", "-o"], "value": "FILE.db", "help": "the database | to write", "value_may_be_left_out": False, "required": False,
          "default": "uscope.db"}
QUIET = {"names": ["--quiet"], "value": "", "help": "print nothing", "value_may_be_left_out": False, "required": False, "default": ""}
SERVERS = {"names": ["--servers"], "value": "URLS", "help": "ask <them>", "value_may_be_left_out": True, "required": True, "default": ""}
TABLE = f"{BEGIN}\n| option | |\n| --- | --- |\n| `-o`, `--output FILE.db` | the database \\| to write (default: `uscope.db`)<br>mode 0600 |\n{END}\n"
PAGE = f"# Title\n\nText.\n\n## record\n\n    uscope record\n\nExamples:\n\n    uscope record -o a.db\n\n    uscope record\n\nTraces.\n\n{TABLE}\nMore.\n"


def declared(*options):
    return {"verbs": [{"name": "record", "description": "trace", "options": list(options)}]}


class Tables(unittest.TestCase):
    def test_a_page_that_is_right_stays_as_it_is(self):
        self.assertEqual(updated(PAGE, declared(OUTPUT)), PAGE)

    def test_words_of_the_help_move_and_those_by_hand_stay(self):
        page = updated(PAGE, declared({**OUTPUT, "value": "PLACE", "help": "where to", "default": ""}))
        self.assertIn("| `-o`, `--output PLACE` | where to<br>mode 0600 |\n", page)

    def test_a_new_option_gets_a_row(self):
        page = updated(PAGE, declared(OUTPUT, QUIET, SERVERS))
        self.assertIn("mode 0600 |\n| `--quiet` | print nothing |\n| `--servers[=URLS]` | ask \\<them>; must be given |\n" + END, page)

    def test_words_of_an_option_that_is_gone_are_not_thrown_away(self):
        with self.assertRaisesRegex(Fault, "record: --?o.* is no option any more.*mode 0600"):
            updated(PAGE, declared(QUIET))

    def test_a_verb_without_a_chapter_and_a_chapter_without_a_table(self):
        with self.assertRaisesRegex(Fault, "no chapter `## record`"):
            updated("# Title\n", declared(QUIET))
        with self.assertRaisesRegex(Fault, "record: no table of options"):
            updated("## record\n\n    uscope record\n", declared(QUIET))

    def test_parts_of_a_chapter(self):
        synopsis, examples, before, after = Chapter("record", PAGE.partition("## record\n")[2]).blocks()
        self.assertEqual((synopsis, examples), ("    uscope record\n", "    uscope record -o a.db\n\n    uscope record\n"))
        self.assertEqual((before.strip(), after.strip()), ("Traces.", "More."))


class CommandLines(unittest.TestCase):
    def unknown(self, line):
        return list(manual.unknown_words(declared(OUTPUT, QUIET), "page", f"Text\n\n    {line}\n"))

    def test_what_there_is(self):
        for line in ("uscope record -o a.db -- make -j2 --load", "$ sudo build/release/uscope record --quiet", "uscope record '--no' # --not",
                     "uscope record [--output FILE.db] | less -R", "uscope record -oa.db"):
            self.assertEqual(self.unknown(line), [], line)

    def test_what_there_is_not(self):
        self.assertEqual(self.unknown("uscope recrod"), ["page: `uscope recrod`: no such verb"])
        self.assertEqual(self.unknown("uscope record (--all)"), ["page: `uscope record … --all`: no such option"])


class Macros(unittest.TestCase):
    def test_a_section_and_its_paragraphs(self):
        self.assertEqual(to_roff("## Files\n\nA `.raw` file, see [x](y). Then **more**.\n\nIt's a-b\\c\n.so x\n"),
                         ['.SH "Files"', "A \\fB.raw\\fP file, see x.\nThen \\fBmore\\fP.", ".PP", "It\\(aqs a\\-b\\ec\n\\&.so x"])

    def test_code_keeps_its_lines(self):
        self.assertEqual(to_roff("Text:\n\n    a -b\n    .c 'd'\n"), ["Text:", ".PP", ".EX", "a \\-b\n\\&.c \\(aqd\\(aq", ".EE"])

    def test_lists_and_tables(self):
        self.assertEqual(to_roff("- one\n- two\n  lines\n"), [".IP \\(bu 4", "one", ".IP \\(bu 4", "two\nlines"])
        self.assertEqual(to_roff("| a | b |\n| --- | --- |\n| `x` | y<br>z |\n"), [".TP", "\\fBx\\fP", "y\n.br\nz"])
        self.assertEqual(to_roff("| a | b | c |\n| --- | --- | --- |\n| x | y | z |\n"), [".TP", "x", "b: y\n.br\nc: z"])

    def test_pictures_are_left_out(self):
        self.assertEqual(to_roff("One.\n\n![a](b.png)\n\nTwo.\n"), ["One.", ".PP", "Two."])

    def test_what_it_does_not_know_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no man page knows: html_block"):
            to_roff("<div>\n\nText\n")


if __name__ == "__main__":
    unittest.main()
