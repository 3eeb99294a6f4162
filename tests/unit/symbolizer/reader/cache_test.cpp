// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The row cache: what comes back is what was built, and nothing damaged, foreign or unsafe is ever believed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include "symbolizer/reader/row_cache.h"
#include "tests/support/system_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

class Cache : public testing::Test {
 protected:
  UnwindTable get(RowCache& cache, const char* path) {
    const UniqueFd fd = open_to_read(path);
    auto table = cache.get(fd.get(), path);
    EXPECT_TRUE(table) << table.error().what;
    return table ? **table : UnwindTable{};
  }

  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> found;
    for (const auto& item : std::filesystem::directory_iterator(folder_)) found.push_back(item.path());
    return found;
  }

  const test::TemporaryFolder made_;
  const std::string top_ = made_.path();
  const std::string folder_ = top_ + "/cache";
};

void expect_same_table(const UnwindTable& a, const UnwindTable& b) {
  ASSERT_EQ(a.rows.size(), b.rows.size());
  ASSERT_EQ(a.rules.size(), b.rules.size());
  EXPECT_EQ(std::memcmp(a.rows.data(), b.rows.data(), a.rows.size() * sizeof(usc_row)), 0);
  EXPECT_EQ(std::memcmp(a.rules.data(), b.rules.data(), a.rules.size() * sizeof(usc_rule)), 0);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.text_start, b.text_start);
  EXPECT_EQ(a.text_end, b.text_end);
  EXPECT_EQ(a.stats.fdes, b.stats.fdes);
  EXPECT_EQ(a.stats.rows_before_merging, b.stats.rows_before_merging);
}

TEST_F(Cache, GivesBackWhatWasBuilt) {
  const UniqueFd fd = open_to_read(kLibc);
  auto built = build_rows(fd.get(), kLibc);
  ASSERT_TRUE(built);
  RowCache first(folder_);
  EXPECT_EQ(first.trouble(), "");
  expect_same_table(get(first, kLibc), *built);
  EXPECT_EQ(first.stats().built, 1u);
  EXPECT_EQ(first.stats().hits, 0u);
  RowCache second(folder_);
  expect_same_table(get(second, kLibc), *built);
  EXPECT_EQ(second.stats().built, 0u);
  EXPECT_EQ(second.stats().hits, 1u);
  expect_same_table(get(second, kLoader), get(second, kLoader));
  EXPECT_EQ(second.stats().hits, 2u);
  EXPECT_EQ(entries().size(), 2u);
}

// What one user's file has its reader say must not be found for another user's.
TEST_F(Cache, SharesRowsAmongFilesOfOneOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  RowCache cache(folder_);
  const auto copy = [&](const char* name, unsigned owner, unsigned mode) {
    std::filesystem::copy_file(kLoader, top_ + "/" + name);
    EXPECT_EQ(chown((top_ + "/" + name).c_str(), owner, owner), 0);
    EXPECT_EQ(chmod((top_ + "/" + name).c_str(), mode), 0);
    const UniqueFd fd = open_to_read(top_ + "/" + name);
    auto table = cache.get(fd.get(), name);
    EXPECT_TRUE(table);
    return table ? *table : nullptr;
  };
  const auto first = copy("first", 0, 0755);
  EXPECT_EQ(copy("second", 0, 0700), first);
  const auto users = copy("users", 1234, 0755);
  EXPECT_NE(users, first);
  expect_same_table(*users, *first);
  EXPECT_EQ(copy("users-other", 1234, 0755), users);
  const auto shared = copy("shared", 0, 0775);
  EXPECT_NE(shared, first);
  EXPECT_NE(copy("shared-too", 0, 0775), shared);
  EXPECT_EQ(cache.stats().built, 4U);
  EXPECT_EQ(cache.stats().shared, 2U);
}

TEST_F(Cache, FolderAndEntriesArePrivate) {
  umask(0);
  RowCache cache(folder_);
  get(cache, kLibc);
  struct stat status {};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  ASSERT_EQ(entries().size(), 1u);
  ASSERT_EQ(stat(entries()[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  umask(022);
}

TEST_F(Cache, DamagedEntriesAreBuiltAnew) {
  RowCache cache(folder_);
  const UnwindTable truth = get(cache, kLoader);
  const std::string path = entries().at(0);
  std::mt19937 random(3);
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
  std::uint64_t damaged = 0;
  for (int round = 0; round < 200; round++) {
    const std::size_t at = round % 2 == 0 ? random() % 160 : random() % size;  // the header, or anywhere
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const auto byte = static_cast<char>(file.get() ^ (1 << round % 8));
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
    }
    expect_same_table(get(cache, kLoader), truth);
    EXPECT_EQ(cache.stats().damaged, ++damaged) << "byte " << at;
  }
  EXPECT_EQ(damaged, 200u);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{10}, size / 2, size - 1}) {
    std::filesystem::resize_file(path, cut);
    expect_same_table(get(cache, kLoader), truth);
    EXPECT_EQ(cache.stats().damaged, ++damaged) << "cut to " << cut;
  }
  std::filesystem::resize_file(path, size + 8);
  expect_same_table(get(cache, kLoader), truth);
  EXPECT_EQ(cache.stats().damaged, ++damaged);
}

