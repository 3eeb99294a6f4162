// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sockets of this process, as the kernel lists them.
#include "tracer/waits/sockets.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

std::uint64_t inode_of(const UniqueFd& fd) {
  struct stat found {};
  EXPECT_EQ(fstat(fd.get(), &found), 0);
  return found.st_ino;
}

SocketFacts facts_of(const UniqueFd& fd) {
  const auto sockets = list_sockets();
  if (!sockets) return {};
  const auto found = sockets->find(inode_of(fd));
  EXPECT_NE(found, sockets->end());
  return found == sockets->end() ? SocketFacts{} : found->second;
}

class ListedSockets : public testing::Test {
 protected:
  void SetUp() override {
    if (!list_sockets()) GTEST_SKIP() << "this kernel does not list its sockets";
  }
};

TEST_F(ListedSockets, APair) {
  std::array<int, 2> made{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.data()), 0);
  UniqueFd first(made[0]);
  const UniqueFd second(made[1]);
  ASSERT_EQ(write(second.get(), "four", 4), 4);
  const SocketFacts facts = facts_of(first);
  EXPECT_TRUE(facts.is_unix);
  EXPECT_FALSE(facts.listens);
  EXPECT_EQ(facts.peer, inode_of(second));
  EXPECT_EQ(facts.queued, 4U);
  EXPECT_EQ(facts.address, "");
  EXPECT_EQ(facts_of(second).peer, inode_of(first));
  EXPECT_EQ(facts_of(second).queued, 0U);
  first.reset();
  EXPECT_EQ(facts_of(second).peer, 0U);
}

TEST_F(ListedSockets, AListenerWithAnAbstractName) {
  const std::string name = "uscope-sockets-test-" + std::to_string(getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(listen(listener.get(), 5), 0);
  const SocketFacts facts = facts_of(listener);
  EXPECT_TRUE(facts.listens);
  EXPECT_EQ(facts.address, "@" + name);
  EXPECT_EQ(facts.peer, 0U);
}

TEST_F(ListedSockets, AConnectionOfThisMachine) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 5), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  // Until it is accepted, the other end is nobody's.
  EXPECT_EQ(facts_of(client).peer, 0U);
  const UniqueFd server(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_EQ(write(client.get(), "12345", 5), 5);
  const SocketFacts facts = facts_of(server);
  EXPECT_FALSE(facts.is_unix);
  EXPECT_FALSE(facts.listens);
  EXPECT_EQ(facts.peer, inode_of(client));
  EXPECT_EQ(facts.queued, 5U);
  EXPECT_EQ(facts_of(client).peer, inode_of(server));
  EXPECT_TRUE(facts_of(listener).listens);
}

TEST(SocketLimits, AreThoseOfTheSocketAndOfTcp) {
  const auto limits_of = [](const UniqueFd& socket) {
    const auto limits = socket_limits(static_cast<std::uint32_t>(getpid()), socket.get());
    EXPECT_TRUE(limits);
    return std::pair(limits && limits->reads, limits && limits->writes);
  };
  const UniqueFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UniqueFd local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(limits_of(tcp), std::pair(false, false));
  EXPECT_EQ(limits_of(local), std::pair(false, false));
  const unsigned timeout_ms = 8000;
  ASSERT_EQ(setsockopt(tcp.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms)), 0);
  EXPECT_EQ(limits_of(tcp), std::pair(true, true));
  const timeval limit{8, 0};
  ASSERT_EQ(setsockopt(local.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
  EXPECT_EQ(limits_of(local), std::pair(true, false));
}

}  // namespace
}  // namespace uscope::tracer
