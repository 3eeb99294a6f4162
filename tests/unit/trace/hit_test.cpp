// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/hit.h"

#include <gtest/gtest.h>

namespace uscope::trace {
namespace {

usc_kind kind_of(std::uint8_t source, std::uint32_t number) {
  usc_kind kind{};
  kind.source = source;
  kind.kind = number;
  return kind;
}

TEST(Hit, IsAnEvent) {
  usc_hit hit{};
  hit.head.task = 7;
  hit.head.time = 30;
  hit.entry_ns = 10;
  hit.result = -5;
  hit.args[5] = 6;
  hit.stack = 8;
  hit.image = 9;
  hit.kind = 3;
  hit.how = USC_HOW_RETURNED;
  hit.source = USC_SOURCE_KFUNCTION;
  hit.flags = USC_HIT_ADDRESSES | USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED;
  hit.unread = 1U << 2U;
  const Event event = event_of_hit(hit);
  EXPECT_TRUE(event.is_read(1));
  EXPECT_FALSE(event.is_read(2));
  EXPECT_EQ(event.head.task, 7U);
  EXPECT_EQ(event.head.time - event.entry_ns, 20U);
  EXPECT_EQ(event.result, -5);
  EXPECT_EQ(event.args[5], 6U);
  EXPECT_EQ(event.stack, 8U);
  EXPECT_EQ(event.image, 9U);
  EXPECT_EQ(event.kind, 3U);
  EXPECT_EQ(event.how, USC_HOW_RETURNED);
  EXPECT_EQ(event.source, USC_SOURCE_KFUNCTION);
  EXPECT_EQ(event.flags, USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED);
}

TEST(Hit, ALoggedRecordIsAnEvent) {
  usc_logged logged{};
  logged.head.task = 7;
  logged.head.time = 30;
  for (std::size_t i = 0; i < USC_LOGGED_VALUES; i++) logged.value[i] = 100 + i;
  logged.values = 2;
  logged.stack = 8;
  logged.image = 9;
  logged.kind = 3;
  const Event event = event_of_logged(logged);
  EXPECT_EQ(event.head.task, 7U);
  EXPECT_EQ(event.entry_ns, 30U);
  EXPECT_EQ(event.head.time, 30U);
  EXPECT_EQ(event.args[0], 100U);
  EXPECT_EQ(event.args[1], 101U);
  EXPECT_EQ(event.args[2], 0U) << "it has two values";
  EXPECT_EQ(event.stack, 8U);
  EXPECT_EQ(event.image, 9U);
  EXPECT_EQ(event.kind, 3U);
  EXPECT_EQ(event.how, USC_HOW_LOGGED);
  EXPECT_EQ(event.flags, USC_EVENT_NO_RESULT);
  logged.source = USC_SOURCE_TRACEPOINT;
  logged.values = 255;
  EXPECT_EQ(event_of_logged(logged).source, USC_SOURCE_TRACEPOINT);
  EXPECT_EQ(event_of_logged(logged).args[USC_LOGGED_VALUES - 1], 99U + USC_LOGGED_VALUES);
}

TEST(Hit, KindsHaveANameAndArgumentsWithTypes) {
  const KindText kind = kind_text(std::string_view("libc.so.6:read\0fd:int\0data:std::string *\0bare\0a\xff:\0", 50));
  EXPECT_EQ(kind.name, "libc.so.6:read");
  ASSERT_EQ(kind.arguments.size(), 4U);
  EXPECT_EQ(kind.arguments[0].name, "fd");
  EXPECT_EQ(kind.arguments[0].type, "int");
  EXPECT_EQ(kind.arguments[1].type, "std::string *");
  EXPECT_EQ(kind.arguments[2].name, "bare");
  EXPECT_EQ(kind.arguments[2].type, "");
  EXPECT_EQ(kind.arguments[3].name, "a\\xff");
  EXPECT_TRUE(kind_text("").name.empty());
}

TEST(KindTable, TheTypeOfAResultIsToldOnceMore) {
  KindTable kinds;
  const usc_kind kind = kind_of(USC_SOURCE_KFUNCTION, 1);
  const auto type = [&kinds] { return kinds.find(USC_SOURCE_KFUNCTION, 1)->result_type; };
  kinds.add(kind, std::string_view("vfs_read\0count:size_t\0", 22));
  EXPECT_EQ(type(), "");
  kinds.add(kind, std::string_view("vfs_read\0other:long\0", 20));
  EXPECT_EQ(type(), "");
  kinds.add(kind, std::string_view("other\0return:ssize_t\0", 21));
  kinds.add(kind, std::string_view("vfs_read\0return:int\0", 20));
  EXPECT_EQ(type(), "ssize_t");
  EXPECT_EQ(kinds.find(USC_SOURCE_KFUNCTION, 1)->name, "vfs_read");
  ASSERT_EQ(kinds.find(USC_SOURCE_KFUNCTION, 1)->arguments.size(), 1U);
  EXPECT_EQ(kinds.find(USC_SOURCE_KFUNCTION, 1)->arguments[0].name, "count");
}

TEST(KindTable, TheFirstOneHolds) {
  KindTable kinds;
  kinds.add(kind_of(USC_SOURCE_USDT, 1), std::string_view("first\0", 6));
  kinds.add(kind_of(USC_SOURCE_USDT, 1), std::string_view("second\0", 7));
  kinds.add(kind_of(USC_SOURCE_TRACEPOINT, 1), std::string_view("other\0", 6));
  EXPECT_EQ(kinds.find(USC_SOURCE_USDT, 1)->name, "first");
  EXPECT_EQ(kinds.find(USC_SOURCE_TRACEPOINT, 1)->name, "other");
  EXPECT_EQ(kinds.find(USC_SOURCE_USDT, 2), nullptr);
}

TEST(KindTable, MemoryIsBounded) {
  KindTable many;
  for (std::uint32_t number = 0; number < KindTable::kMost + 10; number++)
    many.add(kind_of(USC_SOURCE_KFUNCTION, number), std::string_view("f\0", 2));
  EXPECT_EQ(many.size(), KindTable::kMost);
  KindTable big;
  const std::string text(USC_KIND_TEXT_BYTES, 'a');
  for (std::uint32_t number = 0; number < KindTable::kMost; number++) big.add(kind_of(USC_SOURCE_USDT, number), text);
  EXPECT_EQ(big.size(), KindTable::kMostBytes / USC_KIND_TEXT_BYTES);
}

}  // namespace
}  // namespace uscope::trace
