// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that are slow to read, beside others.
#include "tracer/files/row_build_queue.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

using std::chrono::milliseconds;

// Reads "slow…" once it is let go, fails with "bad…" after 5 ms, and knows all others at once.
class TestReader final : public symbolizer::ElfReader {
 public:
  symbolizer::FactsAnswer facts(int, const std::string& name) override {
    begun++;
    if (name.starts_with("slow")) {
      std::unique_lock lock(guard_);
      let_go_.wait(lock, [this] { return free_; });
    }
    if (!name.starts_with("bad")) return {true, symbolizer::ElfFacts{}};
    std::this_thread::sleep_for(milliseconds(5));
    return {true, Error{name + ": is bad", ""}};
  }
  std::unique_ptr<symbolizer::FileReading> open(int, const std::string&) override { return nullptr; }
  void let_go() {
    const std::lock_guard lock(guard_);
    free_ = true;
    let_go_.notify_all();
  }

  std::atomic<int> begun{0};

 private:
  std::mutex guard_;
  std::condition_variable let_go_;
  bool free_ = false;
};

class RowMakerTest : public testing::Test, public UnwindTableReceiver {
 protected:
  Result<void> on_made(const BuiltTable& made) override {
    came_.push_back(made.serial.value());
    troubles_.push_back(made.facts && !made.facts->facts ? made.facts->facts.error().what : "");
    return {};
  }
  static UniqueFd file() { return UniqueFd(memfd_create("x", MFD_CLOEXEC)); }
  void ask(RowBuildQueue& maker, std::uint32_t serial, const std::string& name, const std::string& payer, int fd) {
    ASSERT_TRUE(
        maker.ask({trace::FileId(serial), symbolizer::RowDetail::kStack, fd, name, this, RowWork::kFacts, payer}));
  }
  void all(RowBuildQueue& maker) {
    while (maker.is_busy()) ASSERT_TRUE(maker.wait(milliseconds(1000)));
  }

  UniqueFd fd_ = file();
  symbolizer::RowCache cache_{""};
  TestReader reader_;
  std::vector<std::uint32_t> came_;
  std::vector<std::string> troubles_;
};

TEST_F(RowMakerTest, FilesOfOneUserLeaveAThreadToThoseOfOthers) {
  RowBuildQueue maker(cache_, 3, reader_);
  for (std::uint32_t serial = 1; serial <= 20; serial++) ask(maker, serial, "slow", "user 1", fd_.get());
  ask(maker, 21, "quick", "user 2", fd_.get());
  const auto came = maker.wait(milliseconds(60'000));
  ASSERT_TRUE(came);
  EXPECT_TRUE(*came);
  EXPECT_EQ(came_, std::vector<std::uint32_t>{21});
  EXPECT_LE(reader_.begun, 3);
  // Nobody waits longer than asked for.
  const auto none = maker.wait(milliseconds(1));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  reader_.let_go();
  all(maker);
  EXPECT_EQ(came_.size(), 21U);
}

TEST_F(RowMakerTest, AUserWhoseFilesTookTooLongHasNoMoreOfThemRead) {
  RowBuildQueue maker(cache_, 2, reader_, {milliseconds(1), milliseconds(20)});
  std::vector<UniqueFd> files;  // each another inode
  for (std::uint32_t serial = 1; serial <= 50; serial++) {
    files.push_back(file());
    ask(maker, serial, "bad", "user 1", files.back().get());
  }
  all(maker);
  EXPECT_LE(reader_.begun, 20);
  EXPECT_NE(troubles_.back().find("slow to read"), std::string::npos) << troubles_.back();
  ask(maker, 51, "quick", "user 2", fd_.get());
  all(maker);
  EXPECT_EQ(troubles_.back(), "");
}

TEST_F(RowMakerTest, AFileThatFailedAgainAndAgainIsNotReadAnyMore) {
  RowBuildQueue maker(cache_, 2, reader_, {milliseconds(1), milliseconds(100'000)});
  for (std::uint32_t serial = 1; serial <= 9; serial++) {
    ask(maker, serial, "bad", "user 1", fd_.get());
    all(maker);
  }
  EXPECT_EQ(reader_.begun, static_cast<int>(RowBuildQueue::kMostFailures));
  EXPECT_NE(troubles_.back().find("given up before"), std::string::npos) << troubles_.back();
}

TEST_F(RowMakerTest, NothingIsBegunBehindTheEnd) {
  RowBuildQueue maker(cache_, 2, reader_);
  maker.end_by(std::chrono::steady_clock::now());
  ask(maker, 1, "quick", "user 1", fd_.get());
  all(maker);
  EXPECT_EQ(reader_.begun, 0);
  EXPECT_NE(troubles_.back().find("tracing ended"), std::string::npos) << troubles_.back();
}

}  // namespace
}  // namespace uscope::tracer
