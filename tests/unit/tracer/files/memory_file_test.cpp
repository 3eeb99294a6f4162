// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/memory_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace uscope::tracer {
namespace {

constexpr off_t kMebibyte = 1 << 20;

// Begins as an ELF file, has `end` at its end, and a hole between.
UniqueFd sparse_file(off_t bytes, const std::string& end) {
  UniqueFd fd(memfd_create("sparse", MFD_CLOEXEC));
  const std::string begin =
      "\x7f"
      "ELF";
  EXPECT_EQ(ftruncate(fd.get(), bytes), 0);
  EXPECT_EQ(pwrite(fd.get(), begin.data(), begin.size(), 0), 4);
  EXPECT_EQ(pwrite(fd.get(), end.data(), end.size(), bytes - static_cast<off_t>(end.size())),
            static_cast<ssize_t>(end.size()));
  return fd;
}

struct stat status_of(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status;
}

TEST(MemoryFile, HolesTakeNoMemoryInACopy) {
  const UniqueFd file = sparse_file(8 * kMebibyte, "the end");
  CopyRoom room(2 * 4096);
  const ElfCopy copy = copy_elf_file(file.get(), room);
  ASSERT_TRUE(copy.fd);
  EXPECT_EQ(status_of(copy.fd.get()).st_size, 8 * kMebibyte);
  EXPECT_EQ(status_of(copy.fd.get()).st_blocks, 2 * 4096 / 512);
  std::string end(8, 'x');
  EXPECT_EQ(pread(copy.fd.get(), end.data(), end.size(), 8 * kMebibyte - 8), 8);
  EXPECT_EQ(end, std::string("\0the end", 8));
  EXPECT_EQ(pread(copy.fd.get(), end.data(), 4, 0), 4);
  EXPECT_EQ(end.substr(0, 4),
            "\x7f"
            "ELF");
}

TEST(MemoryFile, AHoleAtTheEndIsCopied) {
  const UniqueFd file = sparse_file(kMebibyte, "");
  CopyRoom room(kMebibyte);
  const ElfCopy copy = copy_elf_file(file.get(), room);
  ASSERT_TRUE(copy.fd);
  EXPECT_EQ(status_of(copy.fd.get()).st_size, kMebibyte);
}

TEST(MemoryFile, CopiesTakeNoMoreThanTheirRoom) {
  const UniqueFd file = sparse_file(2 * kMebibyte, std::string(2 * kMebibyte - 4, 'x'));
  CopyRoom room(5 * kMebibyte);
  ElfCopy first = copy_elf_file(file.get(), room);
  const ElfCopy second = copy_elf_file(file.get(), room);
  EXPECT_TRUE(first.fd && second.fd);
  EXPECT_FALSE(copy_elf_file(file.get(), room).fd);
  first = {};
  EXPECT_TRUE(copy_elf_file(file.get(), room).fd);
  const UniqueFd large = sparse_file(17 * kMebibyte, "");
  EXPECT_FALSE(copy_elf_file(large.get(), room).fd);
}

}  // namespace
}  // namespace uscope::tracer
