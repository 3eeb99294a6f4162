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

TEST(Trigger, RunTimeModulesAreThoseOfGlibcAndMusl) {
  for (const char* path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib/libc-2.31.so", "/lib64/ld-linux-x86-64.so.2",
                           "/lib/libpthread.so.0", "/lib/libpthread-2.31.so", "/lib/libc.musl-x86_64.so.1",
                           "/lib/ld-musl-x86_64.so.1", "libc.so.6", "/lib/ld64.so.1", "/usr/bin/ld.so"})
    EXPECT_TRUE(is_runtime(path)) << path;
  for (const char* path : {"", "/usr/bin/ld", "/usr/lib/libcap.so.2", "/opt/libc.so.6/app", "/usr/lib/libstdc++.so.6"})
    EXPECT_FALSE(is_runtime(path)) << path;
}

}  // namespace
}  // namespace uscope::trace
