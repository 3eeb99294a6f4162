// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <set>
#include <string_view>

#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/frame_word.h"
#include "tests/unit/trace/raw_trace.h"
#include "trace/raw_reader.h"
#include "trace/sequence_check.h"

namespace uscope::trace {
namespace {

class RawTest : public testing::Test {
 protected:
  std::filesystem::path raw() const { return folder_ / "raw"; }

  // Ten events on two processors, entered at kStart + 1 … 10, with a stack and a file between them.
  std::uint64_t ten_events() {
    RawTrace trace(raw());
    for (std::uint64_t i = 1; i <= 10; i++) {
      trace.event({.entry = kStart + i, .end = kStart + i + 1, .cpu = static_cast<std::uint16_t>(i % 2)});
      if (i == 4) trace.stack(1, {1, 2, 3});
      if (i == 7) trace.file(2, "/bin/odd", "ID");
    }
    return trace.close();
  }

  // Reads the rest of the file.
  static std::vector<RawGap> gaps_of(RawReader& reader) {
    std::vector<RawGap> gaps;
    reader.on_gap([&](const RawGap& gap) { gaps.push_back(gap); });
    RawRecord record;
    while (*reader.next(record)) continue;
    return gaps;
  }

  struct Contents {
    std::vector<std::uint64_t> entries;  // of events, less kStart
    std::vector<std::uint16_t> others;   // types
    RawDamage damage;
  };

  Contents read() {
    Contents contents;
    auto reader = RawReader::open(raw());
    EXPECT_TRUE(reader) << reader.error().what;
    if (!reader) return contents;
    RawRecord record;
    for (;;) {
      auto more = reader->next(record);
      EXPECT_TRUE(more) << more.error().what;
      if (!more || !*more) break;
      if (record.head.type == USC_RECORD_EVENT) {
        contents.entries.push_back(record.as<usc_event>().entry_ns - kStart);
      } else {
        contents.others.push_back(record.head.type);
      }
    }
    contents.damage = reader->damage();
    return contents;
  }

