// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/passed_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

namespace uscope::trace {
namespace {

constexpr std::uint32_t kDisk = 0xef53;
constexpr std::uint32_t kMemory = 0x01021994;
constexpr std::uint32_t kAnonymous = 0x09041934;
constexpr std::uint32_t kPipes = 0x50495045;

std::string passed_bytes(std::uint32_t filesystem, std::uint32_t mode, std::uint32_t links, const std::string& path,
                         bool truncated = false) {
  usc_passed passed{};
  passed.dev = 0x800001;
  passed.ino = 4711;
  passed.fd = 5;
  passed.mode = mode;
  passed.filesystem = filesystem;
  passed.links = links;
  passed.truncated = truncated ? 1 : 0;
  passed.path_bytes = static_cast<decltype(passed.path_bytes)>(path.size());
  std::string out(sizeof(passed), '\0');
  std::memcpy(out.data(), &passed, sizeof(passed));
  return out + path;
}

// Components as the kernel side has them, innermost first.
std::string components(std::initializer_list<const char*> names) {
  std::string out;
  for (const char* name : names) out += std::string(name) + '\0';
  return out;
}

TEST(PassedFile, PathIsPutTogether) {
  const PassedFile file = passed_file(passed_bytes(kDisk, S_IFREG, 1, components({"hostname", "etc"})));
  EXPECT_EQ(file.name, "/etc/hostname");
  EXPECT_EQ(file.fd, 5);
  EXPECT_EQ(file.ino, 4711U);
  EXPECT_FALSE(file.is_socket);
  EXPECT_EQ(passed_file(passed_bytes(kDisk, S_IFREG, 1, components({"c", "b"}), true)).name, "…/b/c");
  EXPECT_EQ(passed_file(passed_bytes(kDisk, S_IFREG, 0, components({"gone", "tmp"}))).name, "/tmp/gone (deleted)");
  EXPECT_EQ(passed_file(passed_bytes(kDisk, S_IFDIR, 20, "")).name, "/");
}

// A pidfd may be passed by a program, or put into the message by the kernel.
TEST(PassedFile, WhatTheKernelPutsThere) {
  std::string bytes = passed_bytes(0x50494446, S_IFREG, 1, "");
  EXPECT_EQ(passed_file(bytes).name, "anon_inode:[pidfd]");
  EXPECT_FALSE(passed_file(bytes).is_pidfd);
  constexpr std::uint32_t kScmPidfd = 4;
  std::memcpy(bytes.data() + offsetof(usc_passed, type), &kScmPidfd, sizeof(kScmPidfd));
  const PassedFile file = passed_file(bytes);
  EXPECT_TRUE(file.is_pidfd);
  EXPECT_TRUE(passed_file(passed_numbers(file)).is_pidfd);
}

TEST(PassedFile, BothBackendsNameWhatIsInNoFolderAlike) {
  for (const char* name : {"[eventfd] (deleted)", "anon_inode:[eventfd]"}) {
    const PassedFile file = passed_file(passed_bytes(kAnonymous, 0600, 1, components({name})));
    EXPECT_EQ(file.name, "anon_inode:[eventfd]") << name;
    EXPECT_TRUE(file.is_anonymous);
  }
  EXPECT_EQ(passed_file(passed_bytes(kMemory, S_IFREG, 0, components({"memfd:code (deleted)"}))).name,
            "/memfd:code (deleted)");
  for (const char* name : {" (deleted)", "pipe:[4711]"})
    EXPECT_EQ(passed_file(passed_bytes(kPipes, S_IFIFO, 1, components({name}))).name, "pipe:[4711]");
  for (const char* name : {" (deleted)", "socket:[4711]"}) {
    const PassedFile file = passed_file(passed_bytes(0x534f434b, S_IFSOCK | 0777, 1, components({name})));
    EXPECT_EQ(file.name, "socket:[4711]");
    EXPECT_TRUE(file.is_socket);
  }
}

TEST(PassedFile, NumbersKeepWhatTheLoaderNeeds) {
  PassedFile file = passed_file(passed_bytes(kAnonymous, S_IFREG, 1, components({"[eventfd]"})));
  file.fd = -1;
  const PassedFile again = passed_file(passed_numbers(file));
  EXPECT_EQ(again.fd, -1);
  EXPECT_EQ(again.ino, file.ino);
  EXPECT_EQ(again.dev, file.dev);
  EXPECT_TRUE(again.is_anonymous);
  EXPECT_FALSE(again.is_socket);
}

TEST(PassedFile, BytesAreNotTrusted) {
  EXPECT_EQ(passed_file("short").fd, -1);
  std::string bytes = passed_bytes(kDisk, S_IFREG, 1, components({"a"}));
  const std::uint16_t more = 60000;
  std::memcpy(bytes.data() + offsetof(usc_passed, path_bytes), &more, sizeof(more));
  EXPECT_EQ(passed_file(bytes).name, "/a");
  EXPECT_EQ(passed_file(without_path(bytes)).name, "");
  EXPECT_EQ(passed_file(without_path(bytes)).ino, 4711U);
}

}  // namespace
}  // namespace uscope::trace
