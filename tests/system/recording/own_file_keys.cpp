// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel side (BPF, or USCOPE_TEST_BACKEND=kmod) tells the key of a file that the tracer has mapped, also while
// another thread of the tracer holds the lock of its mappings: without a key, a file would count as changed, and its
// frames would have no names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/files/file_identity.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kBytes = 64U << 20;
constexpr int kRounds = 20;

// Holds the lock for most of the time: each page's protection is changed by itself.
class LockHolder {
 public:
  LockHolder() {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    madvise(memory, kBytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < kBytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
    thread_ = std::thread([this, memory] {
      while (!ended_) {
        mprotect(memory, kBytes, PROT_READ);
        mprotect(memory, kBytes, PROT_READ | PROT_WRITE);
        rounds_++;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      munmap(memory, kBytes);
    });
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;
  ~LockHolder() {
    ended_ = true;
    thread_.join();
  }
  [[nodiscard]] int rounds() const { return rounds_; }

 private:
  std::atomic<bool> ended_ = false;
  std::atomic<int> rounds_ = 0;
  std::thread thread_;
};

TEST(OwnFileKeys, AreToldWhileAnotherThreadHoldsTheLockOfTheMappings) {
  usc_config config{};
  config.scope = {USC_MODE_ALL_ALL, 64};
  config.target.kinds = USC_TARGET_PID;
  config.cpus = possible_processors();
  const char* named = std::getenv("USCOPE_TEST_BACKEND");
  const bool kmod = named != nullptr && std::string_view(named) == "kmod";
  auto backend = open_backend(kmod ? BackendChoice::kKmod : BackendChoice::kBpf, config, BackendSizes(), {});
  ASSERT_TRUE(backend) << backend.error().what;
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  void* page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file.get(), 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto expected = (*backend)->own_file_key(page);
  ASSERT_TRUE(expected) << expected.error().what;
  const LockHolder holder;
  int asked = 0;
  for (; holder.rounds() < kRounds; asked++) {
    const auto key = (*backend)->own_file_key(page);
    ASSERT_TRUE(key) << asked << " were told, then: " << key.error().what;
    ASSERT_TRUE(is_same(*key, *expected));
  }
  EXPECT_GT(asked, 0);
  munmap(page, 1);
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
