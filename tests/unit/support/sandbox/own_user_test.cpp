// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/own_user.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace uscope {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 32;
constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;
const std::vector<IdRange> kEverything{{0, kAll}};

TEST(OwnUser, AMapHasNumbersInsideAndOutside) {
  const IdMap map = parse_id_map("         0     100000      65536\n     65536    1000   1\n");
  EXPECT_EQ(map.inside, (std::vector<IdRange>{{0, 65536}, {65536, 65537}}));
  EXPECT_EQ(map.outside, (std::vector<IdRange>{{100000, 165536}, {1000, 1001}}));
  EXPECT_TRUE(parse_id_map("").inside.empty());
}

TEST(OwnUser, AStatusHasEachNumberOfAProcess) {
  EXPECT_EQ(ids_in_status("Name:\tUid: 7\nTgid:\t9\nUid:\t1\t2\t3\t4\nGid:\t5\t5\t5\t5\nGroups:\t4 27 \nNStgid:\t9\n"),
            (std::vector<IdRange>{{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {5, 6}, {5, 6}, {5, 6}, {4, 5}, {27, 28}}));
}

TEST(OwnUser, RangesOfContainersAreTaken) {
  EXPECT_EQ(ids_given_away("joe:100000:65536\n# a line without numbers\nann:3000000000:10\n"),
            (std::vector<IdRange>{{100000, 165536}, {3000000000, 3000000010}}));
}

TEST(OwnUser, TheUpperHalfComesFirst) {
  EXPECT_EQ(free_ids(kEverything, {}), (std::vector<IdRange>{{kHalf, kAll - 65536}}));
  EXPECT_EQ(free_ids(kEverything, {{kHalf + 5, kHalf + 6}, {kHalf + 6, kAll}}),
            (std::vector<IdRange>{{kHalf, kHalf + 5}}));
}

TEST(OwnUser, WithoutItTheNextBestAreTaken) {
  EXPECT_EQ(free_ids({{0, 70000}}, {{65000, 66000}}), (std::vector<IdRange>{{66000, 70000}}));
  EXPECT_EQ(free_ids({{0, 65536}}, {{0, 3}, {10, 65534}}), (std::vector<IdRange>{{3, 10}}));
  EXPECT_TRUE(free_ids({{0, 1}}, {}).empty());  // only root
  EXPECT_TRUE(free_ids({}, {}).empty());
}

TEST(OwnUser, TwoDrawsDiffer) {
  const auto one = draw_own_user();
  const auto other = draw_own_user();
  ASSERT_TRUE(one) << one.error().what;
  ASSERT_TRUE(other);
  EXPECT_NE(*one, *other);
  EXPECT_NE(*one, 65534U);
  EXPECT_NE(*one, geteuid());
}

// Draws while a process is in a user namespace that has these numbers; nothing where none can be made.
std::vector<Result<std::uint32_t>> draws_beside(const std::string& map) {
  std::array<int, 2> made{};
  if (pipe2(made.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER) == 0 && write(made[1], "x", 1) == 1) pause();
    _exit(1);
  }
  close(made[1]);
  char byte = 0;
  std::vector<Result<std::uint32_t>> draws;
  if (read(made[0], &byte, 1) == 1) {
    for (const char* file : {"uid_map", "gid_map"}) std::ofstream("/proc/" + std::to_string(child) + "/" + file) << map;
    for (int i = 0; i < 8; i++) draws.push_back(draw_own_user());
  }
  close(made[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return draws;
}

TEST(OwnUser, NumbersOfOtherUserNamespacesAreTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "maps of user namespaces are root's to write";
  const auto draws = draws_beside("0 2147483648 2147418112");  // all of the upper half
  if (draws.empty()) GTEST_SKIP() << "no user namespace can be made here";
  for (const auto& user : draws) {
    ASSERT_TRUE(user) << user.error().what;
    EXPECT_LT(*user, std::uint32_t{1} << 31);
  }
}

// Root's among them, in one line or in two, as systemd writes it: such a process can be anybody in any case.
TEST(OwnUser, ANamespaceOfAllNumbersTakesNone) {
  if (geteuid() != 0) GTEST_SKIP() << "maps of user namespaces are root's to write";
  for (const char* map : {"0 0 4294967295", "0 0 1\n1 1 4294967294", "5 0 7\n12 7 4294967288"})
    for (const auto& user : draws_beside(map)) EXPECT_TRUE(user) << map << ": " << user.error().what;
}

}  // namespace
}  // namespace uscope
