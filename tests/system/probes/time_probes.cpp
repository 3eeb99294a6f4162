// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Samples and times off the CPU, of what this program does when it is started with an argument: how much it computes,
// how long it sleeps, and who wakes whom is known.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/trace/memory_sink.h"
#include "trace/loss_class.h"
#include "tracer/recorder/recorder.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kComputesNs = 400 * kMs;
constexpr std::uint64_t kSleepsNs = 300 * kMs;
constexpr std::uint32_t kHz = 1000;
constexpr std::uint32_t kMostHz = 10'000;

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_for(std::uint64_t ns) {
  timespec left{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  while (nanosleep(&left, &left) != 0) {
  }
}

// When it computed, by CLOCK_MONOTONIC, and for how long the CPU itself stood still, as far as that is seen: a virtual
// CPU's clocks go on meanwhile, and no timer interrupts it.
struct Computed {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stood_still = 0;
};

[[gnu::noinline]] Computed compute() {
  constexpr std::uint64_t kStandsStillNs = 2 * kMs;  // a few thousand additions take less, also under emulation
  Computed computed;
  computed.begin = clock_ns(CLOCK_MONOTONIC);
  std::uint64_t last = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t until = last + kComputesNs;
  volatile std::uint64_t number = 0;
  while (last < until) {
    for (int i = 0; i < 5'000; i++) number = number + static_cast<std::uint64_t>(i);
    const std::uint64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (now - last > kStandsStillNs) computed.stood_still += now - last;
    last = now;
  }
  computed.end = clock_ns(CLOCK_MONOTONIC);
  return computed;
}

// A function whose frame is found by a rule that only user space can follow, so that each walk through it takes a copy
// of the stack: the CFA is a word in memory, at r13 + 24, and 16.
extern "C" int through_memory(int (*function)(int), int number);
__asm__(
    ".text\n.globl through_memory\n.type through_memory, @function\nthrough_memory:\n"
    "  .cfi_startproc\n"
    "  pushq %r13\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset r13, -16\n"
    "  leaq -40(%rsp), %r13\n"
    "  movq %rsp, 24(%r13)\n"
    "  .cfi_escape 0x0f, 0x05, 0x7d, 0x18, 0x06, 0x23, 0x10\n"
    "  subq $64, %rsp\n"
    "  andq $-256, %rsp\n"
    "  movq %rdi, %rax\n"
    "  movl %esi, %edi\n"
    "  callq *%rax\n"
    "  movq 24(%r13), %rsp\n"
    "  .cfi_def_cfa rsp, 16\n"
    "  popq %r13\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  .cfi_restore r13\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size through_memory, .-through_memory\n");

// Copies of this stack take long, next to the calls.
[[gnu::noinline]] int calls_from_afar(int calls) {
  std::array<volatile char, 250'000> large;
  for (std::size_t i = 0; i < large.size(); i += 1024) large[i] = 1;
  for (int i = 0; i < calls; i++) syscall(SYS_getppid);
  return large[1024];
}

// The first thread computes, sleeps, and ends the wait of another one. `told`: a file for when it computed.
int work(const char* told) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  std::thread waiter([&ends] {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) _exit(1);
  });
  const Computed computed = compute();
  sleep_for(kSleepsNs);
  if (write(ends[1], "x", 1) != 1) return 1;
  waiter.join();
  std::ofstream(told) << computed.begin << ' ' << computed.end << ' ' << computed.stood_still;
  return 0;
}

class TimeProbes : public testing::Test {
 protected:
  void record_work(const char* what, const ProbePlan& plan, bool with_calls, std::uint64_t duration_ns = 0) {
    const test::TemporaryFolder folder;
    RecordOptions options;
    options.config.scope = {USC_MODE_ALL_ALL, 64};
    options.config.target.kinds = USC_TARGET_LAUNCH;
    for (__u64& word : options.config.calls[USC_CALLS_NATIVE]) word = with_calls ? ~0ULL : 0;
    options.launch.command = {std::filesystem::read_symlink("/proc/self/exe"), what, folder / "computed"};
    options.cache_folder = folder / "cache";
    options.backend = BackendChoice::kBpf;
    options.probes = plan;
    options.sink = &sink_;
    options.duration_ns = duration_ns;
    std::vector<std::unique_ptr<File>> files;
    RecordingClient client;
    const auto outcome = record(options, client, &files);
    ASSERT_TRUE(outcome) << outcome.error().what << "; " << outcome.error().remedy;
    std::ifstream(folder / "computed") >> computed_.begin >> computed_.end >> computed_.stood_still;
    read_trace();
  }

