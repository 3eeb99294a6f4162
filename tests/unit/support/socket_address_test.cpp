// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

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

TEST(SocketAddress, OfAPaddedName) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path + 1, "a\0b", 3);
  EXPECT_EQ(address_text(un), std::string("unix:@a\0b", 9));  // all of the structure was passed
  EXPECT_EQ(address_text(un, sizeof(sa_family_t) + 5), std::string("unix:@a\0b\0", 10));
}

TEST(SocketAddress, OfVsock) {
  sockaddr_vm vm{};
  vm.svm_family = AF_VSOCK;
  vm.svm_port = 1234;
  vm.svm_cid = 2;
  EXPECT_EQ(address_text(vm), "vsock:2:1234");
  vm.svm_cid = VMADDR_CID_ANY;
  EXPECT_EQ(address_text(vm), "vsock:any:1234");
  EXPECT_EQ(socket_family_name(AF_PACKET), "packet");
  EXPECT_EQ(socket_family_name(77), "family 77");
}

TEST(SocketAddress, ThatNamesNobody) {
  for (const char* text :
       {"inet:0.0.0.0:0", "inet6:[::]:0", "unix:", "family 40:00", "address:", "", "netlink:pid=0 groups=0x1"})
    EXPECT_TRUE(is_no_address(text)) << text;
  for (const char* text : {"inet:127.0.0.1:80", "unix:@x", "unix:/run/x", "vsock:any:1", "netlink:pid=7 groups=0"})
    EXPECT_FALSE(is_no_address(text)) << text;
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
