// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/resolve.h"

#include <gtest/gtest.h>

#include "tracer/targets/answer_wire.h"

namespace uscope::tracer {
namespace {

TargetMatch match_named(const std::string& name, std::uint64_t place = 16, const std::string& why_not = "") {
  TargetMatch match{"ufunction:" + name, {}, why_not, ""};
  match.probe.source = USC_SOURCE_UFUNCTION;
  match.probe.name = name;
  match.probe.path = "/usr/bin/app";
  match.probe.places = {place};
  match.probe.arguments.push_back({.name = "fd", .type = "int", .reg = 5, .bytes = 4, .is_signed = true});
  return match;
}

Target target_of(const std::string& text) {
  return *parse_target(text);
}

TEST(Resolve, KindsAreNumberedByName) {
  TargetMatch tracepoint{"tracepoint:a:b", {}, "", ""};
  tracepoint.probe.source = USC_SOURCE_TRACEPOINT;
  tracepoint.probe.name = "a:b";
  TargetMatch other = match_named("app:same", 96);
  other.probe.arguments.clear();
  const std::vector targets{target_of("ufunction:app:*"), target_of("tracepoint:a:b"), target_of("ufunction:app:z*")};
  std::vector<TargetAnswer> answers(3);
  // Two functions of one name share their kind, if their arguments are alike; what two targets mean is attached once.
  answers[0].matches = {match_named("app:zero", 1), match_named("app:same", 64), match_named("app:same", 80), other};
  answers[1].matches = {tracepoint};
  answers[2].matches = {match_named("app:zero", 1)};
  const auto resolved = plan_of(targets, answers, {5});
  ASSERT_TRUE(resolved);
  std::vector<std::pair<std::string, std::uint32_t>> kinds;
  for (const Probe& probe : resolved->plan.probes) kinds.emplace_back(probe.name, probe.kind);
  EXPECT_EQ(kinds, (std::vector<std::pair<std::string, std::uint32_t>>{
                       {"a:b", 1}, {"app:same", 1}, {"app:same", 2}, {"app:same", 2}, {"app:zero", 3}}));
  EXPECT_FALSE(resolved->plan.empty());
}

TEST(Resolve, AFunctionOfTheKernelHasOneName) {
  const auto function = [](const std::string& name, std::uint64_t place) {
    TargetMatch match{"kfunction:" + name, {}, "", ""};
    match.probe.source = USC_SOURCE_KFUNCTION;
    match.probe.name = name;
    match.probe.places = {place};
    return match;
  };
  const std::vector targets{target_of("kfunction:z*"), target_of("kfunction:a*")};
  std::vector<TargetAnswer> answers(2);
  answers[0].matches = {function("zero", 64), function("zero", 80)};
  answers[1].matches = {function("all", 64), function("zero", 80)};
  const auto resolved = plan_of(targets, answers, {10});
  ASSERT_TRUE(resolved);
  std::vector<std::pair<std::string, std::uint64_t>> names;
  for (const Probe& probe : resolved->plan.probes) names.emplace_back(probe.name, probe.places.front());
  EXPECT_EQ(names, (std::vector<std::pair<std::string, std::uint64_t>>{{"all", 64}, {"zero", 80}}));
  EXPECT_EQ(resolved->left_out, std::vector<std::string>{"kfunction:zero is another name of all, and is told as that"});
}

TEST(Resolve, WhatIsNotKeptIsSaidOnce) {
  const std::vector targets{target_of("ufunction:app:*")};
  std::vector<TargetAnswer> answers(1);
  const auto said = [&] { return plan_of(targets, answers, {10})->not_kept; };
  answers[0].matches = {match_named("app:a", 1), match_named("app:b", 2), match_named("app:c", 3)};
  EXPECT_EQ(said(), "");
  answers[0].matches = {match_named("app:a", 1), match_named("app:b", 2), match_named("app:c", 3)};
  answers[0].matches[1].probe.not_kept = "z is not kept: an event holds six arguments";
  EXPECT_EQ(said(), "of app:b, z is not kept: an event holds six arguments");
  answers[0].matches = {match_named("app:a", 1), match_named("app:b", 2), match_named("app:c", 3)};
  for (TargetMatch& match : answers[0].matches) match.probe.not_kept = "z is not kept: why";
  EXPECT_EQ(said(), "of app:a, z is not kept: why; likewise of 2 others (`uscope list` names them)");
}

TEST(Resolve, AFunctionWithItsReturnIsAttachedOnce) {
  const std::vector targets{target_of("ufunction:app:*"), target_of("ufunction:app:a%return")};
  std::vector<TargetAnswer> answers(2);
  answers[0].matches = {match_named("app:a", 1), match_named("app:b", 2)};
  answers[1].matches = {match_named("app:a", 1)};
  answers[1].matches[0].probe.with_return = true;
  answers[1].matches[0].probe.returns = {9};
  const auto resolved = plan_of(targets, answers, {5});
  ASSERT_TRUE(resolved);
  ASSERT_EQ(resolved->plan.probes.size(), 2U);
  EXPECT_TRUE(resolved->plan.probes[0].with_return);
  EXPECT_EQ(resolved->plan.probes[0].returns, std::vector<std::uint64_t>{9});
  EXPECT_FALSE(resolved->plan.probes[1].with_return);
}

TEST(Resolve, TooManyProbesAreRefused) {
  const std::vector targets{target_of("ufunction:app:*")};
  std::vector<TargetAnswer> answers(1);
  for (int i = 0; i < 3; i++) answers[0].matches.push_back(match_named("app:f" + std::to_string(i)));
  EXPECT_TRUE(plan_of(targets, answers, {3}));
  const auto resolved = plan_of(targets, answers, {2});
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().what,
            "ufunction:app:*: that is 3 probes, and without --all-matches uscope attaches at most 2");
}

TEST(Resolve, WhatCannotBeTracedIsSaid) {
  const std::vector targets{target_of("ufunction:app:*")};
  std::vector<TargetAnswer> answers(1);
  answers[0].matches = {match_named("app:a"), match_named("app:b", 0, "it is an IFUNC")};
  const auto some = plan_of(targets, answers, {10});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->plan.probes.size(), 1U);
  EXPECT_EQ(some->left_out, std::vector<std::string>{
                                "1 of 2 matches of ufunction:app:* cannot be traced (1: it is an IFUNC): `uscope list "
                                "--refused` names them"});
  answers[0].matches = {match_named("app:b", 0, "it is an IFUNC")};
  EXPECT_EQ(plan_of(targets, answers, {10}).error().what, "ufunction:app:* cannot be traced: it is an IFUNC");
  answers[0].matches.clear();
  answers[0].problem = {"nothing there", "look elsewhere"};
  EXPECT_EQ(plan_of(targets, answers, {10}).error().what, "nothing there");
}