  void read_trace() {
    for (const usc_task& task : sink_.all<usc_task>()) tids_[task.head.task] = task.tid;
    for (const usc_stack& stack : sink_.all<usc_stack>()) stacks_.insert(stack.stack);
    std::vector<std::string> texts;
    const auto places = sink_.all<usc_kernel_place>(&texts);
    for (std::size_t i = 0; i < places.size(); i++) places_[places[i].place] = texts[i].substr(0, places[i].text_bytes);
    bool all_stacks = true;
    for (const usc_loss& loss : sink_.all<usc_loss>()) {
      if (loss.cause == USC_LOSS_DEFERRED_RING && copies_may_be_lost_)
        all_stacks = false;
      else
        ADD_FAILURE() << "lost " << loss.count << " by cause " << trace::loss_name(loss.cause);
    }
    hits_ = sink_.all<usc_hit>(&frames_);
    for (const usc_hit& hit : hits_) {
      EXPECT_TRUE(!all_stacks || stacks_.count(hit.stack) != 0)
          << "stack " << hit.stack << " of source " << int{hit.source};
      EXPECT_TRUE(tids_.count(hit.head.task) != 0);
    }
  }

  // Of a hit: the functions of its kernel frames, innermost first.
  std::vector<std::string> kernel_functions(std::size_t number) {
    std::vector<std::string> functions;
    std::vector<std::uint32_t> places(hits_[number].frames);
    std::memcpy(places.data(), frames_[number].data(), places.size() * sizeof(places[0]));
    for (const std::uint32_t place : places) {
      const std::string& text = places_[place];
      const std::string function = text.substr(text.find(' ') + 1);
      functions.push_back(function.substr(0, function.find('+')));
    }
    return functions;
  }

  // The longest time off the CPU of a kind and in this function of the kernel, of the first thread or of the other one.
  // On a busy machine, any other wait may be longer.
  std::size_t longest(std::uint32_t kind, std::string_view function, bool of_first) {
    std::size_t found = hits_.size();
    for (std::size_t i = 0; i < hits_.size(); i++) {
      const usc_hit& hit = hits_[i];
      if (hit.source != USC_SOURCE_OFFCPU || hit.kind != kind || (hit.head.task == first_task()) != of_first) continue;
      const auto functions = kernel_functions(i);
      if (std::none_of(functions.begin(), functions.end(),
                       [&](const std::string& name) { return name.find(function) != std::string::npos; }))
        continue;
      if (found == hits_.size() || took(hit) > took(hits_[found])) found = i;
    }
    return found;
  }

  static std::uint64_t took(const usc_hit& hit) { return hit.head.time - hit.entry_ns; }
  [[nodiscard]] std::uint32_t first_task() const { return tids_.begin()->first; }  // serials rise

  MemorySink sink_;
  bool copies_may_be_lost_ = false;
  Computed computed_;
  std::map<std::uint32_t, std::uint32_t> tids_;  // by serial
  std::set<std::uint32_t> stacks_;
  std::map<std::uint32_t, std::string> places_;
  std::vector<usc_hit> hits_;
  std::vector<std::string> frames_;
};

ProbePlan plan_of(std::uint32_t hz, bool offcpu) {
  ProbePlan plan;
  plan.sample_hz = hz;
  plan.offcpu = offcpu;
  return plan;
}

class TimeProbesBesideCalls : public TimeProbes, public testing::WithParamInterface<bool> {};

