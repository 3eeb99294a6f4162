// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The row search against a linear search, on random tables and on the edges: text bounds, holes, full stretches,
// several files in one table, damaged indices.
#include "uscope/row_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "fake_user.h"

namespace uscope::include {
namespace {

constexpr __u32 kA = USC_RULE_COMPACT(USC_RULE_SP, 1, 0);
constexpr __u32 kB = USC_RULE_COMPACT(USC_RULE_SP, 2, 2);
constexpr __u32 kC = USC_RULE_COMPACT(USC_RULE_FP, 2, 2);

using Rows = std::vector<usc_row>;

// Appends a file to the tables as rows.h describes it. `rows` starts at text_start, a multiple of 256, and ends with
// the NONE row at text_end.
usc_file_rows add_file(FakeTables& tables, const Rows& rows, __u32 rule_base = 0) {
  usc_file_rows file{};
  file.row_base = static_cast<__u32>(tables.rows.size());
  file.row_count = static_cast<__u32>(rows.size());
  file.index_base = static_cast<__u32>(tables.index.size());
  file.rule_base = rule_base;
  file.text_start = rows.front().offset;
  file.text_end = rows.back().offset;
  tables.rows.insert(tables.rows.end(), rows.begin(), rows.end());
  const __u32 stretches = (file.text_end - file.text_start + USC_INDEX_BYTES - 1) / USC_INDEX_BYTES;
  for (__u32 k = 0, row = 0; k < stretches; k++) {
    const __u32 start = file.text_start + k * USC_INDEX_BYTES;
    while (row + 1 < rows.size() && rows[row + 1].offset <= start) row++;
    tables.index.push_back(row);
  }
  tables.index.push_back(file.row_count - 1);
  return file;
}

// What usc_row_find must answer, by looking at every row.
__u32 linear(const Rows& rows, __u32 rule_base, __u64 offset) {
  if (offset < rows.front().offset || offset >= rows.back().offset) return USC_RULE_NONE;
  const usc_row* found = rows.data();
  for (const usc_row *row = found, *end = found + rows.size(); row != end; row++)  // an index takes four times as long
    if (row->offset <= offset) found = row;
  __u32 rule = found->rule;
  if (USC_RULE_KIND(rule) == USC_RULE_SHARED) rule += rule_base << 3;
  return rule;
}

void expect_equals_linear(FakeTables& tables, const usc_file_rows& file, const Rows& rows, __u64 offset) {
  ASSERT_EQ(usc_row_find(&tables, &file, offset), linear(rows, file.rule_base, offset))
      << std::hex << "offset " << offset << " text " << file.text_start << ".." << file.text_end;
}

Rows random_rows(std::mt19937& random) {
  Rows rows;
  __u32 offset = (random() % 16) * USC_INDEX_BYTES;
  const __u32 count = 1 + random() % 400;
  const __u32 spread = std::vector<__u32>{1, 4, 40, 700}[random() % 4];
  for (__u32 i = 0; i < count; i++) {
    const __u32 rule = std::vector<__u32>{USC_RULE_NONE, USC_RULE_ROOT, USC_RULE_SHARED_NUMBER(i % 100),
                                          USC_RULE_COMPACT(USC_RULE_SP, i + 1, i % 7),
                                          USC_RULE_COMPACT(USC_RULE_FP, i + 1, 2)}[random() % 5];
    rows.push_back({offset, rule});
    offset += 1 + random() % spread;
  }
  if (random() % 2) offset = (offset + USC_INDEX_BYTES - 1) / USC_INDEX_BYTES * USC_INDEX_BYTES;
  rows.push_back({offset, USC_RULE_NONE});
  return rows;
}

TEST(RowFind, EqualsALinearSearchOnRandomTables) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    FakeTables tables;
    const Rows first = random_rows(random);
    const Rows second = random_rows(random);
    const Rows third = random_rows(random);
    const std::vector<std::pair<usc_file_rows, const Rows*>> files = {{add_file(tables, first, 0), &first},
                                                                      {add_file(tables, second, 1000), &second},
                                                                      {add_file(tables, third, 2000), &third}};
    for (const auto& [file, rows] : files) {
      const __u64 low = file.text_start < 8 ? 0 : file.text_start - 8;
      if (file.text_end - file.text_start < 4000) {
        for (__u64 offset = low; offset < file.text_end + 600ull; offset++)
          expect_equals_linear(tables, file, *rows, offset);
      } else {
        for (const usc_row& row : *rows)
          for (__u64 offset = row.offset ? row.offset - 1 : 0; offset <= row.offset + 1ull; offset++)
            expect_equals_linear(tables, file, *rows, offset);
        for (int i = 0; i < 500; i++) expect_equals_linear(tables, file, *rows, random() % (file.text_end + 1000));
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RowFind, TextEdges) {
  FakeTables tables;
  const Rows rows = {{0x1000, kA}, {0x1010, kB}, {0x1234, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  EXPECT_EQ(usc_row_find(&tables, &file, 0xfff), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1000), kA);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x100f), kA);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1010), kB);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1233), kB);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1234), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1235), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x100001000ull), USC_RULE_NONE);  // not folded into 32 bits
  EXPECT_EQ(usc_row_find(&tables, &file, ~0ull), USC_RULE_NONE);
  EXPECT_EQ(tables.outside, 0);
}

