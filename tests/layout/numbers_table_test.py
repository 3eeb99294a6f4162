#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What numbers_table.py finds in small trees with one fault each."""
import unittest

import numbers_table
from small_tree import small_tree

ROWS = """| number | now | lives in |
| --- | --- | --- |
| `USC_RECORD_ABI` | 6 | include/uscope/record.h |
| `kSchemaVersion` | 16 | store/files/trace_file.h |
"""
TREE = {
    "docs/contributing/README.md": ROWS,
    "include/uscope/record.h": "#define USC_RECORD_ABI 6\t/* moves */\n#define USC_RECORD_MOST 7\n",
    "store/files/trace_file.h": "constexpr std::int32_t kSchemaVersion = 16;\n",
}


class FaultsOfATree(unittest.TestCase):
    def faults(self, changes):
        with small_tree({**TREE, **changes}) as source:
            return numbers_table.faults_of(source)[0]

    def test_a_table_that_is_right_has_none(self):
        self.assertEqual(self.faults({}), [])

    def test_a_number_that_moved_in_the_code_alone(self):
        self.assertEqual(self.faults({"include/uscope/record.h": "#define USC_RECORD_ABI 60\n"}),
                         ["docs/contributing/README.md: USC_RECORD_ABI is 6 there, and 60 in include/uscope/record.h"])

    def test_a_constant_that_lives_elsewhere(self):
        self.assertEqual(self.faults({"store/files/trace_file.h": "", "store/other.h": TREE["store/files/trace_file.h"]}),
                         ["docs/contributing/README.md: kSchemaVersion is 16 there, and not defined in store/files/trace_file.h"])

    def test_a_number_without_a_row(self):
        self.assertEqual(self.faults({"include/uscope/more.h": "#define USC_MORE_ABI_OLDEST 1\n"}),
                         ["docs/contributing/README.md: no row for USC_MORE_ABI_OLDEST of include/uscope/more.h"])

    def test_a_second_home(self):
        self.assertEqual(self.faults({"include/uscope/records/x.h": "#define USC_RECORD_ABI 6\n"}),
                         ["include/uscope/records/x.h defines USC_RECORD_ABI, which lives elsewhere by docs/contributing/README.md"])


if __name__ == "__main__":
    unittest.main()
