// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace uscope {
namespace {

namespace fs = std::filesystem;

class RegularFile : public testing::Test {
 protected:
  RegularFile() {
    std::string name = testing::TempDir() + "regularXXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(file_ = folder_ / "file") << "text";
    fifo_ = folder_ / "fifo";
    mkfifo(fifo_.c_str(), 0600);
  }
  ~RegularFile() override { fs::remove_all(folder_); }

  // Whether somebody has the FIFO open: then its writer is let go.
  [[nodiscard]] bool has_reader() const {
    const UniqueFd writer(open(fifo_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return static_cast<bool>(writer) || errno != ENXIO;
  }

  fs::path folder_;
  fs::path file_;
  fs::path fifo_;
};

std::string words_in(const UniqueFd& fd) {
  char text[16] = {};
  return read(fd.get(), text, sizeof(text)) < 0 ? "?" : text;
}

TEST_F(RegularFile, IsReadThroughLinksOrNot) {
  fs::create_symlink(file_, folder_ / "link");
  auto followed = open_regular(folder_ / "link", "");
  ASSERT_TRUE(followed);
  EXPECT_EQ(words_in(*followed), "text");
  EXPECT_FALSE(open_regular_at(AT_FDCWD, folder_ / "link"));
  EXPECT_EQ(words_in(open_regular_at(AT_FDCWD, file_)), "text");
}

TEST_F(RegularFile, NothingElseIsOpened) {
  for (const fs::path& path : {fifo_, fs::path("/dev/null"), folder_, fs::path("/dev/tty")}) {
    const auto opened = open_regular(path, "");
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().what, path.string() + " is not a regular file");
    EXPECT_FALSE(open_regular_at(AT_FDCWD, path));
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_FALSE(open_regular(folder_ / "none", ""));
}

// A path that is a file in one moment and a FIFO in the next: whatever is met, the FIFO is never opened.
TEST_F(RegularFile, WhatTakesItsPlaceIsNotOpened) {
  const fs::path path = folder_ / "changing";
  std::atomic<bool> ending{false};
  std::atomic<bool> opened{false};
  std::thread swapping([&] {
    for (bool fifo = false; !ending; fifo = !fifo) {
      fs::create_symlink(fifo ? fifo_ : file_, folder_ / "next");
      fs::rename(folder_ / "next", path);
    }
  });
  std::thread watching([&] {
    while (!ending) opened = opened || has_reader();
  });
  int read = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int refused = 0; (read < 200 || refused < 200) && std::chrono::steady_clock::now() < until;)
    open_regular(path, "") ? read++ : refused++;
  ending = true;
  swapping.join();
  watching.join();
  EXPECT_FALSE(opened);
  EXPECT_GE(read, 200);
}

std::atomic<int> asked_back{0};

// Its holder is not asked to give it back: SIGIO ends a process without a handler.
TEST_F(RegularFile, ALeaseIsNotBroken) {
  asked_back = 0;
  signal(SIGIO, [](int) { asked_back++; });
  UniqueFd holder(open(file_.c_str(), O_RDWR | O_CLOEXEC));
  if (fcntl(holder.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "this file system has no leases";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(open_regular_at(AT_FDCWD, file_));
  EXPECT_EQ(errno, EAGAIN);
  const auto opened = open_regular(file_, "");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what,
            "cannot open " + file_.string() + ": a process holds a lease on it (fcntl, F_SETLEASE)");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  EXPECT_EQ(asked_back, 0);
  EXPECT_EQ(fcntl(holder.get(), F_GETLEASE), F_WRLCK);
  ASSERT_EQ(fcntl(holder.get(), F_SETLEASE, F_UNLCK), 0);
  EXPECT_EQ(words_in(open_regular_at(AT_FDCWD, file_)), "text");
  // A read lease is broken by writers alone.
  holder.reset(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(fcntl(holder.get(), F_SETLEASE, F_RDLCK), 0);
  EXPECT_EQ(words_in(open_regular_at(AT_FDCWD, file_)), "text");
  EXPECT_FALSE(open_regular_at(AT_FDCWD, file_, O_RDWR));
  EXPECT_EQ(asked_back, 0);
  signal(SIGIO, SIG_DFL);
}

TEST_F(RegularFile, ItsIdentityIsThatOfWhatWasOpened) {
  const UniqueFd there(open(file_.c_str(), O_PATH | O_CLOEXEC));
  fs::rename(file_, folder_ / "elsewhere");
  fs::create_symlink(fifo_, file_);
  struct stat status {};
  const UniqueFd opened = open_if_regular(there.get(), status);
  EXPECT_EQ(words_in(opened), "text");
  struct stat elsewhere {};
  ASSERT_EQ(stat((folder_ / "elsewhere").c_str(), &elsewhere), 0);
  EXPECT_EQ(identity_of(status), identity_of(elsewhere));
}

}  // namespace
}  // namespace uscope