TEST(Resolve, OnePlaceThatIsNamedCanBeForced) {
  std::vector<TargetAnswer> answers(1);
  answers[0].matches = {match_named("app:b", 0, "nothing proves it")};
  answers[0].matches[0].can_be_forced = true;
  const std::vector named{target_of("ufunction:app:b")};
  const auto refused = plan_of(named, answers, {10});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().remedy,
            "leave it out; or give --force-probe, at the risk of every program that uses the file");
  const auto forced = plan_of(named, answers, {10, true});
  ASSERT_TRUE(forced);
  EXPECT_EQ(forced->plan.probes.size(), 1U);
  EXPECT_EQ(forced->left_out, std::vector<std::string>{"ufunction:app:b is probed at your risk: nothing proves it"});
  EXPECT_FALSE(plan_of(std::vector{target_of("ufunction:app:b*")}, answers, {10, true}));
  answers[0].matches.push_back(answers[0].matches[0]);
  EXPECT_FALSE(plan_of(named, answers, {10, true}));
  answers[0].matches = {match_named("app:b", 0, "it is an IFUNC")};
  EXPECT_FALSE(plan_of(named, answers, {10, true}));
}

TEST(Resolve, ReasonsAreCounted) {
  std::vector<TargetMatch> matches = {match_named("a", 0, "x"), match_named("b", 0, "y"), match_named("c"),
                                      match_named("d", 0, "y")};
  using Reasons = std::vector<std::pair<std::string, std::size_t>>;
  EXPECT_EQ(reasons_of(matches), (Reasons{{"y", 2}, {"x", 1}}));
}

