#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What own_names.py finds in rooms of two files."""
import unittest

import own_names

OWNER = """namespace uscope {
namespace {

bool is_small(int value) {
  if (value < 0) {
    return true;
  }
  return value < 2;
}

template <typename T>
bool is_large(const T& value) {
  return limit(value) > 3;
}

}  // namespace

int limit(int value) { return value; }

}  // namespace uscope
"""


class NamesOfARoom(unittest.TestCase):
    def found(self, other, owner=OWNER):
        return own_names.shared_names({"room/a.cpp": owner, "room/b.cpp": other})

    def test_a_call_that_could_get_it(self):
        self.assertEqual(self.found("bool f() { return is_large(7L); }"), [("is_large", "room/a.cpp", "room/b.cpp")])

    def test_a_function_of_the_same_name_with_other_parameters(self):
        self.assertEqual(self.found("namespace {\nbool is_large(double value) {\n  return value > 1;\n}\n}"),
                         [("is_large", "room/a.cpp", "room/b.cpp"), ("is_large", "room/b.cpp", "room/a.cpp")])

    def test_a_static_function(self):
        self.assertEqual(self.found("int g() { return twice(2); }", "static int twice(int value) {\n  return 2 * value;\n}\n"),
                         [("twice", "room/a.cpp", "room/b.cpp")])

    def test_calls_of_members_and_of_named_scopes_comments_and_texts(self):
        self.assertEqual(self.found('bool f() { return x.is_large(1) || y->is_large(2) || z::is_large(3); }  // is_large(4)\n'
                                    'const char* kText = "is_large(5)";\n'), [])

    def test_what_is_not_in_the_anonymous_namespace(self):
        self.assertEqual(self.found("int f() { return limit(7); }"), [])

    def test_types_of_two_headers(self):
        def found(first, second):
            return own_names.shared_types({"a.h": f"namespace uscope::a {{\n{first}\n}}\n", "b.h": f"namespace uscope::b {{\n{second}\n}}\n",
                                           "c.h": f"namespace uscope::b {{\n{first}\n}}\n"})

        both = [("uscope::b::Range", ["b.h", "c.h"])]
        self.assertEqual(found("struct Range {\n  int from;\n};", "struct Range {\n  int at;\n};"), both)
        self.assertEqual(found("class Range final : public Base {\n};", "enum class Range : std::uint8_t { kOne };"), both)
        self.assertEqual(found("struct Range {\n  int from;\n};", "struct Range;\nRange range_of(struct Range);"), [])
        self.assertEqual(found("struct Range {\n  int from;\n};", "class Other {\n  struct Range {\n    int at;\n  };\n};"), [])


if __name__ == "__main__":
    unittest.main()
