// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads of this process wait in futexes; what a look at them says is compared with what they were given to wait for.
#include "tracer/futex/futex_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/trace/new_raw_file.h"
#include "trace/raw_writer.h"
#include "tracer/process/thread_state.h"

namespace uscope::tracer {
namespace {

constexpr std::uint32_t kTask = 7;
constexpr std::uint64_t kEntry = 1000;

long futex(void* address, int op, std::uint32_t value, const timespec* timeout = nullptr) {
  return syscall(SYS_futex, address, op, value, timeout, nullptr, 0xffffffffU);
}

// A thread that waits at an address until it is let go.
class Waiter {
 public:
  Waiter(std::uint32_t* word, int op, const timespec* timeout = nullptr) : word_(word), op_(op) {
    thread_ = std::thread([this, timeout] {
      tid_ = static_cast<std::uint32_t>(gettid());
      while (!done_) futex(word_, op_, 0, timeout);
    });
    while (tid_ == 0 || thread_state_of(tid_)->state != 'S') usleep(1000);
  }
  ~Waiter() {
    done_ = true;
    while (futex(word_, (op_ & FUTEX_PRIVATE_FLAG) | FUTEX_WAKE, 1) == 0) usleep(1000);
    thread_.join();
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  [[nodiscard]] std::uint32_t tid() const { return tid_; }

 private:
  std::uint32_t* word_;
  int op_;
  std::atomic<std::uint32_t> tid_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

class FutexWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "uscope-watch-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    path_ = folder + "/raw";
    auto writer = trace::RawWriter::create(new_raw_file(path_), path_, {});
    ASSERT_TRUE(writer);
    writer_.emplace(std::move(*writer));
    watch_.emplace(tasks_, *writer_);
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  void start(std::uint32_t tid, std::uint32_t flags = 0) {
    usc_task task{};
    task.head.task = kTask;
    task.process = 1;
    task.pid = static_cast<__u32>(getpid());
    task.tid = tid;
    task.mm = 3;
    task.flags = flags;
    tasks_.start(task);
  }
  void see(const void* address, int op, std::uint8_t how, const timespec* timeout = nullptr) {
    usc_event event{};
    event.head.task = kTask;
    event.entry_ns = kEntry;
    event.kind = SYS_futex;
    event.how = how;
    event.args[0] = reinterpret_cast<std::uint64_t>(address);
    event.args[1] = static_cast<__u64>(op);
    event.args[3] = reinterpret_cast<std::uint64_t>(timeout);
    watch_->observe(event);
  }
  void use_scouts() {
    auto scouts = Scouts::start();
    ASSERT_TRUE(scouts) << scouts.error().what;
    scouts_ = std::move(*scouts);
    watch_.emplace(tasks_, *writer_, scouts_.get());
  }
  usc_futex look() {
    EXPECT_TRUE(watch_->scan_all());
    while (watch_->is_scanning()) {
      EXPECT_TRUE(watch_->work());
      usleep(1000);
    }
    return head_of(written());
  }
  void expect_sharers_are_counted();

  // What has been written since the last time, without the time of the look: one record, or none.
  std::vector<char> written() {
    EXPECT_TRUE(writer_->flush());
    std::ifstream file(path_, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::exchange(read_, bytes.size())));
    for (usc_record head{}; bytes.size() >= sizeof(head);) {
      std::memcpy(&head, bytes.data(), sizeof(head));
      if (head.type != USC_RECORD_META) break;
      looks_++;
      bytes.erase(bytes.begin(), bytes.begin() + head.size);
    }
    return bytes;
  }
  static usc_futex head_of(const std::vector<char>& bytes) {
    usc_futex futex{};
    EXPECT_GE(bytes.size(), sizeof(futex));
    if (bytes.size() >= sizeof(futex)) std::memcpy(static_cast<void*>(&futex), bytes.data(), sizeof(futex));
    return futex;
  }

