// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/jit_records.h"

#include <gtest/gtest.h>

#include "tests/unit/trace/memory_sink.h"

namespace uscope::tracer {
namespace {

TEST(JitRecords, ANameIsWrittenWithItsAddressAndCode) {
  JitNews::Name name;
  name.mm = trace::MmId(5);
  name.entry.address = 0x1010;
  name.entry.start = 0x1000;
  name.entry.size = 0x40;
  name.entry.name = "LazyCompile:~f";
  MemorySink sink;
  ASSERT_TRUE(write_jit_name(sink, name, 99));
  std::vector<std::string> tails;
  const auto records = sink.all<usc_jit_name>(&tails);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].head.time, 99U);
  EXPECT_EQ(records[0].mm, 5U);
  EXPECT_EQ(records[0].address, 0x1010U);
  EXPECT_EQ(records[0].start, 0x1000U);
  EXPECT_EQ(records[0].size, 0x40U);
  EXPECT_EQ(tails[0].substr(0, records[0].name_bytes), "LazyCompile:~f");
}

}  // namespace
}  // namespace uscope::tracer
