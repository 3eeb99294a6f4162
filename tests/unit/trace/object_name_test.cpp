// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/object_name.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/paths.h"

namespace uscope::trace {
namespace {

std::optional<std::string> name_of(std::string_view call, const std::optional<std::string>& folder,
                                   const std::optional<std::string>& name) {
  return object_name(address_relation(call), folder, name);
}

TEST(ObjectName, IsThePathOrTheSocketsName) {
  EXPECT_EQ(name_of("openat", "/srv", "a"), "/srv/a");
  EXPECT_EQ(name_of("newfstatat", "/srv/a", ""), "/srv/a");
  EXPECT_EQ(name_of("bind", std::nullopt, "unix:/run/x"), "socket:[at unix:/run/x]");
  EXPECT_EQ(name_of("sendto", std::nullopt, "inet:10.0.0.1:53"), "socket:[to inet:10.0.0.1:53]");
  EXPECT_EQ(name_of("connect", std::nullopt, "vsock:2:1234"), "socket:[to vsock:2:1234]");
  EXPECT_EQ(name_of("sendto", std::nullopt, "socket:[pair]"), "socket:[pair]");
  EXPECT_EQ(name_of("connect", std::nullopt, "[redacted]"), "[redacted]");
  EXPECT_EQ(name_of("open", std::nullopt, "inet:x"), "inet:x");
  EXPECT_EQ(name_of("read", std::nullopt, std::nullopt), std::nullopt);
}

std::string kind_named(std::string_view name, bool is_path = false) {
  return std::string(object_kind_name(object_kind(name, is_path)));
}

TEST(ObjectKind, FollowsFromTheName) {
  EXPECT_EQ(kind_named("/etc/passwd"), "file");
  EXPECT_EQ(kind_named("pipe:[4711]"), "pipe");
  EXPECT_EQ(kind_named("pipe"), "pipe");          // one that was made in the trace
  EXPECT_EQ(kind_named("pipe:x", true), "file");  // a file that is called so
  EXPECT_EQ(kind_named("socket:[to inet:127.0.0.1:80]"), "inet");
  EXPECT_EQ(kind_named("socket:[with inet6:[::1]:80]"), "inet6");
  EXPECT_EQ(kind_named("socket:[at unix:@a b]"), "unix");
  EXPECT_EQ(kind_named("socket:[pair]"), "unix");
  EXPECT_EQ(kind_named("socket:[netlink]"), "netlink");
  EXPECT_EQ(kind_named("socket:[packet]"), "packet");
  EXPECT_EQ(kind_named("socket:[to vsock:2:1234]"), "vsock");
  EXPECT_EQ(kind_named("inet:127.0.0.1:80"), "inet");
  EXPECT_EQ(kind_named("family 42:00"), "socket");
  for (const char* name : {"socket:[accepted]", "socket:[4711]", "socket:[bluetooth]", "socket:[family 42]",
                           "socket:[to family 42:0001]", "socket:[to address:00]"})
    EXPECT_EQ(kind_named(name), "socket") << name;
  EXPECT_EQ(kind_named("/memfd:x (deleted)"), "memfd");
  EXPECT_EQ(kind_named("/memory"), "file");
  EXPECT_EQ(kind_named("anon_inode:[eventfd]"), "eventfd");
  EXPECT_EQ(kind_named("anon_inode:[eventpoll]"), "epoll");
  EXPECT_EQ(kind_named("anon_inode:[timerfd]"), "timerfd");
  EXPECT_EQ(kind_named("anon_inode:[signalfd]"), "signalfd");
  EXPECT_EQ(kind_named("anon_inode:inotify"), "inotify");
  EXPECT_EQ(kind_named("anon_inode:[pidfd]"), "pidfd");
  EXPECT_EQ(kind_named("pidfd:[12]"), "pidfd");
  EXPECT_EQ(kind_named("anon_inode:bpf-map"), "anon_inode");
  EXPECT_EQ(kind_named("net:[4026531840]"), "other");
}

// The list is a promise.
TEST(ObjectKind, TheDocumentNamesEachOne) {
  std::ifstream file(std::string(paths::kSourceFolder) + "/docs/schema.md");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("| v_event | object_kind |")) continue;
  for (std::uint8_t kind = 0; kind < static_cast<std::uint8_t>(ObjectKind::kCount); kind++)
    EXPECT_NE(line.find("`" + std::string(object_kind_name(static_cast<ObjectKind>(kind))) + "`"), std::string::npos)
        << int{kind};
}

}  // namespace
}  // namespace uscope::trace
