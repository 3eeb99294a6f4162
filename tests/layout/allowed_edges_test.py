#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What allowed_edges.py finds in small trees with one fault each."""
import unittest

import allowed_edges
from small_tree import small_tree

TABLE = {"support": "", "store": "support", "store/db": "support"}
TREE = {
    "support/text.h": "",
    "store/db/table.h": '#include "support/text.h"\n',
    "store/loader.cpp": '#include <vector>\n#include "support/text.h"\n',
}


class FaultsOfATree(unittest.TestCase):
    def faults(self, changes, table=None):
        with small_tree({**TREE, **changes}) as source:
            return allowed_edges.faults_of(source, TABLE if table is None else table)

    def test_a_tree_as_the_table_says_has_none(self):
        self.assertEqual(self.faults({}), [])

    def test_an_edge_that_is_not_in_the_table(self):
        self.assertEqual(self.faults({"support/redactor.cpp": '#include "store/db/table.h"\n'}),
                         ["support -> store/db: support/redactor.cpp includes store/db/table.h"])

    def test_a_header_named_without_its_folder(self):
        self.assertEqual(self.faults({"support/redactor.cpp": '#include "../store/db/table.h"\n'}),
                         ["support -> store/db: support/redactor.cpp includes ../store/db/table.h"])

    def test_a_new_room(self):
        self.assertEqual(self.faults({"store/new/x.h": ""}), ["store/new: a room that the table does not know"])

    def test_a_room_and_an_edge_that_are_gone(self):
        self.assertEqual(self.faults({}, {**TABLE, "live": "", "support": "store/db"}),
                         ["live: in the table, and not in the tree", "support -> store/db: allowed, and no file needs it",
                          "a circle: support -> store/db -> support"])


if __name__ == "__main__":
    unittest.main()
