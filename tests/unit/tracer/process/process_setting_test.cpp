// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/process_setting.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace uscope::tracer {
namespace {

using namespace std::string_view_literals;

using Names = std::vector<std::string>;

trace::ProcessSetting taken(std::string_view entries, const SettingChoice& choice = {}) {
  trace::ProcessSetting setting;
  add_environment(entries, choice, setting);
  return setting;
}

TEST(ProcessSetting, OfVariablesNamesAreKeptAndTheValueOfPath) {
  constexpr std::string_view kEntries = "TOKEN=secret\0PATH=/bin:/usr/bin\0LANG=C\0LANG=de\0LONG=1=2"sv;
  const auto setting = taken(kEntries);
  ASSERT_TRUE(setting.environment);
  EXPECT_EQ(*setting.environment, (Names{"LANG", "LONG", "PATH", "TOKEN"}));
  EXPECT_EQ(setting.values, (std::map<std::string, std::string>{{"PATH", "/bin:/usr/bin"}}));
  EXPECT_EQ(taken(kEntries, {.values = {"L*"}}).values.size(), 3U);
  EXPECT_EQ(taken(kEntries, {.values = {"L*"}}).values.at("LONG"), "1=2");
  EXPECT_FALSE(taken(kEntries, {.texts = false}).environment);
  EXPECT_TRUE(taken(kEntries, {.texts = false}).values.empty());
}

// A program that writes its title over its environment.
TEST(ProcessSetting, WhatIsNoNameIsNotKept) {
  EXPECT_EQ(*taken("worker: secret=5\0=x\0pass word=1\0\0NAME"sv).environment, Names{});
  EXPECT_EQ(*taken("9A=1\0A9=1\0a.b=2"sv).environment, Names{"A9"});
  EXPECT_EQ(*taken("").environment, Names{});
}

TEST(ProcessSetting, RedactedTextsAreHidden) {
  const SettingChoice choice{.values = {"URL"}, .redact = {"*/private*", "SECRET*"}};
  const auto setting = taken("PATH=/bin:/opt/private:/sbin\0URL=x/private\0SECRET_KEY=1"sv, choice);
  EXPECT_EQ(setting.values.at("PATH"), "[redacted]");  // the pattern matches the whole
  EXPECT_EQ(setting.values.at("URL"), "[redacted]");
  EXPECT_EQ(*setting.environment, (Names{"PATH", "URL"}));
  EXPECT_EQ(taken("PATH=/bin:/opt/private:/sbin", {.redact = {"/opt/private"}}).values.at("PATH"),
            "/bin:[redacted]:/sbin");
}

TEST(ProcessSetting, HugeEnvironmentsAreCut) {
  std::string entries;
  for (int i = 0; i < 3000; i++) entries += "V" + std::to_string(i) + "=1" + std::string(1, '\0');
  entries += "PATH=" + std::string(10'000, 'x');
  const auto setting = taken(entries, {.values = {"V*"}});
  std::size_t bytes = 0;
  for (const std::string& name : *setting.environment) bytes += name.size();
  EXPECT_LE(bytes, kMostSettingBytes);
  EXPECT_GT(bytes, kMostSettingBytes - 10);
}

TEST(ProcessSetting, OwnAndReadAreTheSame) {
  std::array<char*, 2> environment{const_cast<char*>("PATH=/bin"), nullptr};
  const auto own = setting_for_command({}, environment.data());
  const auto read = setting_of(static_cast<std::uint32_t>(getpid()), {});
  ASSERT_TRUE(read);
  EXPECT_EQ(own.uid, geteuid());
  EXPECT_EQ(own.uid, read->uid);
  EXPECT_EQ(own.gid, read->gid);
  EXPECT_EQ(own.cwd, read->cwd);
  EXPECT_EQ(own.limits, read->limits);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  EXPECT_EQ(own.limits.at("NOFILE"), (std::pair<std::uint64_t, std::uint64_t>{files.rlim_cur, files.rlim_max}));
  EXPECT_NE(environment_bytes_of(static_cast<std::uint32_t>(getpid())).find("PATH="), std::string::npos);
  EXPECT_FALSE(setting_of(0x7fffffff, {}));
}

TEST(ProcessSetting, RootsHaveNoParentAmongThem) {
  const auto self = static_cast<std::uint32_t>(getpid());
  const auto parent = static_cast<std::uint32_t>(getppid());
  EXPECT_EQ(roots_of({self}), std::vector{self});
  EXPECT_EQ(roots_of({self, parent}), std::vector{parent});
}

}  // namespace
}  // namespace uscope::tracer
