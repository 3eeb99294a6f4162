// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/ids.h"
#include "tests/support/frame_word.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

namespace uscope::trace {
namespace {

// An id is made of an integer where somebody says so, and of nothing else.
static_assert(!std::is_convertible_v<std::uint32_t, TaskId>);
static_assert(!std::is_convertible_v<TaskId, std::uint32_t>);
static_assert(!std::is_convertible_v<TaskId, bool>);
static_assert(!std::is_constructible_v<std::uint64_t, TaskId>);
static_assert(std::is_constructible_v<TaskId, std::uint32_t>);
static_assert(!std::is_constructible_v<TaskId, std::uint64_t>);
static_assert(!std::is_constructible_v<TaskId, bool>);
static_assert(std::is_constructible_v<Id<struct Any, std::int64_t>, std::uint32_t>);

// No kind is made of another one, or compared with it.
template <typename Left, typename Right>
concept Comparable = requires(Left left, Right right) {
  left == right;
};
static_assert(!std::is_constructible_v<TaskId, ProcessId>);
static_assert(!std::is_constructible_v<ProcessId, MmId>);
static_assert(!std::is_assignable_v<ImageId&, StackId>);
static_assert(!std::is_assignable_v<FileId&, std::uint32_t>);
static_assert(Comparable<TaskId, TaskId>);
static_assert(!Comparable<TaskId, ProcessId>);
static_assert(!Comparable<TaskId, std::uint32_t>);
static_assert(!Comparable<Id<struct Any, std::int64_t>, Id<struct Other, std::int64_t>>);

static_assert(number_of(std::int64_t{-2}) == -2 && number_of(TaskId(7)) == 7);

// An id is its integer, in memory too.
static_assert(sizeof(TaskId) == sizeof(std::uint32_t) && std::is_trivially_copyable_v<TaskId>);
static_assert(sizeof(Id<struct Any, std::int64_t>) == sizeof(std::int64_t));
static_assert(sizeof(IdPair<TaskId, StackId>) == 2 * sizeof(std::uint32_t));
static_assert(TaskId(7).value() == 7 && !TaskId() && TaskId(1) && TaskId(1) < TaskId(2));

TEST(Ids, AreOrderedAndHashedAsTheirNumbers) {
  const std::map<ProcessId, int> ordered{{ProcessId(3), 30}, {ProcessId(1), 10}, {ProcessId(2), 20}};
  EXPECT_EQ(ordered.begin()->second, 10);
  EXPECT_EQ(ordered.rbegin()->second, 30);
  EXPECT_EQ(std::hash<TaskId>()(TaskId(4711)), std::hash<std::uint32_t>()(4711));
  const std::unordered_set<MmId> set{MmId(1), MmId(2), MmId(1)};
  EXPECT_EQ(set.size(), 2);
}

TEST(Ids, AreWrittenAsTheirNumbers) {
  EXPECT_EQ(to_string(FileId(65535)), "65535");
  EXPECT_EQ(to_string(Id<struct Any, std::int64_t>(-1)), "-1");
  std::ostringstream out;
  out << StackId(0x80000001U) << ' ' << ImageId();
  EXPECT_EQ(out.str(), "2147483649 0");
}

TEST(Ids, TheFileOfAFrameIsNoneWhereItIsInMemory) {
  EXPECT_EQ(file_of(test::frame_word(0xffffU, 0x1234, true)), FileId(0xffff));
  EXPECT_EQ(file_of(test::frame_word(USC_FILE_VDSO, 0x1234, false)), kVdsoFile);
  EXPECT_EQ(file_of(test::frame_word(USC_FILE_NONE, 0x7f0012345678, false)), kNoFile);
}

TEST(IdPairs, AreOrderedByTheFirstThenTheSecond) {
  using Key = IdPair<std::uint32_t, ProcessId>;
  const std::map<Key, int> ordered{{{2, ProcessId(1)}, 3}, {{1, ProcessId(9)}, 2}, {{1, ProcessId(8)}, 1}};
  int expected = 1;
  for (const auto& [key, place] : ordered) EXPECT_EQ(place, expected++);
}

TEST(IdPairs, ThatDifferInEitherPartAreTwoKeys) {
  using Key = IdPair<TaskId, StackId>;
  std::unordered_map<Key, int> map;
  map[{TaskId(1), StackId(2)}] = 12;
  map[{TaskId(2), StackId(1)}] = 21;
  EXPECT_EQ((map[{TaskId(1), StackId(2)}]), 12);
  EXPECT_EQ((map[{TaskId(2), StackId(1)}]), 21);
  EXPECT_NE(std::hash<Key>()({TaskId(1), StackId(2)}), std::hash<Key>()({TaskId(2), StackId(1)}));
}

}  // namespace
}  // namespace uscope::trace