TEST(Resolve, SamplesHaveOneRate) {
  const auto both = [](const std::string& one, const std::string& two) {
    const std::vector targets{target_of(one), target_of(two)};
    return plan_of(targets, std::vector<TargetAnswer>(2), {10});
  };
  EXPECT_EQ(both("sample", "sample:99")->plan.sample_hz, 99U);
  EXPECT_EQ(both("sample", "sample:100").error().remedy, "give -t sample:HZ once");
  EXPECT_TRUE(both("sample", "offcpu")->plan.offcpu);
}

TEST(AnswerWire, BringsAnswersAsTheyAre) {
  std::vector<TargetAnswer> answers(2);
  answers[0].matches = {match_named("app:a"), match_named("app:b", 0, "why not")};
  answers[0].matches[1].can_be_forced = true;
  answers[0].matches[0].probe.source = USC_SOURCE_USDT;
  answers[0].matches[0].probe.semaphore = 77;
  answers[0].matches[0].probe.places = {1, 2};
  answers[0].matches[0].probe.with_return = true;
  answers[0].matches[0].probe.returns = {5, 7};
  usc_jump indirect{};
  indirect.base = 3;
  indirect.index = USC_JUMP_NOTHING;
  indirect.parts = 1;
  indirect.part[0] = {-16, 64};
  answers[0].matches[0].probe.jumps = {{.place = 6, .may_return = true, .indirect = indirect},
                                       {.place = 8, .condition = 5, .again = true, .indirect = {}}};
  answers[0].matches[0].probe.result_type = "int";
  answers[0].matches[0].probe.result_bytes = 4;
  answers[0].matches[0].probe.result_is_signed = true;
  answers[0].matches[0].probe.not_kept = "arg6 is not kept";
  answers[0].matches[0].probe.arguments.push_back(
      {.name = "m", .type = "long", .from = ProbeArgument::From::kMemory, .reg = 16, .is_string = true, .offset = -8});
  answers[1].problem = {"what", "remedy"};
  const std::string bytes = encode_answers(answers);
  const auto decoded = decode_answers(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode_answers(*decoded), bytes);
  const Probe& probe = (*decoded)[0].matches.at(0).probe;
  EXPECT_EQ(probe.places, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(probe.semaphore, 77U);
  EXPECT_TRUE(probe.with_return);
  EXPECT_EQ(probe.returns, (std::vector<std::uint64_t>{5, 7}));
  EXPECT_EQ(probe.jumps.at(1).condition, 5);
  EXPECT_TRUE(probe.jumps.at(1).again);
  EXPECT_FALSE(probe.jumps.at(1).indirect);
  EXPECT_TRUE(probe.jumps.at(0).may_return);
  EXPECT_EQ(probe.jumps.at(0).indirect->part[0].high, 64);
  EXPECT_EQ(probe.result_type, "int");
  EXPECT_TRUE(probe.result_is_signed);
  EXPECT_EQ(probe.not_kept, "arg6 is not kept");
  EXPECT_EQ(probe.arguments.at(1).offset, -8);
  EXPECT_EQ(probe.arguments.at(1).from, ProbeArgument::From::kMemory);
  EXPECT_EQ((*decoded)[0].matches.at(1).why_not, "why not");
  EXPECT_EQ((*decoded)[1].problem.remedy, "remedy");
  for (std::size_t size = 0; size < bytes.size(); size++) EXPECT_FALSE(decode_answers(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode_answers(bytes + "x"));
  // A process that a file has taken over says nothing of other sources, nor of registers that do not exist.
  answers[0].matches[0].probe.source = USC_SOURCE_TRACEPOINT;
  EXPECT_FALSE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.source = USC_SOURCE_USDT;
  answers[0].matches[0].probe.arguments[0].reg = 17;
  EXPECT_FALSE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.arguments[0].reg = 5;
  answers[0].matches[0].probe.jumps[1].condition = 17;
  EXPECT_FALSE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.jumps[1].condition = 16;
  EXPECT_TRUE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.jumps[0].indirect->index = 16;
  EXPECT_FALSE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.jumps[0].indirect->index = 15;
  EXPECT_TRUE(decode_answers(encode_answers(answers)));
  answers[0].matches[0].probe.result_bytes = 3;
  EXPECT_FALSE(decode_answers(encode_answers(answers)));
}

}  // namespace
}  // namespace uscope::tracer