TEST_F(Cache, EachFileHasItsOwnEntry) {
  RowCache cache(folder_);
  const UnwindTable libc = get(cache, kLibc);
  const UnwindTable loader = get(cache, kLoader);
  EXPECT_NE(libc.rows.size(), loader.rows.size());
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(Cache, UnsafeFoldersAreNotUsed) {
  std::filesystem::create_directory(folder_);
  chmod(folder_.c_str(), 0777);
  RowCache writable(folder_);
  EXPECT_NE(writable.trouble(), "");
  EXPECT_GT(get(writable, kLoader).rows.size(), 100u);
  EXPECT_EQ(entries().size(), 0u);
  chmod(folder_.c_str(), 0770);
  EXPECT_NE(RowCache(folder_).trouble(), "");
  chmod(folder_.c_str(), 0700);
  EXPECT_EQ(RowCache(folder_).trouble(), "");
  const std::string link = top_ + "/link";
  ASSERT_EQ(symlink(folder_.c_str(), link.c_str()), 0);
  EXPECT_NE(RowCache(link).trouble(), "");
  const std::string file = top_ + "/file";
  std::ofstream(file) << "x";
  EXPECT_NE(RowCache(file).trouble(), "");
  EXPECT_NE(RowCache("/proc/uscope").trouble(), "");
  if (geteuid() != 0) GTEST_SKIP() << "a foreign owner needs root";
  ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  EXPECT_NE(RowCache(folder_).trouble(), "");
}

TEST_F(Cache, StaysBelowItsLimitAndDropsTheOldest) {
  RowCache roomy(folder_);
  get(roomy, kLibc);
  const std::string libc_entry = entries().at(0);
  const timespec old[] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, libc_entry.c_str(), old, 0), 0);
  std::ofstream(folder_ + "/notes.txt") << "not ours";
  RowCache tight(folder_, 100'000);
  get(tight, kLoader);  // 22 KB; libc's are 248
  EXPECT_FALSE(std::filesystem::exists(libc_entry));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/notes.txt"));
  EXPECT_EQ(entries().size(), 2u);
  get(tight, kLoader);
  EXPECT_EQ(tight.stats().hits, 1u);
}

// Tools that edit a program leave its build-id; rows follow from its code, too.
TEST_F(Cache, OtherCodeUnderOneBuildIdIsAnotherFile) {
  const std::string path = top_ + "/edited";
  std::filesystem::copy_file(std::filesystem::canonical(kLoader), path);
  RowCache cache(folder_);
  get(cache, path.c_str());
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto facts = read_elf_facts(fd.get(), path);
  ASSERT_TRUE(facts);
  const auto at = static_cast<off_t>(facts->exec_segments.at(0).offset + 100);
  char byte = 0;
  ASSERT_EQ(pread(fd.get(), &byte, 1, at), 1);
  byte = static_cast<char>(byte + 1);
  ASSERT_EQ(pwrite(fd.get(), &byte, 1, at), 1);
  EXPECT_EQ(read_elf_facts(fd.get(), path)->build_id, facts->build_id);
  get(cache, path.c_str());
  EXPECT_EQ(cache.stats().built, 2U);
  EXPECT_EQ(entries().size(), 2U);
}

// Reads one file's digest first, and then another one's rows and digest: as if it had been written over in between.
class ReaderOfAChangingFile final : public ElfReader {
 public:
  explicit ReaderOfAChangingFile(int later) : later_(later) {}
  FactsAnswer facts(int fd, const std::string& name) override { return direct_reader().facts(fd, name); }
  std::unique_ptr<FileReading> open(int fd, const std::string& name) override {
    class Reading final : public FileReading {
     public:
      Reading(int now, int later, std::string name) : now_(now), later_(later), name_(std::move(name)) {}
      Result<Digest> digest() override { return unwind_digest(std::exchange(now_, later_), name_); }
      Result<UnwindTable> rows(RowDetail detail) override { return build_rows(later_, name_, detail); }

     private:
      int now_;
      int later_;
      std::string name_;
    };
    return std::make_unique<Reading>(fd, later_, name);
  }

 private:
  int later_;
};

TEST_F(Cache, RowsOfAFileThatChangesMeanwhileAreNotKept) {
  RowCache cache(folder_);
  const UniqueFd before = open_to_read(kLoader);
  const UniqueFd after = open_to_read(kLibc);
  ReaderOfAChangingFile reader(after.get());
  const auto table = cache.get(before.get(), "changing", reader);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().what, "changing: changed while its unwind information was read");
  EXPECT_EQ(entries().size(), 0U);
  const auto built = build_rows(before.get(), kLoader);
  ASSERT_TRUE(built);
  expect_same_table(get(cache, kLoader), *built);
}

TEST_F(Cache, WhatIsNotElfIsAnError) {
  RowCache cache(folder_);
  const UniqueFd fd = open_to_read("/etc/passwd");
  const auto table = cache.get(fd.get(), "/etc/passwd");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().what, "/etc/passwd: not an ELF file");
  EXPECT_EQ(entries().size(), 0u);
}

}  // namespace
}  // namespace uscope::symbolizer
