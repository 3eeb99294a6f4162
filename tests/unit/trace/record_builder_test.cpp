// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/record_builder.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "trace/raw_record.h"

namespace uscope::trace {
namespace {

TEST(RecordBuilder, ARecordWithoutATail) {
  usc_event event{};
  event.head.cpu = 3;
  event.head.seq = 17;
  event.head.task = 5;
  event.kind = 39;
  const RecordBuilder<usc_event> builder(event);
  const usc_event& record = builder.record();
  EXPECT_EQ(record.head.type, USC_RECORD_EVENT);
  EXPECT_EQ(record.head.size, sizeof(usc_event));
  EXPECT_EQ(record.head.cpu, 3);
  EXPECT_EQ(record.head.seq, 17U);
  EXPECT_EQ(record.head.task, 5U);
  EXPECT_EQ(record.kind, 39U);
}

TEST(RecordBuilder, PartsFollowEachOtherAndZerosFillTheLastWord) {
  usc_exec exec{};
  exec.path_bytes = 5;
  exec.argv_bytes = 4;
  RecordBuilder<usc_exec> builder(exec);
  builder.add(std::string("/path")).add(std::string("a\0b\0", 4));
  EXPECT_EQ(builder.record().head.size, sizeof(usc_exec) + 16);
  EXPECT_EQ(tail_of(builder.record()), std::string_view("/patha\0b\0\0\0\0\0\0\0\0", 16));
  const std::vector<char> bytes = builder.take();
  EXPECT_EQ(bytes.size(), sizeof(usc_exec) + 16);
}

// What a reader makes of a record that was built from another one: nothing of the old tail.
TEST(RecordBuilder, OnlyTheFixedPartIsTakenOfALongerRecord) {
  usc_string string{};
  string.bytes = 6;
  string.kind = USC_STRING_TEXT;
  RecordBuilder<usc_string> secret(string);
  secret.add(std::string("secret"));
  RecordBuilder<usc_string> hidden(secret.record());
  EXPECT_EQ(hidden.record().head.size, sizeof(usc_string));
  hidden.add(std::string("[]"));
  EXPECT_EQ(tail_of(hidden.record()), std::string_view("[]\0\0\0\0\0\0", 8));
}

TEST(RecordBuilder, ValuesAreAddedAsTheyLieInMemory) {
  const std::array<__u64, 2> frames{0x1122334455667788, 7};
  usc_stack stack{};
  stack.depth = 2;
  RecordBuilder<usc_stack> builder(stack);
  builder.add_values(std::span<const __u64>(frames));
  RawRecord raw;
  raw.head = builder.head();
  raw.bytes = {reinterpret_cast<const std::byte*>(&builder.record()), builder.head().size};
  EXPECT_EQ(check_record(raw), RecordCheck::kWhole);
  EXPECT_EQ(needed_bytes(raw), raw.bytes.size());
  std::vector<std::uint64_t> read;
  frames_of(raw, read);
  EXPECT_EQ(read, (std::vector<std::uint64_t>{0x1122334455667788, 7}));
}

}  // namespace
}  // namespace uscope::trace