TEST_P(TimeProbesBesideCalls, ComputingAndWaitingAreSeen) {
  record_work("work", plan_of(kHz, true), GetParam());
  ASSERT_FALSE(HasFatalFailure());
  // What the first thread ran while it computed: the time without those that it was off the CPU.
  std::uint64_t ran = computed_.end - computed_.begin;
  std::uint64_t sampled = 0;
  bool was_off = false;
  for (const usc_hit& hit : hits_) {
    if (hit.head.task != first_task()) continue;
    if (hit.source == USC_SOURCE_OFFCPU) {
      was_off = true;
      const std::uint64_t from = std::clamp<std::uint64_t>(hit.entry_ns, computed_.begin, computed_.end);
      ran -= std::clamp<std::uint64_t>(hit.head.time, from, computed_.end) - from;
    } else if (hit.source == USC_SOURCE_SAMPLE) {
      EXPECT_GT(hit.args[1], 0U);
      EXPECT_EQ(hit.entry_ns, hit.head.time);
      EXPECT_EQ(hit.frames != 0, hit.kind == USC_SAMPLE_KERNEL);
      if (hit.entry_ns > computed_.begin && hit.entry_ns < computed_.end) sampled += hit.args[1];
    }
  }
  EXPECT_TRUE(was_off);
  EXPECT_GT(ran, kComputesNs * 9 / 10);
  EXPECT_GT(sampled + computed_.stood_still, ran * 85 / 100 - 20 * kMs)
      << "it stood still for " << computed_.stood_still << " ns";
  EXPECT_LT(sampled, ran * 115 / 100 + 20 * kMs);

  const std::size_t sleep = longest(USC_OFFCPU_SLEEPING, "nanosleep", true);
  ASSERT_LT(sleep, hits_.size());
  EXPECT_GE(took(hits_[sleep]), kSleepsNs - 50 * kMs);
  EXPECT_EQ(hits_[sleep].how, USC_HOW_RETURNED);
  EXPECT_EQ(hits_[sleep].args[0], 0U);  // a timer's interrupt

  const std::size_t wait = longest(USC_OFFCPU_SLEEPING, "pipe_read", false);
  ASSERT_LT(wait, hits_.size());
  // The thread that is waited for may have begun long before.
  EXPECT_GE(took(hits_[wait]), (kSleepsNs + kComputesNs) * 3 / 4);
  EXPECT_EQ(hits_[wait].args[0], tids_[first_task()]);
  EXPECT_EQ(hits_[wait].args[1], tids_[first_task()]);
}

INSTANTIATE_TEST_SUITE_P(Calls, TimeProbesBesideCalls, testing::Bool());

TEST_F(TimeProbes, WhatStillWaitsAtTheEndIsOpen) {
  record_work("sleep", plan_of(0, true), true, 700 * kMs);
  ASSERT_FALSE(HasFatalFailure());
  const auto open =
      std::find_if(hits_.begin(), hits_.end(), [](const usc_hit& hit) { return hit.how == USC_HOW_OPEN; });
  ASSERT_NE(open, hits_.end());
  EXPECT_EQ(open->kind, USC_OFFCPU_SLEEPING);
  EXPECT_GT(took(*open), 100 * kMs);
  EXPECT_GT(open->frames, 0U);
  for (const usc_hit& hit : hits_) EXPECT_EQ(hit.source, USC_SOURCE_OFFCPU);
}

// Most of its time the program is in the tracer's own copies of its stack, where the clock finds it. Where the tracer
// has no CPU for a while, so many of them do not all fit its rings, which it tells.
TEST_F(TimeProbes, ASampleThatInterruptsACopyHasItsStack) {
  copies_may_be_lost_ = true;
  record_work("copies", plan_of(kMostHz, false), true);
  ASSERT_FALSE(HasFatalFailure());
  std::set<std::uint32_t> of_calls;
  for (const usc_event& event : sink_.all<usc_event>())
    if (event.kind == SYS_getppid) of_calls.insert(event.stack);
  EXPECT_GT(of_calls.size(), 100U);  // each copy is of an id of its own
  EXPECT_GT(
      std::count_if(hits_.begin(), hits_.end(), [&](const usc_hit& hit) { return of_calls.count(hit.stack) != 0; }),
      10);
}

TEST_F(TimeProbes, NothingIsRecordedThatNobodyAskedFor) {
  record_work("work", {}, true);
  EXPECT_TRUE(hits_.empty());
  EXPECT_TRUE(sink_.all<usc_kind>().empty());
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "work") return uscope::tracer::work(argv[2]);
  if (what == "copies") return uscope::tracer::through_memory(uscope::tracer::calls_from_afar, 1'000) == 1 ? 0 : 1;
  if (what == "sleep") {
    uscope::tracer::sleep_for(2'000 * uscope::tracer::kMs);
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
