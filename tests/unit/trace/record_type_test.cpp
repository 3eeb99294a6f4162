// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/record_type.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "trace/record_builder.h"

namespace uscope::trace {
namespace {

template <typename Record, typename Fill>
Record made(Fill fill) {
  Record record{};
  fill(record);
  return record;
}

template <typename Record>
std::span<const std::byte> bytes_of(const RecordBuilder<Record>& builder) {
  return {reinterpret_cast<const std::byte*>(&builder.record()), builder.record().head.size};
}

template <typename Record>
std::size_t tail_bytes_of(const Record& record, std::string_view tail = {}) {
  return record_type(kTypeOf<Record>)->tail_bytes(bytes_of(RecordBuilder<Record>(record).add(tail)));
}

template <typename Record>
bool is_sound(const Record& record, std::string_view tail = {}) {
  return record_type(kTypeOf<Record>)->values_hold(bytes_of(RecordBuilder<Record>(record).add(tail)));
}

TEST(RecordType, EachTypeOfTheListHasAnEntry) {
  std::set<std::string_view> names;
#define USC_X(constant, number, text, type)                  \
  ASSERT_NE(record_type(USC_RECORD_##constant), nullptr);    \
  EXPECT_EQ(record_type(number)->name, text);                \
  EXPECT_EQ(record_type(number)->fixed_bytes, sizeof(type)); \
  EXPECT_EQ(kTypeOf<type>, USC_RECORD_##constant);           \
  EXPECT_TRUE(names.insert(record_type(number)->name).second);
#include "uscope/lists/record_type.def"
#undef USC_X
  EXPECT_GE(names.size(), 23U);
  EXPECT_EQ(record_type(0), nullptr);
  EXPECT_EQ(record_type(40), nullptr);
  EXPECT_EQ(record_type(48), nullptr);
  EXPECT_EQ(record_type(0xffff), nullptr);
  EXPECT_EQ(kTypeOf<usc_record>, 0);
}

TEST(RecordType, WhatLiesBehindEachFixedPart) {
  EXPECT_EQ(tail_bytes_of(usc_event{}), 0U);
  EXPECT_EQ(tail_bytes_of(made<usc_stack>([](auto& r) { r.depth = 3; })), 24U);
  EXPECT_EQ(tail_bytes_of(made<usc_exec>([](auto& r) {
              r.path_bytes = 7;
              r.argv_bytes = 0x1ffff;
            })),
            0x20006U);
  EXPECT_EQ(tail_bytes_of(made<usc_file>([](auto& r) { r.path_bytes = 18; })), 18U);
  EXPECT_EQ(tail_bytes_of(made<usc_file_info>([](auto& r) {
              r.segments = 2;
              r.build_id_bytes = 20;
              r.path_bytes = 9;
              r.trouble_bytes = 5;
            })),
            82U);
  EXPECT_EQ(tail_bytes_of(made<usc_sample>([](auto& r) { r.bytes = 4096; })), 4096U);
  EXPECT_EQ(tail_bytes_of(made<usc_jit_name>([](auto& r) { r.name_bytes = 11; })), 11U);
  EXPECT_EQ(tail_bytes_of(made<usc_logged>([](auto& r) { r.places = 4; })), 16U);
  EXPECT_EQ(tail_bytes_of(made<usc_kernel_place>([](auto& r) { r.text_bytes = 12; })), 12U);
  EXPECT_EQ(tail_bytes_of(made<usc_log_kind>([](auto& r) { r.name_bytes = 13; })), 13U);
  EXPECT_EQ(tail_bytes_of(made<usc_string>([](auto& r) { r.bytes = 0x12345; })), 0x12345U);
  EXPECT_EQ(tail_bytes_of(made<usc_cgroup>([](auto& r) { r.path_bytes = 19; })), 19U);
  EXPECT_EQ(tail_bytes_of(made<usc_fd>([](auto& r) { r.target_bytes = 15; })), 15U);
  EXPECT_EQ(tail_bytes_of(made<usc_fd>([](auto& r) {
              r.target_bytes = 15;
              r.flags = USC_FD_FILE;
            })),
            15U + sizeof(usc_fd_file));
  EXPECT_EQ(tail_bytes_of(made<usc_futex>([](auto& r) { r.bytes = 16; })), 16U);
  EXPECT_EQ(tail_bytes_of(made<usc_hit>([](auto& r) { r.frames = 3; })), 12U);
  EXPECT_EQ(tail_bytes_of(made<usc_hit>([](auto& r) {
              r.frames = 3;
              r.flags = USC_HIT_ADDRESSES | USC_EVENT_NO_RESULT;
            })),
            24U);
  EXPECT_EQ(tail_bytes_of(made<usc_kind>([](auto& r) { r.text_bytes = 17; })), 17U);
  EXPECT_EQ(tail_bytes_of(usc_meta{}, std::string_view("key\0value\0", 10)), 10U);
  EXPECT_EQ(tail_bytes_of(usc_meta{}, "no ends "), 2U);
}

TEST(RecordType, ValuesThatNoReaderCanTake) {
  EXPECT_TRUE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_OPEN; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_LOGGED; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_COUNT; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_SENT; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_DELIVERED; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.source = USC_SOURCE_SIGNAL; })));
  EXPECT_FALSE(is_sound(made<usc_logged>([](auto& r) { r.source = USC_SOURCE_SIGNAL; })));
  EXPECT_TRUE(is_sound(made<usc_signal>([](auto& r) { r.number = 64; })));
  EXPECT_FALSE(is_sound(made<usc_signal>([](auto& r) { r.number = 65; })));
  EXPECT_FALSE(is_sound(made<usc_signal>([](auto& r) { r.number = 0; })));
  EXPECT_FALSE(is_sound(made<usc_signal>([](auto& r) {
    r.number = 1;
    r.result = USC_SIGNAL_RESULT_COUNT;
  })));
  EXPECT_TRUE(is_sound(made<usc_stack>([](auto& r) { r.depth = USC_MAX_FRAMES; })));
  EXPECT_FALSE(is_sound(made<usc_stack>([](auto& r) { r.depth = USC_MAX_FRAMES + 1; })));
  EXPECT_FALSE(is_sound(usc_meta{}, std::string_view("key\0valu", 8)));
  EXPECT_TRUE(is_sound(made<usc_string>([](auto& r) {
                         r.bytes = 3;
                         r.kind = USC_STRING_TEXT;
                       }),
                       "abc"));
  EXPECT_FALSE(is_sound(made<usc_string>([](auto& r) {
                          r.bytes = 3;
                          r.kind = USC_STRING_NONE;
                        }),
                        "abc"));
  EXPECT_FALSE(is_sound(made<usc_string>([](auto& r) {
                          r.bytes = 3;
                          r.arg = 6;
                          r.kind = USC_STRING_TEXT;
                        }),
                        "abc"));
  EXPECT_FALSE(is_sound(made<usc_string>([](auto& r) {
                          r.bytes = 3;
                          r.kind = USC_STRING_TEXT;
                        }),
                        "abcabcabc"));  // more than its length says
  for (const std::size_t bytes : {sizeof(usc_vector) - 8, sizeof(usc_vector)})
    EXPECT_EQ(is_sound(made<usc_string>([&](auto& r) {
                         r.bytes = static_cast<__u16>(bytes);
                         r.kind = USC_STRING_VECTOR;
                       }),
                       std::string(bytes, '\0')),
              bytes == sizeof(usc_vector));
  EXPECT_FALSE(is_sound(made<usc_fd>([](auto& r) { r.target_bytes = 3; }), "abcabcabc"));
  EXPECT_FALSE(is_sound(made<usc_kernel_place>([](auto& r) { r.place = 0; })));
  EXPECT_FALSE(is_sound(made<usc_log_kind>([](auto& r) {
                          r.kind = 1;
                          r.name_bytes = 1;
                        }),
                        "a"));
  EXPECT_TRUE(is_sound(made<usc_log_kind>([](auto& r) {
                         r.kind = USC_KIND_NAMED | 1;
                         r.name_bytes = 1;
                       }),
                       "a"));
}

// What tells of hits tells of nothing else, and nothing else of hits.
TEST(RecordType, HitsAreOfProbes) {
  const auto hit = [](std::uint8_t source, std::uint8_t how, std::uint16_t frames = 0) {
    return is_sound(made<usc_hit>([&](auto& r) {
                      r.source = source;
                      r.how = how;
                      r.frames = frames;
                    }),
                    std::string(frames * sizeof(std::uint32_t), '\1'));
  };
  for (const std::uint8_t how : {USC_HOW_HIT, USC_HOW_RETURNED, USC_HOW_OPEN})
    EXPECT_TRUE(hit(USC_SOURCE_UFUNCTION, how)) << int{how};
  for (const std::uint8_t how : {USC_HOW_KILLED, USC_HOW_ATTACHED, USC_HOW_LOGGED, USC_HOW_COUNT})
    EXPECT_FALSE(hit(USC_SOURCE_UFUNCTION, how)) << int{how};
  for (const std::uint8_t source : {USC_SOURCE_SYSCALL, USC_SOURCE_LOGGED, USC_SOURCE_SIGNAL})
    EXPECT_FALSE(hit(source, USC_HOW_HIT)) << int{source};
  EXPECT_TRUE(hit(USC_SOURCE_COUNT, USC_HOW_HIT));  // of a later version
  EXPECT_TRUE(hit(USC_SOURCE_SAMPLE, USC_HOW_HIT, USC_KERNEL_FRAMES));
  EXPECT_FALSE(hit(USC_SOURCE_SAMPLE, USC_HOW_HIT, USC_KERNEL_FRAMES + 1));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.source = USC_SOURCE_SAMPLE; })));
  EXPECT_TRUE(is_sound(made<usc_event>([](auto& r) { r.source = USC_SOURCE_COUNT; })));
  EXPECT_FALSE(is_sound(made<usc_event>([](auto& r) { r.how = USC_HOW_HIT; })));
  EXPECT_FALSE(is_sound(made<usc_logged>([](auto& r) { r.source = USC_SOURCE_OFFCPU; })));
  EXPECT_FALSE(is_sound(made<usc_log_kind>([](auto& r) {
                          r.kind = USC_KIND_NAMED | 1;
                          r.source = USC_SOURCE_KFUNCTION;
                          r.name_bytes = 1;
                        }),
                        "a"));
}

