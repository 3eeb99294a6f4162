// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/names.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::trace {
namespace {

TEST(Names, OfEachAbi) {
  EXPECT_EQ(abi_name(USC_ABI_X86_64), "x86_64");
  EXPECT_EQ(abi_name(USC_ABI_I386), "i386");
  EXPECT_EQ(abi_name(USC_ABI_X32), "x32");
  EXPECT_EQ(abi_name(3), "");
  EXPECT_EQ(abi_name(0xff), "");
}

TEST(Names, AnAbiIsFoundByItsName) {
  EXPECT_EQ(abi_of_name("x32"), USC_ABI_X32);
  EXPECT_EQ(abi_of_name("x86_64"), USC_ABI_X86_64);
  EXPECT_EQ(abi_of_name("arm64"), std::nullopt);
  EXPECT_EQ(abi_of_name(""), std::nullopt);
}

TEST(Names, OfEachEndOfAStack) {
  EXPECT_EQ(ended_name(USC_ENDED_ROOT), "root");
  EXPECT_EQ(ended_name(USC_ENDED_BUDGET), "budget");
  EXPECT_EQ(ended_name(USC_ENDED_SCOPE), "scope");
  EXPECT_EQ(ended_name(USC_ENDED_BROKEN), "broken:zero_ra");
  EXPECT_EQ(ended_name(USC_ENDED_BROKEN + int{USC_BROKEN_FRAME_POINTER}), "broken:frame_pointer");
  EXPECT_EQ(ended_name(USC_ENDED_BROKEN + 200), "broken:200");
}

// The keys of meta that a reader adds up: their names, and which of the reasons have one.
TEST(Names, OfEachReasonThatIsCounted) {
  std::vector<std::string_view> counted;
  for (std::uint32_t reason = 0; reason <= USC_DEFER_COUNT; reason++)
    if (const auto name = counted_defer_reason(reason); !name.empty()) counted.push_back(name);
  EXPECT_EQ(counted,
            (std::vector<std::string_view>{"no_table", "lock", "mappings", "register", "copied", "interrupted"}));
}

TEST(Names, OfEachSource) {
  EXPECT_EQ(source_name(USC_SOURCE_SYSCALL), "syscall");
  EXPECT_EQ(source_name(USC_SOURCE_LOGGED), "stap");
  EXPECT_EQ(source_name(USC_SOURCE_SIGNAL), "signal");
  EXPECT_EQ(source_name(USC_SOURCE_SAMPLE), "sample");
  EXPECT_EQ(source_name(USC_SOURCE_OFFCPU), "offcpu");
  EXPECT_EQ(source_name(USC_SOURCE_TRACEPOINT), "tracepoint");
  EXPECT_EQ(source_name(USC_SOURCE_USDT), "usdt");
  EXPECT_EQ(source_name(USC_SOURCE_UFUNCTION), "ufunction");
  EXPECT_EQ(source_name(USC_SOURCE_KFUNCTION), "kfunction");
  EXPECT_EQ(source_name(USC_SOURCE_COUNT), "");
}

TEST(Names, OfKindsThatHaveNone) {
  EXPECT_EQ(unnamed_kind(USC_SOURCE_SYSCALL, 400), "syscall_400");
  EXPECT_EQ(unnamed_kind(USC_SOURCE_LOGGED, 0x80000002), "logged_2147483650");
  EXPECT_EQ(unnamed_kind(USC_SOURCE_KFUNCTION, 3), "kfunction_3");
  EXPECT_EQ(unnamed_kind(USC_SOURCE_COUNT, 7), "unknown_7");
}

TEST(Names, OfEachWayToEnd) {
  EXPECT_EQ(how_name(USC_HOW_RETURNED), "returned");
  EXPECT_EQ(how_name(USC_HOW_OPEN), "open");
  EXPECT_EQ(how_name(USC_HOW_SENT), "sent");
  EXPECT_EQ(how_name(USC_HOW_DELIVERED), "delivered");
  EXPECT_EQ(how_name(USC_HOW_HIT), "hit");
  EXPECT_EQ(how_name(USC_HOW_COUNT), "");
}

TEST(Names, OfEachMode) {
  EXPECT_EQ(mode_name(0), "");
  EXPECT_EQ(mode_name(1), "app-last");
  EXPECT_EQ(mode_name(2), "app-all");
  EXPECT_EQ(mode_name(3), "all-last");
  EXPECT_EQ(mode_name(kModes), "all-all");
  EXPECT_EQ(mode_name(kModes + 1), "");
}

TEST(Names, OfEachFileState) {
  EXPECT_EQ(file_state_name(USC_FILE_READY), "kernel");
  EXPECT_EQ(file_state_name(USC_FILE_STATE_COUNT), "");
}

}  // namespace
}  // namespace uscope::trace
