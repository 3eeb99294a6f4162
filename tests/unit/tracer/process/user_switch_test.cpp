// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/user_switch.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace uscope::tracer {
namespace {

const UserIds kUser{1000, 100, "joe", "/home/joe", "/bin/zsh"};
constexpr std::array<const char*, 9> kBefore{"HOME=/root",     "SECRET=hunter2",   "TERM=xterm",
                                             "LC_ALL=C.UTF-8", "TERMCAP=anything", "PATH=/root/bin",
                                             "USER=root",      "no equals sign",   nullptr};

std::set<std::string> environment(bool keep) {
  const auto all = environment_of(kUser, kBefore.data(), keep);
  return {all.begin(), all.end()};
}

TEST(UserSwitch, TheEnvironmentIsThatOfALogin) {
  EXPECT_EQ(environment(false),
            (std::set<std::string>{"HOME=/home/joe", "SHELL=/bin/zsh", "USER=joe", "LOGNAME=joe", "TERM=xterm",
                                   "LC_ALL=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin"}));
}

TEST(UserSwitch, WhatIsKeptIsKeptButForTheUser) {
  EXPECT_EQ(environment(true), (std::set<std::string>{"HOME=/home/joe", "SHELL=/bin/zsh", "USER=joe", "LOGNAME=joe",
                                                      "SECRET=hunter2", "TERM=xterm", "LC_ALL=C.UTF-8",
                                                      "TERMCAP=anything", "PATH=/root/bin", "no equals sign"}));
}

TEST(UserSwitch, RootHasAPathOfItsOwn) {
  const auto root = look_up_user("0");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "root");
  EXPECT_EQ(environment_of(*root, kBefore.data(), false).back(),
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
}

}  // namespace
}  // namespace uscope::tracer
