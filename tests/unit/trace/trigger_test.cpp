// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/trigger.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::trace {
namespace {

// A stack is written as a word, innermost first: a = application, A = a run-time module that was executed, l = another
// library, r = the run time.
std::string chosen(const std::string& stack) {
  const auto trigger = find_trigger(stack, [](char frame) {
    return TriggerModule{frame == 'a' || frame == 'A', frame == 'A' || frame == 'r'};
  });
  return trigger ? std::to_string(trigger->position) + (trigger->fallback ? " fallback" : "") : "none";
}

TEST(Trigger, IsTheInnermostFrameOfTheApplication) {
  EXPECT_EQ(chosen("a"), "0");
  EXPECT_EQ(chosen("rlaar"), "2");
  EXPECT_EQ(chosen("lral"), "2");
}

TEST(Trigger, AnExecutedLoaderIsOneWhereNothingElseIs) {
  EXPECT_EQ(chosen("A"), "0");
  EXPECT_EQ(chosen("rAl"), "1");
  EXPECT_EQ(chosen("Ala"), "2");
}

TEST(Trigger, WithoutTheApplicationItIsTheInnermostLibrary) {
  EXPECT_EQ(chosen("rll"), "1 fallback");
  EXPECT_EQ(chosen("lr"), "0 fallback");
}

TEST(Trigger, TheRunTimeAloneHasNone) {
  EXPECT_EQ(chosen(""), "none");
  EXPECT_EQ(chosen("rr"), "none");
}

}  // namespace
}  // namespace uscope::trace