TEST(RowFind, TextUpToTheTopOfFourGigabytes) {
  FakeTables tables;
  const Rows rows = {{0xffffff00, kA}, {0xffffff80, kB}, {0xffffffff, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  EXPECT_EQ(usc_row_find(&tables, &file, 0xffffff7f), kA);
  EXPECT_EQ(usc_row_find(&tables, &file, 0xfffffffe), kB);
  EXPECT_EQ(usc_row_find(&tables, &file, 0xffffffff), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x100000000ull), USC_RULE_NONE);
}

// The text's end on a stretch's border: its offset belongs to no stretch, and what lies behind the file's index is the
// next file's.
TEST(RowFind, TextEndOnAStretchBorderDoesNotLookIntoTheNextFile) {
  FakeTables tables;
  const Rows rows = {{0x1000, kA}, {0x1080, kB}, {0x1200, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  // The next file's rows have lower offsets and a larger row number in its index.
  const Rows next = {{0, kC}, {0x10, kC}, {0x20, kC}, {0x30, kC}, {0x40, kC}, {0x50, kC}, {0x60, USC_RULE_NONE}};
  add_file(tables, next);
  tables.index[file.index_base + 3] = 6;
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1200), USC_RULE_NONE);
}

TEST(RowFind, TextEndOnAStretchBorderOfTheLastFile) {
  FakeTables tables;
  const Rows rows = {{0x1000, kA}, {0x1200, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x11ff), kA);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1200), USC_RULE_NONE);
  EXPECT_EQ(tables.outside, 0);
}

TEST(RowFind, HolesAreOfNoFunction) {
  FakeTables tables;
  const Rows rows = {
      {0x2000, USC_RULE_ROOT}, {0x2020, kA}, {0x2039, USC_RULE_NONE}, {0x2040, kB}, {0x2050, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x2010), USC_RULE_ROOT);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x2038), kA);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x2039), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x203f), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x2040), kB);
}

