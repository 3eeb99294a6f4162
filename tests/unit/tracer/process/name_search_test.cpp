// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/name_search.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

using Near = std::vector<std::pair<std::string, std::uint32_t>>;

TEST(NameSearch, EveryNameOfAProcessCounts) {
  const ProcessNames redis{"redis-check-rdb", "redis-server", "/usr/bin/redis-server *:6379", ""};
  for (const char* name : {"redis-check-rdb", "redis-server"}) EXPECT_TRUE(redis.has(name)) << name;
  for (const char* name : {"redis", "", "*:6379", "/usr/bin/redis-server"}) EXPECT_FALSE(redis.has(name)) << name;
  const ProcessNames worker{"nginx", "nginx", "nginx: worker process", ""};
  EXPECT_TRUE(worker.has("nginx"));
  EXPECT_EQ(worker.all(), (std::vector<std::string>{"nginx", "nginx: worker process"}));
  const ProcessNames script{"python3.11", "serve.py", "/usr/bin/python3", "serve.py"};
  for (const char* name : {"python3.11", "python3", "serve.py"}) EXPECT_TRUE(script.has(name)) << name;
  const ProcessNames spaced{"app", "app", "/opt/My App/app", ""};
  EXPECT_TRUE(spaced.has("app"));
}

TEST(NameSearch, WhatHasEndedHasNoName) {
  EXPECT_EQ(ProcessNames().all(), std::vector<std::string>());
  EXPECT_FALSE(ProcessNames().has(""));
}

TEST(NameSearch, NamesThatNoProcessHasComeWithThoseThatAreLikeThem) {
  NameSearch search({"redis", "ngnix", "sshd", "nothing-like-it"});
  EXPECT_FALSE(search.take(12, {"redis-check-rdb", "redis-server", "/usr/bin/redis-server *:6379", ""}));
  EXPECT_FALSE(search.take(20, {"nginx", "nginx", "nginx: master process nginx", ""}));
  EXPECT_FALSE(search.take(21, {"nginx", "nginx", "nginx: worker process", ""}));
  EXPECT_TRUE(search.take(30, {"sshd", "sshd", "sshd: /usr/sbin/sshd -D", ""}));
  const std::vector<MissingName> missing = search.missing();
  ASSERT_EQ(missing.size(), 3U);
  EXPECT_EQ(missing[0].name, "redis");
  EXPECT_EQ(missing[0].near, (Near{{"redis-server", 12}}));
  EXPECT_EQ(missing[1].name, "ngnix");
  EXPECT_EQ(missing[1].near, (Near{{"nginx", 20}}));
  EXPECT_EQ(missing[2].near, Near());
}

TEST(NameSearch, AThreadsNameThatWasCutIsNotOffered) {
  NameSearch search({"a-long-server"});
  EXPECT_FALSE(search.take(7, {"worker", "a-long-server-o", "/srv/a-long-server-of-mine", ""}));
  const std::vector<MissingName> missing = search.missing();
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].near, (Near{{"a-long-server-of-mine", 7}}));
}

}  // namespace
}  // namespace uscope::tracer
