// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "syscalls/structures.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {
namespace {

TEST(RecordPlan, ContentsHaveLargerRings) {
  RecordVerbOptions options;
  options.command = {"true"};
  const auto plain = recorder_options(options);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->config.data_bytes, 0U);
  options.data_bytes = 4096;
  const auto contents = recorder_options(options);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->config.data_bytes, 4096U);
  EXPECT_EQ(contents->sizes.ring_bytes, 4 * plain->sizes.ring_bytes);
}

// All words of sizes have a place.
TEST(RecordPlan, SizesOfStructures) {
  RecordVerbOptions options;
  options.command = {"true"};
  const auto plan = recorder_options(options);
  ASSERT_TRUE(plan) << plan.error().what;
  const usc_config& config = plan->config;
  for (std::uint32_t nr = 0; nr < USC_SYSCALL_BITS; nr++) {
    EXPECT_EQ(config.structures[config.structures_of[USC_CALLS_NATIVE][nr]],
              syscalls::syscall_structures(USC_ABI_X86_64, nr))
        << nr;
    EXPECT_EQ(config.structures[config.structures_of[USC_CALLS_COMPAT][nr]],
              syscalls::syscall_structures(USC_ABI_I386, nr))
        << nr;
  }
}

TEST(RecordPlan, TargetsBecomeProbes) {
  RecordVerbOptions options;
  options.command = {"/bin/true"};
  options.quiet = true;
  options.calls = "none";
  EXPECT_EQ(recorder_options(options).error().what, "-e none leaves nothing to record");
  options.targets = {"sample:50", "ufunction:libc.so.6:getpid"};
  const auto plan = recorder_options(options);
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->config.calls[USC_CALLS_NATIVE][0], 0U);
  EXPECT_EQ(plan->probes.sample_hz, 50U);
  ASSERT_EQ(plan->probes.probes.size(), 1U);
  EXPECT_EQ(plan->probes.probes[0].name, "libc.so.6:getpid");
  EXPECT_EQ(plan->probes.probes[0].kind, 1U);
  const std::pair<std::string, std::string> meta{"targets", R"(["sample:50","ufunction:libc.so.6:getpid"])"};
  EXPECT_NE(std::find(plan->meta.begin(), plan->meta.end(), meta), plan->meta.end());

  options.targets = {"ufunction:libc.so.6:getpidd"};
  EXPECT_TRUE(recorder_options(options).error().remedy.starts_with("did you mean getpid")) << "near names";
  options.targets = {"kfunction:vfs_read"};
  EXPECT_TRUE(recorder_options(options).error().what.starts_with("kfunction:vfs_read cannot be traced"));
  options.targets = {"ufunction:libc.so.6:*"};
  EXPECT_NE(recorder_options(options).error().remedy.find("--all-matches"), std::string::npos);
  options.all_matches = true;
  EXPECT_GT(recorder_options(options)->probes.probes.size(), 1000U);
}

}  // namespace
}  // namespace uscope::cli
