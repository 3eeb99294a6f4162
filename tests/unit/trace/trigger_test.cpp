// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/trigger.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::trace {
namespace {

// A stack is written as a word, innermost first: p = an executed program, o = another module of the application, A = a
// run-time module that was executed, l = another library, r = the run time.
TriggerModule module_of(char frame) {
  return {.app = frame == 'p' || frame == 'o' || frame == 'A',
          .runtime = frame == 'A' || frame == 'r',
          .program = frame == 'p' || frame == 'A'};
}

std::string chosen(const std::string& stack, StackEnd end = StackEnd::kOther) {
  const auto trigger = find_trigger(stack, module_of, end);
  if (!trigger) return "none";
  const std::string position = std::to_string(trigger->position);
  if (trigger->kind == TriggerKind::kCut) return position + " cut";
  return position + (trigger->kind == TriggerKind::kFallback ? " fallback" : "");
}

TEST(Trigger, IsTheInnermostFrameOfTheApplication) {
  EXPECT_EQ(chosen("p"), "0");
  EXPECT_EQ(chosen("rlppr"), "2");
  EXPECT_EQ(chosen("lrpl"), "2");
  EXPECT_EQ(chosen("rloplr"), "2");
}

TEST(Trigger, AnExecutedLoaderIsOneWhereNothingElseIs) {
  EXPECT_EQ(chosen("A"), "0");
  EXPECT_EQ(chosen("rAl"), "1");
  EXPECT_EQ(chosen("Alp"), "2");
}

TEST(Trigger, WithoutTheApplicationItIsTheInnermostLibrary) {
  EXPECT_EQ(chosen("rll"), "1 fallback");
  EXPECT_EQ(chosen("lr", StackEnd::kRoot), "0 fallback");
}

TEST(Trigger, TheRunTimeAloneHasNone) {
  EXPECT_EQ(chosen(""), "none");
  EXPECT_EQ(chosen("", StackEnd::kBudget), "none");
  EXPECT_EQ(chosen("rr", StackEnd::kRoot), "none");
}

TEST(Trigger, TheEntryPointIsOneOnlyWhereNothingButTheRunTimeIsInside) {
  EXPECT_EQ(chosen("rlrrp", StackEnd::kRoot), "1 fallback");
  EXPECT_EQ(chosen("rolrrp", StackEnd::kRoot), "1");
  EXPECT_EQ(chosen("rrrp", StackEnd::kRoot), "3");
  EXPECT_EQ(chosen("rpp", StackEnd::kRoot), "1");  // static: main, and _start
  EXPECT_EQ(chosen("Arp", StackEnd::kRoot), "2");
  // A library's function that runs on a stack of its own is none.
  EXPECT_EQ(chosen("rlro", StackEnd::kRoot), "3");
}

// The same stack with less and less of its outer frames.
TEST(Trigger, NeverDependsOnHowFarOutTheStackGoes) {
  for (const std::string whole : {"rllorlprrp", "rllrrp", "rlpplrrp", "llp", "rrp"}) {
    const std::string expected = chosen(whole, StackEnd::kRoot);
    for (std::size_t budget = 1; budget < whole.size(); budget++) {
      const std::string found = chosen(whole.substr(0, budget), StackEnd::kBudget);
      const bool within = expected.find(' ') == std::string::npos && std::stoul(expected) < budget;
      if (within)
        EXPECT_EQ(found, expected) << whole << " " << budget;
      else
        EXPECT_TRUE(found.ends_with("cut")) << whole << " " << budget << " " << found;
    }
  }
}

TEST(Trigger, OfACutStackTheInnermostLibraryIsKept) {
  EXPECT_EQ(chosen("rll", StackEnd::kBudget), "1 cut");
  EXPECT_EQ(chosen("rr", StackEnd::kBudget), "0 cut");
  EXPECT_EQ(chosen("Ar", StackEnd::kBudget), "0 cut");
}

std::string main_of(const std::string& stack, StackEnd end = StackEnd::kRoot) {
  const auto position = main_library(stack, module_of, end);
  return position ? std::to_string(*position) : "none";
}

TEST(MainLibrary, IsWhatGlibcCallsForAnEntryPoint) {
  EXPECT_EQ(main_of("rllrrp"), "2");
  EXPECT_EQ(main_of("rllrrp", StackEnd::kOther), "none");
  EXPECT_EQ(main_of("rlprrp"), "none");   // main is the program's
  EXPECT_EQ(main_of("rlrrrrp"), "none");  // a handler at exit
  EXPECT_EQ(main_of("rlrp"), "none");     // a constructor
  EXPECT_EQ(main_of("rlrr"), "none");     // a thread
  EXPECT_EQ(main_of("rrp"), "none");
}

}  // namespace
}  // namespace uscope::trace