  std::string path_;
  std::size_t read_ = sizeof(usc_raw_header);
  int looks_ = 0;  // whose time has been written
  std::optional<trace::RawWriter> writer_;
  TaskTable tasks_;
  std::unique_ptr<Scouts> scouts_;
  std::optional<FutexWatch> watch_;
};

TEST_F(FutexWatchTest, AThreadThatSleepsIsSeenAsleepWithTheMemoryAroundItsFutex) {
  alignas(64) std::uint32_t words[64] = {};
  for (std::uint32_t i = 0; i < 64; i++) words[i] = i == 20 ? 0 : i;
  const timespec timeout{3600, 5};
  const Waiter waiter(&words[20], FUTEX_WAIT_PRIVATE, &timeout);
  start(waiter.tid());
  see(&words[20], FUTEX_WAIT_PRIVATE, USC_HOW_OPEN, &timeout);
  ASSERT_TRUE(watch_->scan_all());
  const std::vector<char> bytes = written();
  const usc_futex futex = head_of(bytes);
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(futex.head.type, USC_RECORD_FUTEX);
  EXPECT_EQ(futex.head.task, kTask);
  EXPECT_EQ(futex.entry_ns, kEntry);
  EXPECT_EQ(futex.address, reinterpret_cast<std::uint64_t>(&words[20]));
  EXPECT_EQ(futex.timeout, 3'600'000'000'005U);
  EXPECT_EQ(futex.key, USC_FUTEX_PRIVATE);
  EXPECT_EQ(futex.flags & ~USC_FUTEX_HANDLERS, USC_FUTEX_AT_STOP | USC_FUTEX_ASLEEP);
  EXPECT_EQ(futex.words_from, reinterpret_cast<std::uint64_t>(&words[8]));
  ASSERT_EQ(futex.bytes, 96);
  EXPECT_EQ(std::memcmp(bytes.data() + sizeof(futex), &words[8], 96), 0);
}

TEST_F(FutexWatchTest, AThreadThatRunsIsNotSeenAsleep) {
  std::uint32_t word = 0;
  start(static_cast<std::uint32_t>(gettid()));
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  ASSERT_TRUE(watch_->scan_all());
  EXPECT_EQ(head_of(written()).flags, USC_FUTEX_AT_STOP);
}

// As a frozen thread seems to be in the call that it was in.
TEST_F(FutexWatchTest, AThreadThatSleepsElsewhereIsNotSeenAsleep) {
  std::uint32_t word = 0;
  const pid_t sleeper = fork();
  if (sleeper == 0) {
    sleep(60);
    _exit(0);
  }
  // A thread that was preempted on its way to sleep has the state of one that sleeps, and the kernel names no function.
  const auto is_asleep = [sleeper] {
    const auto thread = thread_state_of(static_cast<std::uint32_t>(sleeper));
    return thread && thread->state == 'S' && !thread->in_futex;
  };
  for (int waited_ms = 0; waited_ms < 60'000 && !is_asleep(); waited_ms++) usleep(1000);
  ASSERT_TRUE(is_asleep());
  start(static_cast<std::uint32_t>(sleeper));
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  ASSERT_TRUE(watch_->scan_all());
  EXPECT_EQ(head_of(written()).flags & USC_FUTEX_ASLEEP, 0);
  kill(sleeper, SIGKILL);
  waitpid(sleeper, nullptr, 0);
}

TEST_F(FutexWatchTest, ALookWhileThreadsRunSaysNothingOfSleepAndIsTakenOnce) {
  std::uint32_t word = 0;
  const Waiter waiter(&word, FUTEX_WAIT_PRIVATE);
  start(waiter.tid());
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_ATTACHED);
  ASSERT_TRUE(watch_->scan_new());
  EXPECT_EQ(head_of(written()).flags, USC_FUTEX_AT_STOP);
  ASSERT_TRUE(watch_->scan_new());
  EXPECT_TRUE(written().empty());
}

TEST_F(FutexWatchTest, WaitsThatReturnedAndWakesAreNotLookedAt) {
  std::uint32_t word = 0;
  start(static_cast<std::uint32_t>(gettid()));
  see(&word, FUTEX_WAKE_PRIVATE, USC_HOW_OPEN);
  EXPECT_EQ(watch_->waits(), 0U);
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  EXPECT_EQ(watch_->waits(), 1U);
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_RETURNED);
  EXPECT_EQ(watch_->waits(), 0U);
  ASSERT_TRUE(watch_->scan_all());
  EXPECT_TRUE(written().empty());
}

TEST_F(FutexWatchTest, AtTheEndOfAMappingWhatItsPageHasIsTaken) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* const memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(munmap(memory + page, page), 0);
  auto* const word = reinterpret_cast<std::uint32_t*>(memory + page - 8);
  start(static_cast<std::uint32_t>(gettid()));
  see(word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  ASSERT_TRUE(watch_->scan_all());
  const usc_futex futex = head_of(written());
  EXPECT_EQ(futex.words_from, reinterpret_cast<std::uint64_t>(word) - 48);
  EXPECT_EQ(futex.bytes, 56);
  munmap(memory, page);
}

TEST_F(FutexWatchTest, ASharedFutexIsKnownByItsFileAndByWhoElseMapsIt) {
  const std::string file = path_ + "-shared";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  auto* const words = static_cast<std::uint32_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096));
  struct stat status {};
  ASSERT_EQ(fstat(fd, &status), 0);
  start(static_cast<std::uint32_t>(gettid()));
  see(words + 4, FUTEX_WAIT, USC_HOW_OPEN);
  ASSERT_TRUE(watch_->scan_all());
  usc_futex futex = head_of(written());
  EXPECT_EQ(futex.key, USC_FUTEX_SHARED);
  EXPECT_EQ(futex.ino, status.st_ino);
  EXPECT_EQ(futex.offset, 4096U + 16);
  EXPECT_EQ(futex.untraced_sharers, 0U);
  const pid_t stranger = fork();
  if (stranger == 0) {
    pause();
    _exit(0);
  }
  ASSERT_TRUE(watch_->scan_all());
  EXPECT_EQ(head_of(written()).untraced_sharers, 1U);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  munmap(words, 4096);
  close(fd);
  unlink(file.c_str());
}