TEST(RecordType, AKindHasItsNameAndAsManyArgumentsAsItSays) {
  const auto kind = [](std::uint8_t source, std::uint8_t args, const std::string& text, std::size_t bytes) {
    return is_sound(made<usc_kind>([&](auto& r) {
                      r.source = source;
                      r.args = args;
                      r.text_bytes = static_cast<__u16>(bytes);
                    }),
                    text);
  };
  const std::string text("name\0fd:int\0", 12);
  EXPECT_TRUE(kind(USC_SOURCE_TRACEPOINT, 1, text, 12));
  EXPECT_FALSE(kind(USC_SOURCE_TRACEPOINT, 0, text, 12));
  EXPECT_FALSE(kind(USC_SOURCE_TRACEPOINT, 2, text, 12));
  EXPECT_FALSE(kind(USC_SOURCE_TRACEPOINT, 1, text, 11));  // without its NUL
  EXPECT_FALSE(kind(USC_SOURCE_TRACEPOINT, 0, "", 0));
  EXPECT_FALSE(kind(USC_SOURCE_TRACEPOINT, 0, std::string(1, '\0'), 1));  // no name
  EXPECT_FALSE(kind(USC_SOURCE_SYSCALL, 1, text, 12));
  std::string most = "n";
  most.push_back('\0');
  for (int i = 0; i < 7; i++) most += std::string("a:b\0", 4);
  EXPECT_TRUE(kind(USC_SOURCE_USDT, 6, most.substr(0, 26), 26));
  EXPECT_FALSE(kind(USC_SOURCE_USDT, 7, most, most.size()));
  std::string longest(USC_KIND_TEXT_BYTES, 'a');
  longest.back() = '\0';
  EXPECT_TRUE(kind(USC_SOURCE_USDT, 0, longest, longest.size()));
  EXPECT_FALSE(kind(USC_SOURCE_USDT, 0, "a" + longest, longest.size() + 1));
}

TEST(RecordType, AStacksFramesAreThoseThatItsRecordHolds) {
  const std::array<__u64, 3> frames{0x10, 0x20, 0x30};
  usc_stack stack{};
  stack.depth = 3;
  RecordBuilder<usc_stack> whole(stack);
  whole.add_values(std::span<const __u64>(frames));
  ASSERT_EQ(frames_of(whole.record()).size(), 3U);
  EXPECT_EQ(frames_of(whole.record())[2], 0x30U);
  whole.head().size -= 8;
  EXPECT_EQ(frames_of(whole.record()).size(), 2U);
  whole.head().size = sizeof(usc_record);  // less than its fixed part
  EXPECT_TRUE(frames_of(whole.record()).empty());
}

}  // namespace
}  // namespace uscope::trace
