// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace uscope {
namespace {

template <typename Address>
std::string address_text(const Address& address, std::size_t bytes = sizeof(Address)) {
  return socket_address_text({reinterpret_cast<const char*>(&address), bytes});
}

TEST(SocketAddress, OfTheInternet) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(8080);
  in.sin_addr.s_addr = htonl(0x01020304);
  EXPECT_EQ(address_text(in), "inet:1.2.3.4:8080");
  EXPECT_EQ(address_text(in, 7), "family 2:1f90010203");  // cut off
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(443);
  inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
  EXPECT_EQ(address_text(in6, 24), "inet6:[fe80::1]:443");
  in6.sin6_scope_id = 3;
  EXPECT_EQ(address_text(in6), "inet6:[fe80::1%3]:443");
}

TEST(SocketAddress, OfUnix) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  EXPECT_EQ(address_text(un, 2), "unix:");
  std::copy_n("/run/a", 7, un.sun_path);
  EXPECT_EQ(address_text(un), "unix:/run/a");
  EXPECT_EQ(address_text(un, 6), "unix:/run");
  std::copy_n("\0ab\0c", 5, un.sun_path);
  EXPECT_EQ(address_text(un, 7), std::string("unix:@ab\0c", 10));
}

TEST(SocketAddress, OfOtherFamiliesAndOfNone) {
  sockaddr_nl netlink{};
  netlink.nl_family = AF_NETLINK;
  netlink.nl_pid = 12;
  netlink.nl_groups = 5;
  EXPECT_EQ(address_text(netlink), "netlink:pid=12 groups=0x5");
  EXPECT_EQ(socket_address_text(std::string_view("\x2a\0\x01\x02", 4)), "family 42:0102");
  EXPECT_EQ(socket_address_text("\x02"), "address:02");
  EXPECT_EQ(socket_address_text(""), "address:");
}

}  // namespace
}  // namespace uscope
