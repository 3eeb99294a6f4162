// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/name_search.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

using Near = std::vector<std::pair<std::string, std::uint32_t>>;

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