// Another process with this one's memory.
class Sharer {
 public:
  Sharer() : pid_(clone(sleep_for_ever, stack_.data() + stack_.size(), CLONE_VM | SIGCHLD, nullptr)) {}
  ~Sharer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sharer(const Sharer&) = delete;
  Sharer& operator=(const Sharer&) = delete;

 private:
  static int sleep_for_ever(void*) {
    pause();
    return 0;
  }
  alignas(16) std::array<char, 65536> stack_{};
  pid_t pid_;
};

// Who comes after tracing has begun is traced, too; the scouts are forked from this process and have their own memory.
void FutexWatchTest::expect_sharers_are_counted() {
  std::uint32_t word = 0;
  start(static_cast<std::uint32_t>(gettid()), USC_TASK_ATTACHED);
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  {
    const Sharer sharer;
    EXPECT_EQ(look().untraced_sharers, 1U);
    EXPECT_EQ(look().untraced_sharers, 1U);
  }
  EXPECT_EQ(look().untraced_sharers, 0U);
  const Sharer later;
  EXPECT_EQ(look().untraced_sharers, 0U);
}

TEST_F(FutexWatchTest, WhoSharesMemoryThatWasThereBeforeIsCounted) {
  expect_sharers_are_counted();
}

TEST_F(FutexWatchTest, ScoutsCountWhoSharesMemory) {
  use_scouts();
  expect_sharers_are_counted();
}

TEST_F(FutexWatchTest, NobodySharesMemoryThatWasMadeInTheTrace) {
  std::uint32_t word = 0;
  const Sharer sharer;
  start(static_cast<std::uint32_t>(gettid()));
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  EXPECT_EQ(look().untraced_sharers, USC_FUTEX_SHARERS_UNKNOWN);
}

// Forked processes, as the scouts are, cannot be told from such as share the memory then.
TEST_F(FutexWatchTest, TheMemoryOfAProcessThatDoesNotAnswerMayBeShared) {
  use_scouts();
  std::uint32_t word = 0;
  start(static_cast<std::uint32_t>(gettid()), USC_TASK_ATTACHED);
  see(&word, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  scouts_->add_unresponsive(static_cast<std::uint32_t>(getpid()), 1);
  const usc_futex futex = look();
  EXPECT_EQ(futex.key, USC_FUTEX_PRIVATE);
  EXPECT_GE(futex.untraced_sharers, 1U);
  EXPECT_NE(futex.untraced_sharers, USC_FUTEX_SHARERS_UNKNOWN);
}

TEST_F(FutexWatchTest, AWaitWhoseMemoryDoesNotAnswerIsToldAsOneThatAnybodyMayEnd) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  use_scouts();
  const int fault = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
  uffdio_api api{};
  api.api = UFFD_API;
  if (fault < 0 || ioctl(fault, UFFDIO_API, &api) != 0) GTEST_SKIP() << "no userfaultfd here";
  void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uffdio_register held{};
  held.range = {reinterpret_cast<std::uint64_t>(memory), page};
  held.mode = UFFDIO_REGISTER_MODE_MISSING;
  ASSERT_EQ(ioctl(fault, UFFDIO_REGISTER, &held), 0);
  start(static_cast<std::uint32_t>(gettid()), USC_TASK_ATTACHED);
  see(static_cast<char*>(memory) + 64, FUTEX_WAIT_PRIVATE, USC_HOW_OPEN);
  const usc_futex futex = look();
  EXPECT_EQ(futex.address, reinterpret_cast<std::uint64_t>(memory) + 64);
  EXPECT_EQ(futex.entry_ns, kEntry);
  EXPECT_EQ(futex.key, USC_FUTEX_UNKNOWN);
  EXPECT_EQ(futex.flags, USC_FUTEX_AT_STOP | USC_FUTEX_HANDLERS);
  EXPECT_EQ(futex.untraced_sharers, 1U);
  EXPECT_EQ(futex.bytes, 0U);
  ASSERT_TRUE(watch_->scan_all());
  EXPECT_FALSE(watch_->is_scanning());
  close(fault);
  munmap(memory, page);
}

}  // namespace
}  // namespace uscope::tracer
