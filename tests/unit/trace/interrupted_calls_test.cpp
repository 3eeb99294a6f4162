// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/interrupted_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uscope::trace {
namespace {

constexpr std::uint32_t kPoll = 7;
constexpr std::uint32_t kRead = 0;
constexpr std::uint32_t kReturn = 15;
constexpr std::int64_t kEintr = -4;

usc_event call(std::uint64_t entry, std::uint32_t number, std::int64_t result, std::uint32_t task = 1) {
  usc_event event{};
  event.head.task = task;
  event.entry_ns = entry;
  event.head.time = entry + 5;
  event.kind = number;
  event.result = result;
  event.how = USC_HOW_RETURNED;
  event.source = USC_SOURCE_SYSCALL;
  if (number == kReturn) event.flags = USC_EVENT_NO_RESULT;
  return event;
}

// "E" for each of the events that failed with EINTR, "." for the others.
std::string seen(const std::vector<usc_event>& events) {
  InterruptedCalls calls;
  for (auto event = events.rbegin(); event != events.rend(); ++event) calls.add(*event);  // in any order
  calls.finish();
  std::string out;
  for (const usc_event& event : events) out += calls.result_of(event) == kEintr ? "E" : ".";
  return out;
}

TEST(InterruptedCalls, AHandlerMakesThemFailOrBeMadeAgain) {
  for (const std::int64_t result : {-512, -514, -516})
    EXPECT_EQ(seen({call(10, kPoll, result), call(20, kReturn, kEintr)}), "E.") << result;
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kPoll, 1)}), "..");
  EXPECT_EQ(seen({call(10, kRead, -512), call(20, kReturn, kRead), call(30, kRead, 3)}), "...");  // SA_RESTART
  EXPECT_EQ(seen({call(10, kRead, -513), call(20, kReturn, kEintr)}), "..");
  // As 32-bit programs have it.
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kReturn, 0xfffffffc)}), "E.");
}

TEST(InterruptedCalls, HandlersAreInterruptedToo) {
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kRead, -512), call(30, kReturn, kEintr), call(40, kReturn, kEintr)}),
            "EE..");
  // The inner one is made again, and fails at its second try.
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kRead, -512), call(30, kReturn, kRead), call(40, kRead, -512),
                  call(50, kReturn, kEintr), call(60, kReturn, kEintr)}),
            "E..E..");
  // A handler that interrupts code in no call.
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kReturn, 4711), call(30, kReturn, kEintr)}), "E..");
}

TEST(InterruptedCalls, OthersAreLeftAlone) {
  // Made again after SIGSTOP and SIGCONT; then another call says EINTR by itself.
  EXPECT_EQ(seen({call(10, kPoll, -516), call(20, kPoll, 1), call(30, kRead, kEintr), call(40, kReturn, kEintr)}),
            "....");
  EXPECT_EQ(seen({call(10, kPoll, -516, 1), call(20, kReturn, kEintr, 2)}), "..");
  EXPECT_EQ(seen({call(10, kPoll, 0), call(20, kReturn, kEintr)}), "..");
}

}  // namespace
}  // namespace uscope::trace
