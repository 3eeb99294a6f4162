// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/settings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace uscope::analyzer {
namespace {

using trace::ProcessSetting;

ProcessSetting in_shell(std::uint32_t uid, std::string path, std::uint64_t files, std::vector<std::string> names) {
  ProcessSetting setting{.uid = uid, .gid = 0, .cwd = "/srv"};
  setting.limits["NOFILE"] = {files, 4096};
  setting.environment = std::move(names);
  setting.values["PATH"] = std::move(path);
  return setting;
}

RunFacts run_in(std::vector<ProcessSetting> settings) {
  RunFacts facts;
  facts.settings = std::move(settings);
  return facts;
}

std::string changes(const std::vector<RunFacts>& normal, const std::vector<RunFacts>& abnormal) {
  std::string all;
  for (const ChangedSetting& change : compare_settings(normal, abnormal)) {
    all += setting_name(change) + ":";
    for (const std::string& value : change.normal) all += " " + value;
    all += " ->";
    for (const std::string& value : change.abnormal) all += " " + value;
    all += "\n";
  }
  return all;
}

TEST(Settings, OfACronJob) {
  const auto shell = run_in({in_shell(1000, "/usr/bin:/bin:/opt/bin", 4096, {"HOME", "LANG", "PATH"})});
  const auto cron = run_in({in_shell(0, "/usr/bin:/bin", 1024, {"HOME", "LOGNAME", "PATH"})});
  EXPECT_EQ(changes({shell, shell}, {cron, cron}),
            "uid: 1000 -> 0\n"
            "variable PATH: /usr/bin:/bin:/opt/bin -> /usr/bin:/bin\n"
            "environment: LANG -> LOGNAME\n"
            "limit NOFILE: 4096 -> 1024 of 4096\n");
  EXPECT_EQ(changes({shell}, {shell}), "");
}

TEST(Settings, WhatRunsOfBothSidesShareIsNoDifference) {
  const auto one = run_in({in_shell(1, "/a", 100, {"A", "B", "PATH"})});
  const auto two = run_in({in_shell(2, "/b", 200, {"B", "PATH"})});
  const auto three = run_in({in_shell(3, "/c", 300, {"C", "PATH"})});
  EXPECT_EQ(changes({one, two}, {two, three}), "");
  EXPECT_EQ(
      changes({one, two}, {three}),
      "uid: 1 2 -> 3\nvariable PATH: /a /b -> /c\nenvironment: B -> C\nlimit NOFILE: 100 of 4096 200 of 4096 -> 300 "
      "of 4096\n");
}

TEST(Settings, OfSeveralProcessesAllCount) {
  const auto one = in_shell(1, "/a", 100, {"PATH"});
  const auto two = in_shell(2, "/a", 100, {"PATH"});
  EXPECT_EQ(changes({run_in({one, two})}, {run_in({two, one})}), "");
  EXPECT_EQ(changes({run_in({one, two})}, {run_in({one})}), "uid: 1, 2 -> 1\n");
}

TEST(Settings, WhatIsNotKnownIsNotCompared) {
  const auto known = run_in({in_shell(1, "/a", 100, {"A", "PATH"})});
  EXPECT_EQ(changes({known}, {run_in({})}), "");
  ProcessSetting bare{.uid = 2};  // with --no-strings
  EXPECT_EQ(changes({known}, {run_in({bare})}), "uid: 1 -> 2\n");
  // A value that was asked for in one recording only.
  auto asked = in_shell(1, "/a", 100, {"A", "PATH"});
  asked.values["A"] = "5";
  EXPECT_EQ(changes({known}, {run_in({asked})}), "");
  auto other = asked;
  other.values["A"] = "6";
  EXPECT_EQ(changes({run_in({asked})}, {run_in({other})}), "variable A: 5 -> 6\n");
}

// Folders of tests differ from run to run.
TEST(Settings, RandomPartsOfFoldersAreNoDifference) {
  auto one = in_shell(1, "/a", 100, {"PATH"});
  auto two = one;
  one.cwd = "/tmp/build.Xa93kQ";
  two.cwd = "/tmp/build.pL02vb";
  EXPECT_EQ(changes({run_in({one})}, {run_in({two})}), "");
}

}  // namespace
}  // namespace uscope::analyzer
