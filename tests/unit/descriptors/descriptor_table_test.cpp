// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The table of one process: copies, calls that overlap, its bound.
#include "descriptors/descriptor_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/persistent_map.h"

namespace uscope::descriptors {
namespace {

TEST(DescriptorTableTest, CopiesWhatHasNotChangedSince) {
  DescriptorTable table;
  table.set(3, {trace::TextId(10), 1, false});
  table.set(4, {trace::TextId(11), 2, true});
  DescriptorTable copy;
  copy.take_copy(table, 2);
  table.close_range(3, 3);
  EXPECT_EQ(table.find(3), nullptr);
  ASSERT_NE(copy.find(3), nullptr);
  EXPECT_EQ(copy.find(3)->name, trace::TextId(10));
  copy.drop_close_on_exec();
  EXPECT_EQ(copy.find(4), nullptr);
  EXPECT_NE(table.find(4), nullptr);
  table.set(5, {trace::TextId(12), 3, false});
  copy.take_copy(table, 2);
  EXPECT_NE(copy.find(4), nullptr);
  EXPECT_EQ(copy.find(5), nullptr);
}

// The number was in use until the close: what the call has opened came after it.
TEST(DescriptorTableTest, AnOpeningMayWaitForItsNumberToBeClosed) {
  DescriptorTable table;
  table.set(3, {trace::TextId(10), 1, false});
  table.begin_open(3);
  EXPECT_NE(table.find(3), nullptr);
  EXPECT_FALSE(table.begin_close(3));
  EXPECT_EQ(table.find(3), nullptr);
  table.end_close(3, false);
  EXPECT_TRUE(table.end_open(3));
}

// A number that was free, or whose use is not known: it may have been given, and closed.
TEST(DescriptorTableTest, WhatIsClosedDuringAnOpeningIsNotKnown) {
  DescriptorTable table;
  table.begin_open(3);
  EXPECT_TRUE(table.begin_close(3));
  table.begin_open(3);
  table.end_close(3, true);
  EXPECT_FALSE(table.end_open(3));
  EXPECT_FALSE(table.end_open(3));
  table.begin_open(3);
  EXPECT_TRUE(table.end_open(3));  // nothing else is under way any more
}

TEST(DescriptorTableTest, ReplacementsThatOverlapAreNotKnown) {
  DescriptorTable table;
  table.set(3, {trace::TextId(10), 1, false});
  table.begin_replace(3);
  EXPECT_EQ(table.find(3), nullptr);
  table.begin_replace(3);
  EXPECT_FALSE(table.end_replace(3));
  EXPECT_FALSE(table.end_replace(3));
  table.begin_replace(3);
  EXPECT_TRUE(table.end_replace(3));
}

TEST(DescriptorTableTest, TellsWhatChangedWhileWatched) {
  DescriptorTable table;
  table.set(3, {trace::TextId(10), 1, false});
  table.watch();
  EXPECT_FALSE(table.was_changed(3));
  table.close_range(5, 7);
  EXPECT_TRUE(table.was_changed(6));
  table.begin_replace(9);
  EXPECT_TRUE(table.was_changed(9));
  table.end_watch();
  EXPECT_FALSE(table.was_changed(6));
  table.watch();
  EXPECT_FALSE(table.was_changed(3));
  table.drop_close_on_exec();
  EXPECT_TRUE(table.was_changed(3));
}

TEST(DescriptorTableTest, IsBounded) {
  using Entries = PersistentMap<int, Descriptor>;
  const auto most = static_cast<int>(DescriptorTable::kMostOfOne);
  std::vector<DescriptorTable> tables(DescriptorTable::kMost / DescriptorTable::kMostOfOne + 1);
  for (DescriptorTable& table : tables)
    for (int fd = 0; fd <= most; fd++) table.set(fd, {trace::TextId(1), 1, false});
  EXPECT_NE(tables.front().find(most - 1), nullptr);
  EXPECT_EQ(tables.front().find(most), nullptr);
  EXPECT_EQ(tables.back().find(1), nullptr);
  const std::size_t before = Entries::nodes();
  EXPECT_LE(before, DescriptorTable::kMost + 100);
  // Copies take nothing before they are changed.
  std::vector<DescriptorTable> copies(1000);
  for (DescriptorTable& copy : copies) {
    copy.take_copy(tables.front(), 1);
    EXPECT_NE(copy.find(1), nullptr);
  }
  EXPECT_EQ(Entries::nodes(), before);
}

TEST(DescriptorTableTest, CopiesTakeNothingThatMayBeNewer) {
  DescriptorTable table;
  table.set(3, {trace::TextId(10), 1, false});
  for (int i = 0; i < 2000; i++) table.set(4, {trace::TextId(11), 2 + static_cast<std::uint64_t>(i), false});
  DescriptorTable copy;
  copy.take_copy(table, 1);  // too much has happened since
  EXPECT_EQ(copy.find(3), nullptr);
  copy.take_copy(table, 1990);
  EXPECT_NE(copy.find(3), nullptr);
  EXPECT_EQ(copy.find(4), nullptr);
  copy.take_copy(table, 5000);
  EXPECT_NE(copy.find(4), nullptr);
}

}  // namespace
}  // namespace uscope::descriptors
