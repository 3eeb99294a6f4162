// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/files/failures.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace uscope::analyzer {
namespace {

using Failed = Failures::Failed;
using Names = std::vector<std::string>;

constexpr auto kProcess = ProcessRowId(1U);

Failed open_of(const std::string& name, std::int64_t event) {
  return {.process = kProcess, .call = "openat", .number = ENOENT, .name = name, .events = 1, .last_event = event};
}

Names object_names(const TopList<FailedLine>& list) {
  Names names;
  for (const FailedLine& line : list.lines) names.push_back(line.name.value_or("?"));
  return names;
}

TEST(Failures, OneNameInSeveralFoldersIsOneLine) {
  Failures failures;
  for (const char* folder : {"/lib/", "/usr/lib/", "/lib/"}) failures.add(open_of(std::string(folder) + "libzz.so", 1));
  const FailureList found = failures.finish(0);
  ASSERT_EQ(found.lines.lines.size(), 1U);
  const FailedLine& line = found.lines.lines[0];
  EXPECT_EQ(line.name, "libzz.so");
  EXPECT_EQ(line.error, "ENOENT");
  EXPECT_EQ(line.events, 3U);
  ASSERT_EQ(line.objects.size(), 2U);
  EXPECT_EQ(line.objects[0].name, "/lib/libzz.so");
  EXPECT_EQ(line.objects[0].events, 2U);
}

// By the same process, and later: who finds one file first, and then misses another one, has not searched.
TEST(Failures, SearchesThatEndedWellAreApart) {
  Failures failures;
  failures.add(open_of("/lib/libc.so.6", 1));
  failures.add(open_of("/home/x/config", 5));
  failures.add(open_of("/lib/libz.so", 2));
  failures.add(open_of("/run/lock", 3));
  failures.add_success(kProcess, "/usr/lib/libc.so.6", 4);
  failures.add_success(kProcess, "/etc/config", 4);
  failures.add_success(ProcessRowId(2U), "/usr/lib/libz.so", 4);
  failures.add_success(kProcess, "/run/lock", 4);  // it made it
  const FailureList found = failures.finish(0);
  EXPECT_EQ(object_names(found.lines), (Names{"/home/x/config", "/lib/libz.so", "/run/lock"}));
  EXPECT_EQ(object_names(found.searched), (Names{"/lib/libc.so.6"}));
  EXPECT_EQ(found.searched_events, 1U);
}

TEST(Failures, WhatStoppedAProgramComesFirst) {
  Failures failures;
  const auto add = [&](const std::string& name, std::int64_t event, auto&& change) {
    Failed failed = open_of(name, event);
    change(failed);
    failures.add(failed);
  };
  add("/often", 1, [](Failed& failed) { failed.events = 100; });
  add("/by-app", 2, [](Failed& failed) { failed.by_application = true; });
  add("/early", 3, [](Failed& failed) { failed.program_failed = true; });
  add("/last", 4, [](Failed& failed) { failed.program_failed = true; });
  add("/terminal", 6, [](Failed& failed) {
    failed.program_failed = true;
    failed.number = ENOTTY;
  });
  add("/argument", 2, [](Failed& failed) { failed.program_failed = failed.named_to_program = true; });
  add("/once", 5, [](Failed&) {});
  const FailureList all = failures.finish(0);
  EXPECT_EQ(object_names(all.lines),
            (Names{"/argument", "/last", "/early", "/by-app", "/often", "/once", "/terminal"}));
  const FailureList two = failures.finish(2);
  EXPECT_EQ(object_names(two.lines), (Names{"/argument", "/last"}));
  EXPECT_EQ(two.lines.total, 7U);
}

TEST(Failures, OnlyPathsHaveALastComponent) {
  EXPECT_EQ(last_component("/usr/lib/x86-64-v3/"), "x86-64-v3");
  EXPECT_EQ(last_component("/"), "/");
  EXPECT_EQ(last_component("socket:[to unix:/run/x]"), "socket:[to unix:/run/x]");
}

}  // namespace
}  // namespace uscope::analyzer