  void overwrite(std::uint64_t offset, const std::string& bytes) {
    std::fstream file(raw(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  test::TemporaryFolder folder_;
};

using Entries = std::vector<std::uint64_t>;
using Types = std::vector<std::uint16_t>;

constexpr std::uint64_t kHeader = sizeof(usc_raw_header);
constexpr std::uint64_t kEvent = sizeof(usc_event);

TEST_F(RawTest, WhatIsWrittenIsRead) {
  const std::uint64_t size = ten_events();
  EXPECT_EQ(std::filesystem::file_size(raw()), size);
  EXPECT_EQ(std::filesystem::status(raw()).permissions(), std::filesystem::perms(0600));
  const Contents contents = read();
  EXPECT_EQ(contents.entries, (Entries{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(contents.others, (Types{USC_RECORD_STACK, USC_RECORD_FILE_INFO}));
  EXPECT_EQ(contents.damage.regions, 0U);
  EXPECT_EQ(contents.damage.skipped_bytes, 0U);
}

TEST_F(RawTest, VariablePartsComeBackWhole) {
  {
    RawTrace trace(raw());
    trace.meta("key", "a value");
    trace.stack(7, {11, 22, 33});
    trace.exec(1, 1, 1, 2, "/bin/ls", std::string("ls\0-l\0", 6));
    usc_file file{};
    file.head = trace.head(USC_RECORD_FILE, 0, 0, kStart);
    const std::string path("libc.so.6\0lib\0usr\0", 18);
    file.path_bytes = static_cast<__u16>(path.size());
    trace.put(file, path);
    file.truncated = 1;
    trace.put(file, path);
  }
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  RawRecord record;
  std::string_view key;
  std::string_view value;
  ASSERT_TRUE(*reader->next(record));
  ASSERT_TRUE(meta_of(record, key, value));
  EXPECT_EQ(key, "key");
  EXPECT_EQ(value, "a value");
  ASSERT_TRUE(*reader->next(record));
  std::vector<std::uint64_t> frames;
  frames_of(record, frames);
  EXPECT_EQ(frames, (std::vector<std::uint64_t>{11, 22, 33}));
  const std::uint64_t stack_at = record.offset;
  ASSERT_TRUE(*reader->next(record));
  EXPECT_EQ(record.data<usc_exec>(0, 7), "/bin/ls");
  EXPECT_EQ(record.data<usc_exec>(7, 6), std::string_view("ls\0-l\0", 6));
  ASSERT_TRUE(*reader->next(record));
  EXPECT_EQ(file_path_of(record), "/usr/lib/libc.so.6");
  ASSERT_TRUE(*reader->next(record));
  EXPECT_EQ(file_path_of(record), "…/usr/lib/libc.so.6");
  EXPECT_FALSE(*reader->next(record));
  std::vector<std::byte> storage;
  auto again = reader->at(stack_at, storage);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->as<usc_stack>().stack, 7U);
  EXPECT_FALSE(reader->at(stack_at + 8, storage));
}

TEST_F(RawTest, StringsAndDescriptorsComeBackWhole) {
  {
    RawTrace trace(raw());
    trace.string(5, kStart + 7, 2, "/etc/passwd", USC_STRING_TEXT, USC_STRING_LATE);
    trace.descriptor(1, 3, "/dev/null", kStart, USC_FD_CLOEXEC);
  }
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  RawRecord record;
  ASSERT_TRUE(*reader->next(record));
  const auto string = record.as<usc_string>();
  EXPECT_EQ(string.head.task, 5U);
  EXPECT_EQ(string.entry_ns, kStart + 7);
  EXPECT_EQ(string.arg, 2);
  EXPECT_EQ(string.flags, USC_STRING_LATE);
  EXPECT_EQ(record.data<usc_string>(0, string.bytes), "/etc/passwd");
  ASSERT_TRUE(*reader->next(record));
  const auto descriptor = record.as<usc_fd>();
  EXPECT_EQ(descriptor.fd, 3);
  EXPECT_EQ(record.data<usc_fd>(0, descriptor.target_bytes), "/dev/null");
  EXPECT_FALSE(*reader->next(record));
}

TEST_F(RawTest, StringsThatCannotBeAreDamage) {
  const auto damaged = [this](auto change) {
    usc_string string{};
    string.bytes = 8;
    string.arg = 5;
    string.kind = USC_STRING_TEXT;
    change(string);
    std::filesystem::remove(raw());
    {
      RawTrace trace(raw());
      string.head = trace.head(USC_RECORD_STRING, 0, 1, kStart);
      trace.put(string, "12345678");
      trace.event({});
    }
    return read().damage.regions;
  };
  EXPECT_EQ(damaged([](usc_string&) {}), 0U);
  EXPECT_EQ(damaged([](usc_string& string) { string.arg = 6; }), 1U);
  EXPECT_EQ(damaged([](usc_string& string) { string.kind = USC_STRING_NONE; }), 1U);
  EXPECT_EQ(damaged([](usc_string& string) { string.bytes = 9; }), 1U);
  EXPECT_EQ(damaged([](usc_string& string) { string.bytes = 0; }), 1U);  // and what is behind it is no other's
}

TEST_F(RawTest, ABrokenLengthCostsItsRecordOnly) {
  ten_events();
  for (const std::string& length : {std::string("\x07\0\0\0", 4), std::string("\xff\xff\xff\xff", 4),
                                    std::string(4, '\0'), std::string("\x40\0\0\0", 4)}) {
    overwrite(kHeader + 2 * kEvent, length);
    const Contents contents = read();
    EXPECT_EQ(contents.entries, (Entries{1, 2, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(contents.others.size(), 2U);
    EXPECT_EQ(contents.damage.regions, 1U);
    EXPECT_EQ(contents.damage.skipped_bytes, kEvent);
  }
}

TEST_F(RawTest, AnInnerLengthOutsideItsRecordIsDamage) {
  ten_events();
  overwrite(kHeader + 4 * kEvent + offsetof(usc_stack, depth), "\xff\x01");
  const Contents contents = read();
  EXPECT_EQ(contents.entries.size(), 10U);
  EXPECT_EQ(contents.others, (Types{USC_RECORD_FILE_INFO}));
  EXPECT_EQ(contents.damage.regions, 1U);
}

TEST_F(RawTest, UnknownTypesAreSkippedWithoutDamage) {
  ten_events();
  overwrite(kHeader + 3 * kEvent + offsetof(usc_record, type), std::string("\x63\0", 2));
  const Contents contents = read();
  EXPECT_EQ(contents.entries, (Entries{1, 2, 3, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(contents.damage.unknown, 1U);
  EXPECT_EQ(contents.damage.regions, 0U);
}

TEST_F(RawTest, ACutOffTailLeavesWhatIsWhole) {
  const std::uint64_t size = ten_events();
  for (const std::uint64_t cut : {std::uint64_t{1}, std::uint64_t{8}, kEvent - 8, kEvent - 1}) {
    std::filesystem::resize_file(raw(), size - cut);
    const Contents contents = read();
    EXPECT_EQ(contents.entries, (Entries{1, 2, 3, 4, 5, 6, 7, 8, 9})) << cut;
    EXPECT_EQ(contents.damage.regions, 1U);
    EXPECT_EQ(contents.damage.tail_bytes, kEvent - cut);
  }
}

TEST_F(RawTest, EveryByteFlippedNeverCostsMoreThanItsNeighbours) {
  const std::uint64_t size = ten_events();
  std::ifstream file(raw(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(whole.size(), size);
  for (std::uint64_t at = kHeader; at < size; at++) {
    overwrite(at, std::string(1, static_cast<char>(whole[at] ^ 0x5a)));
    const Contents contents = read();
    // The record that was hit, and at most one that a length grown too long swallows.
    EXPECT_GE(contents.entries.size() + contents.others.size(), 10U) << at;
    overwrite(at, std::string(1, whole[at]));
  }
  EXPECT_EQ(read().entries.size(), 10U);
}

TEST_F(RawTest, OtherFilesAreNamedAsWhatTheyAre) {
  const auto error = [&] {
    auto reader = RawReader::open(raw());
    return reader ? std::string("opened") : reader.error().what;
  };
  EXPECT_NE(error().find("No such file"), std::string::npos);
  std::ofstream(raw()) << "short";
  EXPECT_NE(error().find("is not a raw trace"), std::string::npos);
  std::filesystem::remove(raw());
  ten_events();
  overwrite(offsetof(usc_raw_header, record_abi), std::string("\x09\0\0\0", 4));
  const std::string reads =
      ", this uscope reads versions " + std::to_string(USC_RECORD_ABI_OLDEST) + " to " + std::to_string(USC_RECORD_ABI);
  EXPECT_NE(error().find("holds records of version 9" + reads), std::string::npos) << error();
  overwrite(offsetof(usc_raw_header, record_abi), std::string("\x07\0\0\0", 4));
  EXPECT_NE(error().find("holds records of version 7" + reads), std::string::npos) << error();
  auto older = RawReader::open(raw());
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().remedy, "load it with uscope 0.2, which reads it; this uscope reads the database");
  // Its header was shorter.
  std::filesystem::resize_file(raw(), 40);
  EXPECT_NE(error().find("holds records of version 7" + reads), std::string::npos) << error();
  std::filesystem::remove(raw());
  ASSERT_EQ(::mkfifo(raw().c_str(), 0600), 0);
  EXPECT_NE(error().find("is not a regular file"), std::string::npos);
}

// Of a kind that a later version writes.
TEST_F(RawTest, AStackWithAFrameOfAnUnknownKindIsLeftOut) {
  {
    RawTrace trace(raw());
    trace.stack(1, {usc_frame_in_code(5, 6, 0)});
    trace.stack(2, {test::frame_word(2, 6, false)});
    trace.close();
  }
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  RawRecord record;
  ASSERT_TRUE(*reader->next(record));
  EXPECT_EQ(record.as<usc_stack>().stack, 2U);
  EXPECT_EQ(reader->damage().unknown, 1U);
  EXPECT_EQ(reader->damage().regions, 0U);
}

TEST_F(RawTest, MoreThan64KiBAreOneRecord) {
  const std::string text(100'000, 'x');
  {
    RawTrace trace(raw());
    trace.string(1, kStart, 0, text);
    trace.close();
  }
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  RawRecord record;
  ASSERT_TRUE(*reader->next(record));
  EXPECT_EQ(record.data<usc_string>(0, record.as<usc_string>().bytes), text);
}

usc_record numbered_head(std::size_t size, std::uint16_t type, std::uint16_t cpu, std::uint64_t seq) {
  usc_record head{};
  head.size = static_cast<__u32>(size);
  head.type = type;
  head.cpu = cpu;
  head.seq = seq;
  return head;
}

TEST(Sequence, GapsAreWhatNobodyExplains) {
  SequenceCheck check(2);
  const auto see = [&](std::uint16_t cpu, std::uint64_t seq) {
    usc_event event{};
    event.head = numbered_head(sizeof(event), USC_RECORD_EVENT, cpu, seq);
    RawRecord record{event.head, std::as_bytes(std::span(&event, 1)), 0};
    check.observe(record);
  };
  for (const std::uint32_t seq : {5U, 3U, 9U}) see(0, seq);  // without a total: 3 … 9
  EXPECT_EQ(check.unexplained(), 4U);
  usc_cpu_total total{};
  total.head = numbered_head(sizeof(total), USC_RECORD_CPU_TOTAL, 1, 0);
  total.records = 6;
  check.observe({total.head, std::as_bytes(std::span(&total, 1)), 0});
  see(1, 0);
  EXPECT_EQ(check.unexplained(), 9U);
  usc_loss loss{};
  loss.head = numbered_head(sizeof(loss), USC_RECORD_LOSS, USC_CPU_USER, 0);
  loss.count = 7;
  loss.cause = USC_LOSS_DEFERRED_RING;
  check.observe({loss.head, std::as_bytes(std::span(&loss, 1)), 0});
  EXPECT_EQ(check.unexplained(), 2U);
  loss.cause = USC_LOSS_RECURSION;  // takes no number
  check.observe({loss.head, std::as_bytes(std::span(&loss, 1)), 0});
  EXPECT_EQ(check.unexplained(), 2U);
}

// What a flight recorder dumps begins at any number.
TEST(Sequence, NumbersGoOnBehindFourThousandMillions) {
  constexpr std::uint64_t kBorder = std::uint64_t{1} << 32;
  SequenceCheck check(1);
  const auto see = [&](std::uint64_t seq) {
    usc_event event{};
    event.head = numbered_head(sizeof(event), USC_RECORD_EVENT, 0, seq);
    check.observe({event.head, std::as_bytes(std::span(&event, 1)), 0});
  };
  for (std::uint64_t seq = kBorder - 3; seq < kBorder + 3; seq++) see(seq);
  EXPECT_EQ(check.unexplained(), 0U);
  see(kBorder + 4);
  EXPECT_EQ(check.unexplained(), 1U);
  usc_cpu_total total{};
  total.head = numbered_head(sizeof(total), USC_RECORD_CPU_TOTAL, 0, 0);
  total.records = kBorder + 6;
  total.first = kBorder - 4;
  check.observe({total.head, std::as_bytes(std::span(&total, 1)), 0});
  EXPECT_EQ(check.unexplained(), 3U);
}

// Each cause explains gaps, or none: which ones is written here once more, so that none is added without the question.
TEST(Sequence, EveryCauseIsNumberedOrNot) {
  const std::set<std::string_view> numbered{"ring_full_event",   "ring_full_stack",   "ring_full_record",
                                            "deferred_ring",     "ring_full_string",  "verify_skipped",
                                            "ring_full_sharing", "ring_full_logged",  "ring_full_content",
                                            "ring_full_partial", "ring_full_followed"};
  const std::set<std::string_view> others{
      "task_map_full", "recursion",           "scratch_busy",      "file_map_full",   "stack_undefined",
      "raw_damaged",   "task_undefined",      "deferred_given_up", "rows_memory",     "perf_map_size",
      "cut_off",       "jit_spaces_full",     "perf_map_refused",  "log_context",     "log_kinds_full",
      "no_answer",     "scratch_busy_string", "probe_missed",      "probe_not_there", "probe_removed",
      "clock_silent",  "jump_unread"};
#define USC_X(name, number, text, meaning, is_numbered, missing)               \
  {                                                                            \
    SequenceCheck check(1);                                                    \
    usc_cpu_total total{};                                                     \
    total.head = numbered_head(sizeof(total), USC_RECORD_CPU_TOTAL, 0, 0);     \
    total.records = 5;                                                         \
    check.observe({total.head, std::as_bytes(std::span(&total, 1)), 0});       \
    usc_loss loss{};                                                           \
    loss.head = numbered_head(sizeof(loss), USC_RECORD_LOSS, USC_CPU_USER, 0); \
    loss.count = 3;                                                            \
    loss.cause = USC_LOSS_##name;                                              \
    check.observe({loss.head, std::as_bytes(std::span(&loss, 1)), 0});         \
    EXPECT_EQ(numbered.count(text) + others.count(text), 1U) << (text);        \
    EXPECT_EQ(check.unexplained(), numbered.count(text) ? 2U : 5U) << (text);  \
  }
#include "uscope/lists/loss.def"
#undef USC_X
  EXPECT_EQ(usc_loss_is_numbered(USC_LOSS_COUNT), 0);
}

// Every byte that next() passes over is reported once, with its place and the reason.
TEST_F(RawTest, GapsAreReportedWhereTheyAre) {
  std::uint64_t size = ten_events();
  overwrite(kHeader, std::string("\x21\0\0\0", 4));               // a length
  overwrite(kHeader + 3 * kEvent + 6, std::string("\x09\0", 2));  // a CPU
  std::filesystem::resize_file(raw(), size - 16);
  size -= 16;
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  const std::vector<RawGap> gaps = gaps_of(*reader);
  ASSERT_EQ(gaps.size(), 3U);
  EXPECT_EQ(gaps[0].offset, kHeader);
  EXPECT_EQ(gaps[0].bytes, kEvent);
  EXPECT_EQ(gaps[0].reason, "the length 33 is not a multiple of 8");
  EXPECT_EQ(gaps[1].offset, kHeader + 3 * kEvent);
  EXPECT_EQ(gaps[1].reason, "the trace has no CPU 9: it is of 2 CPUs");
  EXPECT_EQ(gaps[2].offset, size - (kEvent - 16));
  EXPECT_EQ(gaps[2].bytes, kEvent - 16);
  EXPECT_EQ(gaps[2].reason, "the file ends within a record of type 1: 96 bytes of 112");
  std::uint64_t bytes = 0;
  for (const RawGap& gap : gaps) {
    EXPECT_TRUE(gap.damaged);
    bytes += gap.bytes;
  }
  EXPECT_EQ(bytes, reader->damage().skipped_bytes);
}

TEST_F(RawTest, ARecordOfAnUnknownTypeIsAGapButNoDamage) {
  {
    RawTrace trace(raw());
    trace.event({});
    usc_cpu_total unknown{};  // its type is changed below
    unknown.head = trace.head(USC_RECORD_CPU_TOTAL, 0, 0, kStart);
    trace.put(unknown);
    trace.event({.source = USC_SOURCE_COUNT});
    trace.event({});
  }
  overwrite(kHeader + kEvent + offsetof(usc_record, type), std::string("\0\x03", 2));
  auto reader = RawReader::open(raw());
  ASSERT_TRUE(reader);
  const std::vector<RawGap> gaps = gaps_of(*reader);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_FALSE(gaps[0].damaged || gaps[1].damaged);
  EXPECT_EQ(gaps[1].reason, "a record of type 1 whose source, 9, is unknown");
  EXPECT_EQ(gaps[0].offset, kHeader + kEvent);
  EXPECT_EQ(gaps[0].bytes, sizeof(usc_cpu_total));
  EXPECT_EQ(gaps[0].reason, "a record of the unknown type 768");
  EXPECT_EQ(reader->damage().skipped_bytes, 0U);
}

}  // namespace
}  // namespace uscope::trace
