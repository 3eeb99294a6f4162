// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/process_setting.h"

#include <gtest/gtest.h>

namespace uscope::trace {
namespace {

TEST(ProcessSetting, IsReadAsItWasWritten) {
  ProcessSetting one{.pid = 7, .uid = 33, .gid = 0, .cwd = "/srv/\xff", .limits = {{"NOFILE", {20, 4096}}}};
  one.limits["CORE"] = {0, ProcessSetting::kUnlimited};
  one.environment = std::vector<std::string>{"LANG", "PATH"};
  one.values["PATH"] = "/bin\x1b";
  const auto read = settings_of(settings_text({one, {}}));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].pid, 7U);
  EXPECT_EQ(read[0].uid, 33U);
  EXPECT_EQ(read[0].gid, 0U);
  EXPECT_EQ(read[0].cwd, "/srv/\\xff");
  EXPECT_EQ(read[0].limits, one.limits);
  EXPECT_EQ(read[0].environment, one.environment);
  EXPECT_EQ(read[0].values.at("PATH"), "/bin\x1b");
  EXPECT_EQ(read[1].pid, 0U);
  EXPECT_FALSE(read[1].uid);
  EXPECT_FALSE(read[1].cwd);
  EXPECT_FALSE(read[1].environment);
}

TEST(ProcessSetting, OfOtherTextsNothingIsTaken) {
  for (const char* text : {"", "7", "{}", "[7, \"x\", null]", "[", "[[]]"})
    EXPECT_TRUE(settings_of(text).empty()) << text;
  const auto odd =
      settings_of(R"([{"uid": "root", "cwd": 5, "limits": {"A": [1], "B": ["x", 2]}, "environment": [1, "A"],
                                    "values": {"P": 1, "Q": "r"}, "gid": -1}])");
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_FALSE(odd[0].uid);
  EXPECT_FALSE(odd[0].gid);
  EXPECT_FALSE(odd[0].cwd);
  EXPECT_EQ(odd[0].limits.size(), 1U);
  EXPECT_EQ(odd[0].environment, (std::vector<std::string>{"A"}));
  EXPECT_EQ(odd[0].values.size(), 1U);
}

}  // namespace
}  // namespace uscope::trace
