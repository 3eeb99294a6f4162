// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Children of this process are the outsiders.
#include "tracer/process/outsiders.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "support/unique_fd.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

// Another process: with this one's memory, or forked.
class Child {
 public:
  explicit Child(int flags) : pid_(clone(sleep_for_ever, stack_.data() + stack_.size(), flags | SIGCHLD, nullptr)) {}
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  static int sleep_for_ever(void*) {
    for (;;) pause();
  }
  alignas(16) std::array<char, 16384> stack_{};
  pid_t pid_;
};

class OutsidersTest : public testing::Test {
 protected:
  OutsidersTest() {
    around_.known = {own_};
    around_.asks = [this](std::uint32_t pid) { asked_.push_back(pid); };
  }

  // A deleted file, mapped, of which only the mapping is left here.
  MappedFile map_deleted() {
    const UniqueFd file(memfd_create("held", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), 4096), 0);
    void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(memory, MAP_FAILED);
    mapped_.push_back(memory);
    const auto start = reinterpret_cast<std::uintptr_t>(memory);
    std::array<char, 64> range{};
    std::snprintf(range.data(), range.size(), "/proc/self/map_files/%lx-%lx", start, start + 4096);
    return {own_, "/memfd:held (deleted)", range.data()};
  }
  void TearDown() override {
    for (void* const memory : mapped_) munmap(memory, 4096);
  }

  const std::uint32_t own_ = static_cast<std::uint32_t>(getpid());
  AskedAround around_;
  std::vector<std::uint32_t> asked_;
  std::vector<void*> mapped_;
};

TEST_F(OutsidersTest, WhoHasTheMemoryIsCountedAndForkedOnesAreNot) {
  const Child sharer(CLONE_VM);
  const Child forked(0);
  EXPECT_EQ(SpaceSharers(around_).count(own_), 1U);
  around_.silent = {forked.pid()};
  EXPECT_EQ(SpaceSharers(around_).count(own_), 2U);
  around_.silent = {own_};
  EXPECT_GE(SpaceSharers(around_).count(own_), 2U);
  around_.known.insert(sharer.pid());
  around_.silent.clear();
  EXPECT_EQ(SpaceSharers(around_).count(own_), 0U);
}

// Traced processes may be thousands, and so may others.
TEST_F(OutsidersTest, EachProcessIsAskedOnceHoweverManyAreTraced) {
  std::vector<std::unique_ptr<Child>> traced;
  for (int i = 0; i < 40; i++) {
    traced.push_back(std::make_unique<Child>(0));
    around_.known.insert(traced.back()->pid());
  }
  const Child stranger(0);
  SpaceSharers sharers(around_);
  for (const auto& child : traced) EXPECT_EQ(sharers.count(child->pid()), 0U);
  const std::vector<std::uint32_t> running = running_processes();
  const auto others = static_cast<std::size_t>(
      std::count_if(running.begin(), running.end(), [&](std::uint32_t pid) { return around_.known.count(pid) == 0; }));
  // Forked from one process, all have stacks that begin alike; what begins elsewhere is asked once.
  EXPECT_LE(asked_.size(), others + 40 * 4 + 20);
  // Whoever waits for an answer hears of each one.
  for (const auto& child : traced) EXPECT_EQ(std::count(asked_.begin(), asked_.end(), child->pid()), 1);
  EXPECT_GE(std::count(asked_.begin(), asked_.end(), stranger.pid()), 1);
  EXPECT_EQ(std::count(asked_.begin(), asked_.end(), 1U), 1);
}

TEST_F(OutsidersTest, ADeletedFileIsOpenToWhoHoldsIt) {
  const MappedFile alone = map_deleted();
  EXPECT_EQ(are_open_to_others({alone}, around_), std::vector<bool>{false});
  const UniqueFd held(open(alone.link.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(held);
  const MappedFile other = map_deleted();
  const Child holder(0);
  EXPECT_EQ(are_open_to_others({other, alone, other}, around_), (std::vector<bool>{false, true, false}));
  around_.known.insert(holder.pid());
  EXPECT_EQ(are_open_to_others({alone}, around_), std::vector<bool>{false});
  const Child silent(0);
  around_.silent = {silent.pid()};
  EXPECT_EQ(are_open_to_others({other}, around_), std::vector<bool>{true});
}

TEST_F(OutsidersTest, DescriptorsAreLookedThroughOnceForAllFiles) {
  std::vector<MappedFile> files;
  for (int i = 0; i < 50; i++) files.push_back(map_deleted());
  EXPECT_EQ(are_open_to_others(files, around_), std::vector<bool>(files.size(), false));
  EXPECT_EQ(std::count(asked_.begin(), asked_.end(), own_), 50);
  EXPECT_LE(std::count(asked_.begin(), asked_.end(), 1U), 2);
}

// Whoever waits for an answer takes a long silence for a hang.
TEST_F(OutsidersTest, ManyDescriptorsOfOneProcessAreNoSilence) {
  const MappedFile file = map_deleted();
  std::vector<UniqueFd> many;
  for (int i = 0; i < 800; i++) many.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Child holder(0);
  EXPECT_EQ(are_open_to_others({file}, around_), std::vector<bool>{false});
  EXPECT_GE(std::count(asked_.begin(), asked_.end(), holder.pid()), 3);
}

}  // namespace
}  // namespace uscope::tracer
