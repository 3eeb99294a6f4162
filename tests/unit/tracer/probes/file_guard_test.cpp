// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files in which there are probes: who is about to change them waits until they are gone.
#include "tracer/probes/file_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "support/clock.h"
#include "tests/support/temporary_folder.h"

namespace uscope::tracer {
namespace {

using test::TemporaryFolder;
using Changed = FileGuard::Changes;
using News = FileGuard::News;

class FileGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(guard_.open());
    std::ofstream(path_) << "old";
    fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd_);
  }
  std::string content() {
    std::string bytes(16, '\0');
    const ssize_t got = pread(fd_.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }
  Changed wait_for_change() {
    pollfd wanted{guard_.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&wanted, 1, 10'000), 1);
    return guard_.take_changed(now_);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.file("probed");
  UniqueFd fd_;
  FileGuard guard_;
  std::uint64_t now_ = monotonic_ns();
};

TEST_F(FileGuardTest, WhoeverOpensAFileForWritingWaitsUntilItsProbesAreGone) {
  const auto kind = guard_.add(7, fd_.get());
  ASSERT_TRUE(kind);
  EXPECT_EQ(*kind, FileGuard::Kind::kLease);
  (void)guard_.take_changed(now_);
  std::thread copier([this] { std::ofstream(path_) << "new"; });
  EXPECT_EQ(wait_for_change(), (Changed{{7, News::kOpened}}));
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(guard_.take_changed(now_), Changed());
  EXPECT_TRUE(guard_.let_go(7));
  EXPECT_TRUE(guard_.let_go(7));  // it is not guarded
  copier.join();
  EXPECT_EQ(content(), "new");
}

// A user may have few (fs.inotify.max_user_instances).
TEST_F(FileGuardTest, TakesNoInotifyInstanceWhereThereAreLeases) {
  const auto kind = guard_.add(0, fd_.get());
  ASSERT_TRUE(kind);
  ASSERT_EQ(*kind, FileGuard::Kind::kLease);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor by which the folder is read
    EXPECT_NE(std::filesystem::read_symlink(entry, gone), "anon_inode:inotify");
  }
}

TEST_F(FileGuardTest, WhoeverTruncatesItWaitsToo) {
  ASSERT_TRUE(guard_.add(0, fd_.get()));
  std::thread cutter([this] { EXPECT_EQ(truncate(path_.c_str(), 0), 0); });
  EXPECT_EQ(wait_for_change(), (Changed{{0, News::kOpened}}));
  EXPECT_EQ(content(), "old");
  guard_.let_go(0);
  cutter.join();
  EXPECT_EQ(content(), "");
}

TEST_F(FileGuardTest, ReadingExecutingAndRenamingChangeNothing) {
  ASSERT_TRUE(guard_.add(0, fd_.get()));
  std::ifstream reader(path_);
  ASSERT_EQ(chmod(path_.c_str(), 0700), 0);
  ASSERT_EQ(link(path_.c_str(), folder_.file("other").c_str()), 0);
  ASSERT_EQ(rename(path_.c_str(), folder_.file("moved").c_str()), 0);
  EXPECT_EQ(guard_.take_changed(now_), Changed());
  EXPECT_EQ(guard_.take_changed(now_ + 10 * FileGuard::kCompareEveryNs), Changed());
}

TEST_F(FileGuardTest, AnotherNameOfTheFileIsTheFile) {
  ASSERT_EQ(link(path_.c_str(), folder_.file("other").c_str()), 0);
  ASSERT_TRUE(guard_.add(3, fd_.get()));
  std::thread copier([this] { std::ofstream(folder_.file("other")) << "new"; });
  EXPECT_EQ(wait_for_change(), (Changed{{3, News::kOpened}}));
  EXPECT_EQ(content(), "old");
  guard_.let_go(3);
  copier.join();
}

TEST_F(FileGuardTest, AFileThatIsOpenForWritingIsNotGuarded) {
  const auto kind_with = [this](const std::function<void()>& writer) {
    writer();
    const auto kind = guard_.add(1, fd_.get());
    return kind ? *kind : FileGuard::Kind::kNotice;
  };
  UniqueFd writer;
  EXPECT_EQ(kind_with([&] { writer.reset(open(path_.c_str(), O_WRONLY | O_CLOEXEC)); }),
            FileGuard::Kind::kOpenForWriting);
  ASSERT_EQ(pwrite(writer.get(), "N", 1, 0), 1);
  EXPECT_EQ(guard_.take_changed(now_ + FileGuard::kCompareEveryNs), Changed());
  // A shared mapping that may write is as good as a descriptor.
  writer.reset(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  void* page = mmap(nullptr, 1, PROT_READ, MAP_SHARED, writer.get(), 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_EQ(kind_with([&] { writer.reset(); }), FileGuard::Kind::kOpenForWriting);
  munmap(page, 1);
  EXPECT_EQ(kind_with([] {}), FileGuard::Kind::kLease);
}

// Of other users' files there are none without this capability.
class WithoutLeases : public FileGuardTest {
 protected:
  void SetUp() override {
    FileGuardTest::SetUp();
    ASSERT_EQ(syscall(SYS_capget, &head_, data_.data()), 0);
    ASSERT_EQ(fchown(fd_.get(), 1, 1), 0);
    auto less = data_;
    less[0].effective &= ~(1U << CAP_LEASE);
    ASSERT_EQ(syscall(SYS_capset, &head_, less.data()), 0);
    const auto kind = guard_.add(1, fd_.get());
    ASSERT_TRUE(kind);
    ASSERT_EQ(*kind, FileGuard::Kind::kNotice);
    EXPECT_EQ(guard_.take_changed(now_), Changed());
  }
  void TearDown() override { EXPECT_EQ(syscall(SYS_capset, &head_, data_.data()), 0); }

 private:
  __user_cap_header_struct head_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data_{};
};

TEST_F(WithoutLeases, WhatAWriterWritesIsNoticed) {
  const UniqueFd writer(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(guard_.take_changed(now_), Changed());
  ASSERT_EQ(pwrite(writer.get(), "N", 1, 0), 1);
  EXPECT_EQ(wait_for_change(), (Changed{{1, News::kChanged}}));
  EXPECT_EQ(guard_.take_changed(now_), Changed());
}

TEST_F(WithoutLeases, WhatAWriterChangesThroughAMappingIsFoundByTheTimeOfChange) {
  const UniqueFd writer(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the file system's clock ticks
  void* page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, writer.get(), 0);
  ASSERT_NE(page, MAP_FAILED);
  *static_cast<char*>(page) = 'N';
  ASSERT_EQ(msync(page, 1, MS_SYNC), 0);
  munmap(page, 1);
  EXPECT_EQ(guard_.take_changed(now_), Changed());  // not due yet
  EXPECT_EQ(guard_.take_changed(now_ + FileGuard::kCompareEveryNs), (Changed{{1, News::kChanged}}));
}

// As overlayfs's lower file does, which no lease guards.
TEST_F(FileGuardTest, AFileWithALeaseIsCompared) {
  const auto kind = guard_.add(1, fd_.get());
  ASSERT_TRUE(kind);
  ASSERT_EQ(*kind, FileGuard::Kind::kLease);
  const std::array<timespec, 2> times{{{0, UTIME_OMIT}, {1, 0}}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times.data(), 0), 0);
  EXPECT_EQ(guard_.take_changed(now_ + FileGuard::kCompareEveryNs), (Changed{{1, News::kChanged}}));
}

TEST_F(FileGuardTest, AFileThatIsLetGoIsNotToldAnyMore) {
  ASSERT_TRUE(guard_.add(1, fd_.get()));
  guard_.let_go(1);
  std::ofstream(path_) << "new";
  EXPECT_EQ(guard_.take_changed(now_ + FileGuard::kCompareEveryNs), Changed());
}

}  // namespace
}  // namespace uscope::tracer
