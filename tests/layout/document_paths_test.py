#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What document_paths.py finds in small trees with one fault each."""
import unittest

import document_paths
from small_tree import small_tree

TREE = {
    "docs/guide.md": "# A guide\n\nSee [the other](other.md#one-heading), store/db/table.h, `store/db/table` and store/ROOM/table.h.\n",
    "docs/other.md": "## One heading\n\n`store/db/table.{h,cpp}`, /proc/1/maps, ~/x/y.h, ../z/y.h, build/release/uscope.\n",
    "store/db/table.h": "// docs/guide.md\n",
    "store/db/table.cpp": "",
}


class FaultsOfATree(unittest.TestCase):
    def faults(self, changes):
        with small_tree({**TREE, **changes}) as source:
            faults, _ = document_paths.faults_of(source)
        return faults

    def test_a_tree_whose_documents_are_right_has_none(self):
        self.assertEqual(self.faults({}), [])

    def test_a_path_that_is_not_there(self):
        self.assertEqual(self.faults({"docs/more.md": "store/db/row.h and db/column.h"}),
                         ["docs/more.md: names db/column.h, which is not there",
                          "docs/more.md: names store/db/row.h, which is not there"])

    def test_one_of_two_names_in_braces(self):
        self.assertEqual(self.faults({"docs/more.md": "store/db/table.{h,c}"}),
                         ["docs/more.md: names store/db/table.c, which is not there"])

    def test_links(self):
        self.assertEqual(self.faults({"docs/more.md": "[a](gone.md) [b](other.md#no-heading) [c](https://x.y/z.md)"}),
                         ["docs/more.md: a link to gone.md, which is not there",
                          "docs/more.md: a link to other.md#no-heading: no such heading"])

    def test_a_document_that_a_source_names(self):
        self.assertEqual(self.faults({"store/db/row.h": "/* DESIGN.md, docs/guide.md */"}),
                         ["store/db/row.h: names DESIGN.md, which is not there"])


if __name__ == "__main__":
    unittest.main()
