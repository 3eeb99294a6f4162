// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For how long processes have run, by the kernel's account.
#include "tracer/process/cpu_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

namespace uscope::tracer {
namespace {

TEST(CpuTimes, AreReadWhateverTheNameIs) {
  const auto time = parse_cpu_time("12 (a) R 1 (b) S 1 12 12 0 -1 4194304 9 8 7 6 100 20 3 4 20 0 1 0 777 1 2");
  ASSERT_TRUE(time);
  EXPECT_EQ(*time, (ProcessCpuTime{120, 7, 777}));
  EXPECT_FALSE(parse_cpu_time(""));
  EXPECT_FALSE(parse_cpu_time("12 (a) S 1 12"));
}

TEST(CpuTimes, CountWhatRanBetweenTwoLooksAndNoMore) {
  const auto own_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  };
  CpuTimes times;
  const std::uint64_t before = own_ns();
  times.begin({static_cast<std::uint32_t>(getpid()), 0});
  while (own_ns() < before + 200'000'000) {
  }
  const std::uint64_t ran = times.ran_ns();
  EXPECT_LE(ran, own_ns() - before);
  EXPECT_GE(ran, 100'000'000U);
}

TEST(CpuTimes, OfAProcessThatIsGoneAreNone) {
  CpuTimes times;
  times.begin({4'194'305});  // beyond the largest number of a process
  EXPECT_EQ(times.ran_ns(), 0U);
  EXPECT_EQ(CpuTimes::of_command(4'194'305), 0U);
}

}  // namespace
}  // namespace uscope::tracer
