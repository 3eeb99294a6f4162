// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/kept_copies.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace uscope {
namespace {

UniqueFd file_of(const std::string& content) {
  UniqueFd fd(memfd_create("content", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  return fd;
}

std::string content_of(const KeptCopy& copy) {
  const UniqueFd fd = copy.open();
  struct stat status {};
  EXPECT_EQ(fstat(fd.get(), &status), 0);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  EXPECT_EQ(pread(fd.get(), content.data(), content.size(), 0), status.st_size);
  return content;
}

TEST(KeptCopies, EachKeepsWhatTheFileHeld) {
  KeptCopies copies;
  const std::string large(3'000'001, 'x');
  UniqueFd first = file_of("first");
  const auto one = copies.add(first.get());
  const auto two = copies.add(file_of(large).get());
  ASSERT_TRUE(one && two);
  ASSERT_EQ(pwrite(first.get(), "other", 5, 0), 5);
  first.reset();
  EXPECT_EQ(content_of(*one), "first");
  EXPECT_EQ(content_of(*two), large);
  EXPECT_EQ(one->all(), two->all());
}

TEST(KeptCopies, HasBounds) {
  KeptCopies copies({}, {.of_one = 8192, .in_memory = 16384});
  EXPECT_FALSE(copies.add(file_of("").get()));
  EXPECT_FALSE(copies.add(file_of(std::string(8193, 'x')).get()));
  EXPECT_TRUE(copies.add(file_of(std::string(8192, 'x')).get()));
  EXPECT_TRUE(copies.add(file_of(std::string(4097, 'x')).get()));
  EXPECT_FALSE(copies.add(file_of("y").get()));
}

TEST(KeptCopies, WhatCannotBeReadTakesNoRoom) {
  KeptCopies copies({}, {.of_one = 4096, .in_memory = 4096});
  const UniqueFd sealed(memfd_create("write only", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(sealed.get(), 100), 0);
  const UniqueFd unreadable(::open(("/proc/self/fd/" + std::to_string(sealed.get())).c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(copies.add(unreadable.get()));
  EXPECT_TRUE(copies.add(file_of("readable").get()));
}

TEST(KeptCopies, AreBegunOnceAndOnlyIfThereIsOne) {
  int begun = 0;
  KeptCopies copies([&]() -> Result<UniqueFd> {
    begun++;
    return Error{"no room", ""};
  });
  EXPECT_EQ(begun, 0);
  EXPECT_FALSE(copies.add(file_of("one").get()));
  EXPECT_FALSE(copies.add(file_of("two").get()));
  EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace uscope
