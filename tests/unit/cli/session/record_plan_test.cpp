// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_plan.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace uscope::cli
