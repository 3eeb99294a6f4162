// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that are open at once, late, or never, as scouts whose work is made slow find them.
#include "tracer/files/file_opener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "tests/unit/tracer/fake_backend.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kPatience = 20'000 * kMs;
constexpr std::uint32_t kNobody = 0x7fff0000;  // no process has this number, nor the next ones

// Behaves as the file's name says.
void open_as_named(ScoutDesk& desk) {
  const std::string path = ScoutReader(desk.request().bytes).get_text();
  if (path.find("late") != path.npos) usleep(100'000);
  if (path.find("silent") != path.npos) pause();
  for (std::uint32_t i = 0; path.find("endless") != path.npos; i++) {
    desk.goes_to(i);
    usleep(20'000);
  }
  open_file(desk);
}

// A file that is mapped and has several names, by which it is opened at different speeds.
class NamedFile {
 public:
  NamedFile() : folder_(testing::TempDir() + "openerXXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) return;
    std::ofstream(folder_ + "/plain") << "content\n";
    for (const char* name : {"/late", "/silent", "/endless"})
      (void)!link((folder_ + "/plain").c_str(), path(name).c_str());
    const UniqueFd fd(open((folder_ + "/plain").c_str(), O_RDONLY | O_CLOEXEC));
    page_ = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  }
  NamedFile(const NamedFile&) = delete;
  NamedFile& operator=(const NamedFile&) = delete;
  ~NamedFile() {
    munmap(page_, 4096);
    for (const char* name : {"/plain", "/late", "/silent", "/endless"}) unlink(path(name).c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] std::string path(const char* name) const { return folder_ + name; }
  [[nodiscard]] void* page() const { return page_; }

 private:
  std::string folder_;
  void* page_ = nullptr;
};

class FileOpenerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto scouts = Scouts::start();
    ASSERT_TRUE(scouts) << scouts.error().what;
    scouts_ = std::move(*scouts);
    const auto key = backend_.own_file_key(file_.page());
    ASSERT_TRUE(key);
    key_ = *key;
  }
  FileOpener opener(OpeningLimits limits = {}) { return {backend_, scouts_.get(), limits, open_as_named}; }
  [[nodiscard]] FileToOpen wanted(std::uint32_t serial, const char* name, std::uint32_t pid = kNobody) const {
    FileToOpen file;
    file.serial = trace::FileId(serial);
    file.pid = pid;
    file.key = key_;
    file.path = file_.path(name);
    return file;
  }
  // All that are found from now on.
  static std::vector<FoundFile> rest(FileOpener& opener) {
    std::vector<FoundFile> all;
    const std::uint64_t until = monotonic_ns() + kPatience;
    while (opener.is_busy() && monotonic_ns() < until) {
      for (FoundFile& found : opener.take()) all.push_back(std::move(found));
      usleep(1000);
    }
    EXPECT_FALSE(opener.is_busy());
    return all;
  }
  void expect_the_file(const FoundFile& found) const {
    struct stat own {};
    struct stat theirs {};
    ASSERT_TRUE(found.fd) << found.trouble;
    ASSERT_EQ(stat(file_.path("/plain").c_str(), &own), 0);
    ASSERT_EQ(fstat(found.fd.get(), &theirs), 0);
    EXPECT_EQ(own.st_ino, theirs.st_ino);
    EXPECT_EQ(found.error, 0);
  }

  FakeBackend backend_;
  NamedFile file_;
  usc_file_key key_{};
  std::unique_ptr<Scouts> scouts_;
};

TEST_F(FileOpenerTest, AnOrdinaryFileIsOpenAtOnce) {
  OpeningLimits limits;
  limits.first_wait_ms = 10'000;  // a busy machine may take as long
  FileOpener files = opener(limits);
  auto found = files.open(wanted(7, "/plain", static_cast<std::uint32_t>(getpid())));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->serial.value(), 7U);
  EXPECT_EQ(found->pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_TRUE(found->shares_our_root);
  expect_the_file(*found);
  EXPECT_FALSE(files.is_busy());
  found = files.open(wanted(8, "/nothing"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->error, ENOENT);
  found = files.open(wanted(9, "/../../../../../../../../bin/sh"));  // another file
  ASSERT_TRUE(found);
  EXPECT_EQ(found->error, ESTALE);
  EXPECT_NE(found->trouble.find("changed"), std::string::npos);
  EXPECT_TRUE(scouts_->take_unresponsive().empty());
}

TEST_F(FileOpenerTest, WithoutScoutsTheCallerOpens) {
  FileOpener files(backend_, nullptr);
  auto found = files.open(wanted(7, "/plain"));
  ASSERT_TRUE(found);
  expect_the_file(*found);
  EXPECT_TRUE(files.try_open({.path = file_.path("/plain")}, 1)->fd);
}

TEST_F(FileOpenerTest, NobodyWaitsForALateFile) {
  FileOpener files = opener();
  EXPECT_FALSE(files.open(wanted(7, "/late")));
  EXPECT_TRUE(files.is_busy());
  const auto found = rest(files);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].serial.value(), 7U);
  expect_the_file(found[0]);
  EXPECT_TRUE(scouts_->take_unresponsive().empty());
}

