// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/line_choice.h"

#include <gtest/gtest.h>

namespace uscope::live {
namespace {

using Places = std::vector<std::size_t>;

CallLine line(const std::string& call, const std::string& function, const std::string& module, std::uint64_t calls,
              std::uint64_t errors, std::uint64_t time) {
  CallLine made;
  made.call = call;
  made.function = function;
  made.module = module;
  made.calls = calls;
  made.errors = errors;
  made.times.add(time);
  made.waits = call == "futex";
  return made;
}

const std::vector<CallLine>& lines() {
  static const std::vector<CallLine> kLines = {line("read", "next_request", "/usr/sbin/server", 5, 2, 100),
                                               line("write", "send_Answer", "/usr/sbin/server", 9, 0, 300),
                                               line("futex", "wait", "/usr/lib/libwork.so", 9, 3, 200)};
  return kLines;
}

TEST(LineChoice, OrdersByWhatIsAskedForAndThenByCalls) {
  // futex waits, and comes behind the others
  EXPECT_EQ(chosen(lines(), {Order::kCalls, ""}), (Places{1, 0, 2}));
  EXPECT_EQ(chosen(lines(), {Order::kTime, ""}), (Places{1, 0, 2}));
  EXPECT_EQ(chosen(lines(), {Order::kErrors, ""}), (Places{0, 1, 2}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "", true}), (Places{0, 1, 2}));
  EXPECT_EQ(chosen(lines(), {Order::kErrors, "", true}), (Places{1, 0, 2}));
}

TEST(LineChoice, CallsThatWaitCanBeLeftOutOrAlone) {
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "", false, Waits::kNone}), (Places{1, 0}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "", false, Waits::kOnly}), (Places{2}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "read", false, Waits::kOnly}), Places{});
}

TEST(LineChoice, EqualLinesAreInTheOrderOfTheirTexts) {
  const std::vector<CallLine> alike = {line("write", "f", "m", 9, 0, 1), line("read", "f", "m", 9, 0, 1)};
  EXPECT_EQ(chosen(alike, {Order::kCalls, ""}), (Places{1, 0}));
  EXPECT_EQ(chosen(alike, {Order::kCalls, "", true}), (Places{1, 0}));
}

TEST(LineChoice, FiltersByCallFunctionAndModuleInAnyCase) {
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "REA"}), (Places{0}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "answer"}), (Places{1}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "server"}), (Places{1, 0}));
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "usr"}), Places{});  // a module's folder is not shown
  EXPECT_EQ(chosen(lines(), {Order::kCalls, "nothing"}), Places{});
}

TEST(LineChoice, ThreadsAlike) {
  const std::vector<ThreadLine> threads = {{10, 11, "main", 1, 0, 50, "read", "x86_64"},
                                           {10, 12, "Worker", 2, 1, 10, "futex", "x86_64"},
                                           {0, 0, "", 3, 0, 0, "write", "x86_64", true}};
  EXPECT_EQ(chosen(threads, {Order::kCalls, ""}), (Places{2, 1, 0}));
  EXPECT_EQ(chosen(threads, {Order::kTime, ""}), (Places{0, 1, 2}));
  EXPECT_EQ(chosen(threads, {Order::kErrors, ""}), (Places{1, 2, 0}));
  EXPECT_EQ(chosen(threads, {Order::kCalls, "work"}), (Places{1}));
  EXPECT_EQ(chosen(threads, {Order::kCalls, "11"}), (Places{0}));
  EXPECT_EQ(chosen(threads, {Order::kCalls, "write"}), (Places{2}));
  EXPECT_EQ(chosen(threads, {Order::kCalls, "0"}), (Places{1, 0}));  // the others have no pid
}

}  // namespace
}  // namespace uscope::live
