#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What database_names.py finds in small trees."""
import unittest

import database_names
from small_tree import small_tree

TABLE = {"trace": "", "store/db": "trace", "store/write": "store/db trace", "cli": "store/write", "live": "trace"}
FORBIDDEN = ("using TextRowId = Id<struct Text>;", "RowId<struct Table> id;", '#include "store/db/row_ids.h"', "#include <sqlite3.h>",
             "sqlite3_stmt* statement;")
FREE = ("TextId id; // a StringRowId of the store", "/* sqlite3 */ int a;", "int narrow_id;")


class DatabaseNames(unittest.TestCase):
    def faults(self, room, line):
        with small_tree({f"{room}/a.cpp": line + "\n"}) as source:
            return [fault.split(":")[0] for fault in database_names.faults_of(source, TABLE)[0]]

    def test_a_room_without_the_database_names_nothing_of_it(self):
        for room in ("trace", "live", "live/new_room"):
            for line in FORBIDDEN:
                self.assertEqual(self.faults(room, line), [f"{room}/a.cpp"], line)
            for line in FREE:
                self.assertEqual(self.faults(room, line), [], line)

    def test_the_rooms_above_it_may(self):
        for room in ("store/db", "store/write", "cli"):
            for line in FORBIDDEN:
                self.assertEqual(self.faults(room, line), [], line)


if __name__ == "__main__":
    unittest.main()
