// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/trigger.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace uscope::trace {
namespace {

// A stack is written as a word, innermost first: p = an executed program, o = another module of the application, A = a
// run-time module that was executed, l = another library, r = the run time, R = the same, named by --app-module. In the
// application's modules, s is a function of a run-time system (std::), d one of a package; J, K and S are generated
// code: own, of a package, of a standard library. n = a module that --app-module names; e = an entry point of a program
// that was not executed, m = main() of a launcher.
TriggerFrame frame_of(char frame) {
  const auto is = [&](std::string_view those) { return those.find(frame) != std::string_view::npos; };
  TriggerFrame facts{
      .app = is("poAsdnmR"), .named = is("nR"), .runtime = is("ArR"), .program = is("pAsm"), .generated = is("JKS")};
  if (is("sS")) facts.origin = FunctionOrigin::kRuntime;
  if (is("dK")) facts.origin = FunctionOrigin::kPackage;
  if (is("e")) facts.role = FunctionRole::kEntry;
  if (is("m")) facts.role = FunctionRole::kHandsOver;
  return facts;
}

std::string chosen(const std::string& word, const TriggerStack& stack) {
  const auto trigger = find_trigger(word, frame_of, stack);
  if (!trigger) return "none";
  const std::string position = std::to_string(trigger->position);
  if (trigger->kind == TriggerKind::kCut) return position + " cut";
  return position + (trigger->kind == TriggerKind::kFallback ? " fallback" : "");
}

std::string chosen(const std::string& word, StackEnd end = StackEnd::kOther) {
  return chosen(word, TriggerStack{.end = end});
}

TEST(Trigger, IsTheInnermostFrameOfTheApplication) {
  EXPECT_EQ(chosen("p"), "0");
  EXPECT_EQ(chosen("rlppr"), "2");
  EXPECT_EQ(chosen("lrpl"), "2");
  EXPECT_EQ(chosen("rloplr"), "2");
}

TEST(Trigger, FunctionsOfTheRunTimeSystemAndOfPackagesDoNotCount) {
  EXPECT_EQ(chosen("sspp"), "2");
  EXPECT_EQ(chosen("sdsp"), "3");
  EXPECT_EQ(chosen("rsls"), "2 fallback");
  EXPECT_EQ(chosen("sds"), "1 fallback");
  EXPECT_EQ(chosen("rss"), "1 fallback");
  EXPECT_EQ(chosen("ss", StackEnd::kBudget), "0 cut");
  EXPECT_EQ(chosen("sd", StackEnd::kBudget), "1 cut");
}

TEST(Trigger, WithTheRunTimeTheyDo) {
  EXPECT_EQ(chosen("rssp", {.with_runtime = true}), "1");
  EXPECT_EQ(chosen("ldp", {.with_runtime = true}), "1");
  EXPECT_EQ(chosen("rpJ", {.managed = true, .with_runtime = true}), "1");
}

TEST(Trigger, GeneratedCodeCountsBeforeWhatRunsIt) {
  EXPECT_EQ(chosen("rooSKJJop", {.managed = true}), "5");
  EXPECT_EQ(chosen("rooSKSop", {.managed = true}), "4 fallback");
  EXPECT_EQ(chosen("rooSop", {.managed = true}), "3 fallback");
  EXPECT_EQ(chosen("roop", {.managed = true}), "1 fallback");
  EXPECT_EQ(chosen("rloop", {.managed = true}), "1 fallback");
  // A module that is named counts, and so does generated code in any program.
  EXPECT_EQ(chosen("ronJop", {.managed = true}), "2");
  EXPECT_EQ(chosen("rJp"), "1");
  EXPECT_EQ(chosen("rpJp"), "1");
}

TEST(Trigger, TheRunTimeCountsWhereItIsNamedAndNothingElseDoes) {
  EXPECT_EQ(chosen("RlR"), "0");
  EXPECT_EQ(chosen("Rlp"), "2");
  EXPECT_EQ(chosen("Rl", StackEnd::kBudget), "0 cut");
}

TEST(Trigger, AnExecutedLoaderIsOneWhereNothingElseIs) {
  EXPECT_EQ(chosen("A"), "0 fallback");
  EXPECT_EQ(chosen("rAl"), "2 fallback");
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
  EXPECT_EQ(chosen("rrrs", StackEnd::kRoot), "3 fallback");
  EXPECT_EQ(chosen("sps", StackEnd::kRoot), "1");  // static: main, and _start
  EXPECT_EQ(chosen("Arp", StackEnd::kRoot), "0 fallback");
  // A library's function that runs on a stack of its own is none.
  EXPECT_EQ(chosen("rlro", StackEnd::kRoot), "3");
}

// The same stack with less and less of its outer frames.
TEST(Trigger, NeverDependsOnHowFarOutTheStackGoes) {
  for (const std::string whole : {"rllorlprrp", "rllrrp", "rlpplrrp", "llp", "rrp", "rssdpp", "rssdss"}) {
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
  const auto position = main_library(stack, frame_of, end);
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

TEST(MainLibrary, IsWhatALaunchersMainCalls) {
  EXPECT_EQ(main_of("rllmrrp"), "2");
  EXPECT_EQ(main_of("rlpmrrp"), "none");
  EXPECT_EQ(main_of("rrmrrp"), "none");
  EXPECT_EQ(main_of("mrrp"), "none");
}

TEST(OtherProgram, IsWhereAnEntryPointIsOutermost) {
  const auto is = [](const std::string& stack, StackEnd end) { return ends_in_other_program(stack, frame_of, end); };
  EXPECT_TRUE(is("rllrre", StackEnd::kRoot));
  EXPECT_FALSE(is("rllrre", StackEnd::kBudget));
  EXPECT_FALSE(is("rllrrp", StackEnd::kRoot));
  EXPECT_FALSE(is("rellrr", StackEnd::kRoot));
  EXPECT_FALSE(is("", StackEnd::kRoot));
}

}  // namespace
}  // namespace uscope::trace
