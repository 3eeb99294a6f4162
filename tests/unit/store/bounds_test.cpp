// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What loading costs grows with the trace, whatever a program did often.
#include <functional>

#include "descriptors/descriptor_table.h"
#include "syscalls/syscall_table.h"
#include "tests/support/crowd.h"
#include "tests/support/frame_word.h"
#include "tests/support/processor_time.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kSome = test::crowd(16'000);
constexpr std::uint32_t kMany = test::crowd(128'000);

std::uint32_t number_of(const char* name) {
  for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++)
    if (syscalls::syscall_name(USC_ABI_X86_64, nr) == name) return nr;
  return 0;
}

class LoaderBounds : public testing::Test {
 protected:
  using Writer = std::function<void(RawTrace&, std::uint32_t number, std::uint64_t time)>;

  // Seconds to load a process that does something `count` times, a microsecond each.
  static double seconds_for(std::uint32_t count, const Writer& write) {
    const test::TemporaryFolder folder;
    RawTrace trace(folder / "raw");
    trace.task({});
    trace.exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0", 4));
    trace.file(2, "/opt/bin/app", "IDA");
    for (std::uint32_t i = 0; i < count; i++) write(trace, i, kStart + 1000 + i * 1000ULL);
    trace.close();
    LoadOptions options;
    options.namer = std::make_unique<FakeNamer>();
    return test::processor_seconds_of([&] {
      const auto summary = store::load(folder / "raw", folder / "db", options);
      EXPECT_TRUE(summary) << summary.error().what;
    });
  }
  static void expect_linear(const char* what, const Writer& write) {
    const double some = seconds_for(kSome, write);
    const double many = seconds_for(kMany, write);
    EXPECT_LT(many, 3 * (kMany / kSome) * some + 1) << what;
    EXPECT_LT(many, 60) << what;
  }
};

TEST_F(LoaderBounds, Processes) {
  expect_linear("processes", [](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    const std::uint32_t task = i + 2;
    trace.task({.task = task, .process = task, .parent_task = 1, .pid = 200 + i % 30'000, .tid = 200, .time = time});
    trace.exit(task, task, 0, time + 500);
  });
}

// None of them knows its parent but by a pid, which all have in turn.
TEST_F(LoaderBounds, ProcessesOfFewPids) {
  expect_linear("processes of few pids", [](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    const std::uint32_t task = i + 2;
    trace.task({.task = task,
                .process = task,
                .pid = 200 + i % 4000,
                .tid = 200,
                .time = time,
                .parent_pid = 200 + (i + 1) % 4000});
    trace.exit(task, task, 0, time + 500);
  });
}

TEST_F(LoaderBounds, Threads) {
  expect_linear("threads", [](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    trace.task({.task = i + 2, .process = 1, .parent_task = 1, .tid = 200 + i, .flags = 0, .time = time});
  });
}

TEST_F(LoaderBounds, ExecsOfOneTask) {
  const std::uint32_t nr = number_of("execve");
  expect_linear("execs", [nr](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    trace.exec(1, 1, i + 2, 2, "/opt/bin/app", std::string("app\0", 4), time + 100);
    trace.event({.entry = time, .end = time + 200, .nr = nr, .image = i + 2});
  });
}

TEST_F(LoaderBounds, PathNames) {
  const std::uint32_t nr = number_of("openat");
  expect_linear("path names", [nr](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    trace.string(1, time, 1, "/tmp/name" + std::to_string(i));
    trace.event({.entry = time, .end = time + 200, .result = 3 + i % 1000, .nr = nr});
  });
}

TEST_F(LoaderBounds, Stacks) {
  expect_linear("stacks", [](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    // Only the highest bits differ: what a weak hash would leave in one bucket.
    trace.stack(i + 1, {test::frame_word(2, 0x1000, 1), test::frame_word(2, 0x2000 + 16ULL * i, 0)});
    trace.event({.entry = time, .end = time + 200, .stack = i + 1});
  });
}

TEST_F(LoaderBounds, ForksWithManyDescriptors) {
  const std::uint32_t openat = number_of("openat");
  const std::uint32_t close = number_of("close");
  expect_linear("forks", [&](RawTrace& trace, std::uint32_t i, std::uint64_t time) {
    if (i < 1000) {
      trace.string(1, time, 1, "/tmp/name");
      trace.event({.entry = time, .end = time + 100, .result = 3 + i, .nr = openat});
      return;
    }
    const std::uint32_t task = i + 2;
    trace.task({.task = task, .process = task, .parent_task = 1, .pid = 200 + i, .tid = 200, .time = time});
    trace.event({.task = task, .entry = time + 100, .end = time + 200, .nr = close, .a0 = 3 + i % 1000});
    trace.exit(task, task, 0, time + 500);
  });
}

// A server with as many descriptors as a process is known to have, which forks and closes all of them but one.
TEST(DescriptorTableBounds, ForksCostNothingForEachDescriptor) {
  const auto seconds_for = [](int descriptors) {
    descriptors::DescriptorTable table;
    for (int fd = 0; fd < descriptors; fd++) table.set(fd, {trace::TextId(1), 1, fd % 2 == 0});
    return test::processor_seconds_of([&] {
      for (std::uint32_t i = 0; i < kMany; i++) {
        descriptors::DescriptorTable child;
        child.take_copy(table, 1);
        child.set_close_on_exec(3, 3, true);
        child.close_range(5, descriptors);
        child.drop_close_on_exec();
        EXPECT_EQ(child.find(3), nullptr);
        EXPECT_NE(child.find(1), nullptr);
      }
    });
  };
  const double few = seconds_for(64);
  EXPECT_LT(seconds_for(60'000), 8 * few + 1);
}

}  // namespace
}  // namespace uscope::store