TEST(RowFind, AHoleAtTheTextsStart) {
  FakeTables tables;
  add_file(tables, {{0, kC}, {0x100, USC_RULE_NONE}});
  const Rows rows = {{0x1000, USC_RULE_NONE}, {0x1010, kA}, {0x1020, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  EXPECT_EQ(usc_row_find(&tables, &file, 0x1000), USC_RULE_NONE);  // not the row of the file before
}

// The densest stretches there can be: a row for every byte, over several stretches.
TEST(RowFind, StretchesFullOfOneByteRows) {
  FakeTables tables;
  Rows rows;
  for (__u32 i = 0; i < 4 * USC_INDEX_BYTES; i++) rows.push_back({0x3000 + i, USC_RULE_COMPACT(USC_RULE_SP, i + 1, 0)});
  rows.push_back({0x3000 + 4 * USC_INDEX_BYTES, USC_RULE_NONE});
  const usc_file_rows file = add_file(tables, rows);
  for (__u32 i = 0; i < 4 * USC_INDEX_BYTES; i++) {
    tables.row_reads = 0;
    EXPECT_EQ(usc_row_find(&tables, &file, 0x3000 + i), USC_RULE_COMPACT(USC_RULE_SP, i + 1, 0)) << i;
    EXPECT_LE(tables.row_reads, USC_PAGE_ROWS_LOG2 + 2);
  }
}

TEST(RowFind, OneRowOverManyStretches) {
  FakeTables tables;
  const Rows rows = {{0, kA}, {0x12345, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows);
  for (__u32 offset = 0; offset < 0x12345; offset += 37) EXPECT_EQ(usc_row_find(&tables, &file, offset), kA);
}

TEST(RowFind, SharedRulesComeBackWithTheirPlaceInTheWholeTable) {
  FakeTables tables;
  const Rows rows = {{0, USC_RULE_SHARED_NUMBER(3)}, {0x10, USC_RULE_NONE}};
  const usc_file_rows file = add_file(tables, rows, 500);
  EXPECT_EQ(usc_row_find(&tables, &file, 4), USC_RULE_SHARED_NUMBER(503));
  EXPECT_EQ(usc_row_find(&tables, &file, 0xf), USC_RULE_SHARED_NUMBER(503));
}

// A table that is cut short gives no rule rather than a wrong one.
TEST(RowFind, TablesThatCannotBeReadGiveNoRule) {
  const Rows rows = {{0, kA}, {0x80, kB}, {0x180, kC}, {0x200, USC_RULE_NONE}};
  FakeTables tables;
  const usc_file_rows file = add_file(tables, rows);
  FakeTables no_index = tables;
  no_index.index.resize(1);
  EXPECT_EQ(usc_row_find(&no_index, &file, 0x90), USC_RULE_NONE);
  no_index.index.clear();
  EXPECT_EQ(usc_row_find(&no_index, &file, 0x90), USC_RULE_NONE);
  FakeTables no_rows = tables;
  no_rows.rows.clear();
  EXPECT_EQ(usc_row_find(&no_rows, &file, 0x90), USC_RULE_NONE);
  EXPECT_EQ(usc_row_find(&no_rows, &file, 0x190), USC_RULE_NONE);
}

// An index of any bits: the search stays bounded and inside the file's own rows, so whatever it answers is a rule of
// this file or none.
TEST(RowFind, ADamagedIndexNeitherLoopsNorLeavesTheFile) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; round++) {
    FakeTables tables;
    add_file(tables, {{0, kC}, {0x100, kC}, {0x200, USC_RULE_NONE}});
    Rows rows = random_rows(random);
    for (usc_row& row : rows)
      if (USC_RULE_KIND(row.rule) > USC_RULE_FP) row.rule = kA;
    const usc_file_rows file = add_file(tables, rows);
    Rows poison;
    for (__u32 i = 0; i < 300; i++) poison.push_back({i, kC});
    poison.push_back({300, USC_RULE_NONE});
    add_file(tables, poison);
    for (__u32 i = file.index_base; i < tables.index.size(); i++)
      if (random() % 2)
        tables.index[i] = random() % 3 ? random() % (file.row_count + 200) : static_cast<__u32>(random());
    for (int i = 0; i < 100; i++) {
      const __u64 offset = file.text_start + random() % (file.text_end - file.text_start + 1);
      tables.row_reads = 0;
      const __u32 rule = usc_row_find(&tables, &file, offset);
      EXPECT_LE(tables.row_reads, USC_PAGE_ROWS_LOG2 + 3);
      const bool own = rule == USC_RULE_NONE ||
                       std::any_of(rows.begin(), rows.end(), [&](const usc_row& row) { return row.rule == rule; });
      ASSERT_TRUE(own) << "a rule of another file: " << std::hex << rule << " at " << offset;
    }
  }
}

}  // namespace
}  // namespace uscope::include