TEST_F(FileOpenerTest, ManyLateFilesCostTheCallerLittle) {
  FileOpener files = opener();
  const std::uint64_t before = monotonic_ns();
  for (std::uint32_t i = 0; i < 300; i++) EXPECT_FALSE(files.open(wanted(i, "/late", kNobody + i)));
  // Each with 5 ms would be 1.5 s, and 30 s if each were awaited.
  EXPECT_LT(monotonic_ns() - before, 1'300 * kMs);
  EXPECT_EQ(files.give_up().size(), 300U);
}

TEST_F(FileOpenerTest, AProcessThatIsSilentIsLetBe) {
  OpeningLimits limits;
  limits.silence_ms = 600;  // the late one takes 100
  FileOpener files = opener(limits);
  for (std::uint32_t serial = 0; serial < 20; serial++) EXPECT_FALSE(files.open(wanted(serial, "/silent")));
  EXPECT_FALSE(files.open(wanted(20, "/late", kNobody + 1)));
  int silent = 0;
  for (const FoundFile& found : rest(files)) {
    if (found.serial.value() == 20) {
      expect_the_file(found);
      continue;
    }
    EXPECT_EQ(found.error, ETIMEDOUT);
    EXPECT_NE(found.trouble.find("answer"), std::string::npos) << found.trouble;
    silent++;
  }
  EXPECT_EQ(silent, 20);
  EXPECT_TRUE(scouts_->is_let_be(kNobody));
  EXPECT_FALSE(scouts_->is_let_be(kNobody + 1));
  const std::vector<std::uint32_t> told = scouts_->take_unresponsive();
  EXPECT_FALSE(told.empty());
  EXPECT_LE(told.size(), limits.of_one);
}

TEST_F(FileOpenerTest, PatienceWithAFileIsBounded) {
  OpeningLimits limits;
  limits.longest_ms = 300;
  FileOpener files = opener(limits);
  EXPECT_FALSE(files.open(wanted(1, "/endless")));
  const auto found = rest(files);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trouble, "not opened: its file system took too long to answer");
  EXPECT_EQ(scouts_->take_unresponsive(), std::vector<std::uint32_t>{kNobody});
  EXPECT_FALSE(scouts_->is_let_be(kNobody));
}

TEST_F(FileOpenerTest, AFileDoesNotWaitForItsTurnForEver) {
  OpeningLimits limits;
  limits.longest_ms = 1'000;
  limits.of_one = 1;
  FileOpener files = opener(limits);
  const std::uint64_t before = monotonic_ns();
  for (std::uint32_t serial = 0; serial < 40; serial++) EXPECT_FALSE(files.open(wanted(serial, "/late")));
  std::size_t without_turn = 0;
  std::size_t opened = 0;
  for (const FoundFile& found : rest(files)) {
    if (found.fd) opened++;
    if (found.trouble.find("its turn did not come") != std::string::npos) without_turn++;
  }
  EXPECT_LT(monotonic_ns() - before, 3'500 * kMs);  // one after the other would take 4 s
  EXPECT_GE(opened, 1U);
  EXPECT_GE(without_turn, 20U);
  EXPECT_EQ(scouts_->take_unresponsive().size(), 40 - opened);
}

TEST_F(FileOpenerTest, ProcessesTakeTurns) {
  OpeningLimits limits;
  limits.at_once = 2;
  limits.of_one = 2;
  FileOpener files = opener(limits);
  for (std::uint32_t serial = 0; serial < 20; serial++) EXPECT_FALSE(files.open(wanted(serial, "/late")));
  EXPECT_FALSE(files.open(wanted(20, "/late", kNobody + 1)));
  std::size_t place = 0;
  const auto found = rest(files);
  ASSERT_EQ(found.size(), 21U);
  while (found[place].serial.value() != 20) place++;
  EXPECT_LE(place, 6U);
  for (const FoundFile& one : found) expect_the_file(one);
}

TEST_F(FileOpenerTest, TheEndOfTracingGivesAllUp) {
  OpeningLimits limits;
  limits.of_one = 1;
  FileOpener files = opener(limits);
  for (std::uint32_t serial = 0; serial < 5; serial++) EXPECT_FALSE(files.open(wanted(serial, "/endless")));
  const std::uint64_t before = monotonic_ns();
  files.end_after(100 * kMs);
  const auto found = rest(files);
  EXPECT_GE(monotonic_ns() - before, 100 * kMs);
  EXPECT_LT(monotonic_ns() - before, 5'000 * kMs);
  EXPECT_EQ(found.size(), 5U);
  for (const FoundFile& one : found) EXPECT_EQ(one.trouble.substr(0, 25), "not opened: tracing ended");
  EXPECT_EQ(scouts_->take_unresponsive().size(), 5U);
  // Then nothing stays open any more.
  const auto late = files.open(wanted(5, "/late"));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->error, ETIMEDOUT);
  EXPECT_FALSE(files.is_busy());
}

TEST_F(FileOpenerTest, WhatIsOnlyTriedIsNotAwaited) {
  FileOpener files = opener();
  EXPECT_TRUE(files.try_open({.path = file_.path("/late")}, 10'000)->fd);
  const std::uint64_t before = monotonic_ns();
  FileOpener others = opener();
  for (int i = 0; i < 100; i++) EXPECT_FALSE(others.try_open({.path = file_.path("/silent")}, 30));
  EXPECT_LT(monotonic_ns() - before, 2'000 * kMs);  // 100 times 30 ms would be 3 s
  EXPECT_TRUE(scouts_->take_unresponsive().empty());
}

}  // namespace
}  // namespace uscope::tracer
