// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Go's function table in each of its layouts, and what is not one: cut off, damaged, absurd.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/symbolizer/go_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kLimit = 0x401140;
constexpr std::uint32_t kMagics[] = {kGo12Magic, kGo116Magic, kGo118Magic, kGo120Magic};

std::vector<MadeFunction> go_functions() {
  return {{0x401000, "main.(*T).Method", {{10, 0}, {0x50, 72}, {6, 0}}, 0},
          {0x401080, "runtime.goexit", {{9, 0}}, kGoTopFrame},
          {0x4010a0, "_rt0_amd64_linux", {}, 0},
          {0x4010c0, "main.main", {{4, 0}, {100, 1000000}, {2, -8}}, 0}};
}

std::vector<GoStretch> stretches_of(const GoPclntab& table, std::size_t number) {
  std::vector<GoStretch> found;
  std::uint64_t steps = table.most_steps();
  EXPECT_TRUE(table.stretches(table.functions()[number], found, steps));
  return found;
}

TEST(GoPclntab, EveryLayoutGivesTheSame) {
  for (const std::uint32_t magic : kMagics) {
    SCOPED_TRACE(magic);
    const auto table = GoPclntab::parse(TableMaker(magic, kText).make(go_functions(), kLimit), kExec, 0);
    ASSERT_TRUE(table);
    ASSERT_EQ(table->functions().size(), 4U);
    const GoFunction& method = table->functions()[0];
    EXPECT_EQ(method.name, "main.(*T).Method");
    EXPECT_EQ(method.start, 0x401000U);
    EXPECT_EQ(method.limit, 0x401080U);
    EXPECT_EQ(table->functions()[1].flags, magic == kGo12Magic ? 0 : kGoTopFrame);
    EXPECT_EQ(table->functions()[3].limit, kLimit);
    const auto stretches = stretches_of(*table, 0);
    ASSERT_EQ(stretches.size(), 3U);
    EXPECT_EQ(stretches[0].end, 0x40100aU);
    EXPECT_EQ(stretches[0].delta, 0);
    EXPECT_EQ(stretches[1].end, 0x40105aU);
    EXPECT_EQ(stretches[1].delta, 72);
    EXPECT_EQ(stretches[2].end, 0x401060U);
    EXPECT_EQ(stretches[2].delta, 0);
    const auto wide = stretches_of(*table, 3);
    ASSERT_EQ(wide.size(), 3U);
    EXPECT_EQ(wide[1].delta, 1000000);
    EXPECT_EQ(wide[2].delta, -8);
  }
}

TEST(GoPclntab, NamesCodeAndTheByteBeforeAFunctionButNoOtherPadding) {
  const auto table = GoPclntab::parse(TableMaker(kGo120Magic, kText).make(go_functions(), kLimit), kExec, 0);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->containing(0x401000)->name, "main.(*T).Method");
  EXPECT_EQ(table->containing(0x40105f)->name, "main.(*T).Method");
  EXPECT_EQ(table->containing(0x401060), nullptr);
  EXPECT_EQ(table->containing(0x40107e), nullptr);
  EXPECT_EQ(table->containing(0x40107f)->name, "runtime.goexit");
  EXPECT_EQ(table->containing(0x400ffe), nullptr);
  EXPECT_EQ(table->containing(0x4010a8), nullptr);  // a function of unknown size
  EXPECT_EQ(table->containing(UINT64_MAX), nullptr);
}

TEST(GoPclntab, TextStartByTheEntryPointWhereTheHeaderDoesNotSayIt) {
  auto bytes = TableMaker(kGo120Magic, kText).make(go_functions(), kLimit);
  std::memset(bytes.data() + 24, 0, 8);
  const auto table = GoPclntab::parse(bytes, kExec, 0x4010a0);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->functions()[0].start, 0x401000U);
  EXPECT_FALSE(GoPclntab::parse(bytes, kExec, 0));
}

TEST(GoPclntab, RefusesFunctionsOutsideTheCodeAndOutOfOrder) {
  auto outside = go_functions();
  outside[0].start = 0x300000;
  EXPECT_FALSE(GoPclntab::parse(TableMaker(kGo116Magic, kText).make(outside, kLimit), kExec, 0));
  auto disordered = go_functions();
  std::swap(disordered[0], disordered[1]);
  EXPECT_FALSE(GoPclntab::parse(TableMaker(kGo116Magic, kText).make(disordered, kLimit), kExec, 0));
}

TEST(GoPclntab, StepsThatLeaveTheFunctionAreRefused) {
  auto made = go_functions();
  made[0].steps = {{0x81, 0}};
  const auto table = GoPclntab::parse(TableMaker(kGo118Magic, kText).make(made, kLimit), kExec, 0);
  ASSERT_TRUE(table);
  std::vector<GoStretch> found;
  std::uint64_t steps = table->most_steps();
  EXPECT_FALSE(table->stretches(table->functions()[0], found, steps));
  EXPECT_FALSE(table->stretches(table->functions()[2], found, steps));  // says nothing
  steps = 1;
  EXPECT_FALSE(table->stretches(table->functions()[3], found, steps));  // more work than allowed
}

// All that can be asked of a table, which may be any bytes.
void use_table(const std::vector<std::uint8_t>& bytes) {
  const auto table = GoPclntab::parse(bytes, kExec, 0x4010a0);
  if (!table) return;
  std::vector<GoStretch> found;
  std::uint64_t steps = table->most_steps();
  for (const GoFunction& function : table->functions()) {
    if (table->stretches(function, found, steps)) {
      EXPECT_LE(found.back().end, function.limit);
    }
    EXPECT_LE(function.name.size(), 4096U);
  }
  for (std::uint64_t address = kText; address < kLimit; address += 7) {
    const GoFunction* named = table->containing(address);
    EXPECT_TRUE(named == nullptr || named->start <= address + 1);
  }
}

TEST(GoPclntab, TruncatedAtEachByteItIsRefusedOrSound) {
  for (const std::uint32_t magic : kMagics) {
    const auto whole = TableMaker(magic, kText).make(go_functions(), kLimit);
    // The last record of Go 1.2's layout ends with fields that are not read.
    for (std::size_t size = 0; size < whole.size(); size++) {
      const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      use_table(part);
      if (size + 40 < whole.size()) {
        EXPECT_FALSE(GoPclntab::parse(part, kExec, 0)) << size;
      }
    }
  }
}

TEST(GoPclntab, RandomDamageIsSurvived) {
  std::mt19937 random(1);
  for (const std::uint32_t magic : kMagics) {
    const auto whole = TableMaker(magic, kText).make(go_functions(), kLimit);
    for (int round = 0; round < 20000; round++) {
      auto damaged = whole;
      for (int i = 0; i < 1 + round % 4; i++)
        damaged[8 + random() % (damaged.size() - 8)] = static_cast<std::uint8_t>(round % 3 == 0 ? 0xff : random());
      use_table(damaged);
    }
  }
}

}  // namespace
}  // namespace uscope::symbolizer
