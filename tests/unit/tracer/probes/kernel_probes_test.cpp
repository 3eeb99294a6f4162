// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/kernel_probes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace uscope::tracer {
namespace {

ProbeArgument argument_of(ProbeArgument::From from, std::string type, std::uint8_t bytes = 8, bool is_string = false) {
  ProbeArgument argument;
  argument.name = "name";
  argument.type = std::move(type);
  argument.from = from;
  argument.bytes = bytes;
  argument.is_string = is_string;
  return argument;
}

ProbePlan plan_with(std::uint8_t source, std::initializer_list<ProbeArgument> arguments) {
  Probe probe;
  probe.source = source;
  probe.kind = 7;
  probe.name = "system:event";
  probe.arguments = arguments;
  ProbePlan plan;
  plan.probes = {probe};
  return plan;
}

usc_probe_argument made_of(std::uint8_t source, const ProbeArgument& argument) {
  const auto probes = kernel_probes(plan_with(source, {argument}));
  EXPECT_TRUE(probes) << probes.error().what;
  return probes ? (*probes)[0].argument[0] : usc_probe_argument{};
}

TEST(KernelProbes, AreThoseOfThePlanInItsOrder) {
  ProbePlan plan = plan_with(USC_SOURCE_UFUNCTION, {});
  plan.probes.push_back(plan.probes[0]);
  plan.probes[1].kind = 8;
  plan.probes[1].source = USC_SOURCE_USDT;
  const auto probes = kernel_probes(plan);
  ASSERT_TRUE(probes);
  ASSERT_EQ(probes->size(), 2U);
  EXPECT_EQ((*probes)[0].kind, 7U);
  EXPECT_EQ((*probes)[0].source, USC_SOURCE_UFUNCTION);
  EXPECT_EQ((*probes)[1].kind, 8U);
  EXPECT_EQ((*probes)[1].source, USC_SOURCE_USDT);
}

TEST(KernelProbes, ArgumentsOfPrograms) {
  ProbeArgument from = argument_of(ProbeArgument::From::kMemory, "short", 2);
  from.reg = 7;
  from.offset = -24;
  from.is_signed = true;
  const usc_probe_argument memory = made_of(USC_SOURCE_USDT, from);
  EXPECT_EQ(memory.from, USC_FROM_MEMORY);
  EXPECT_EQ(memory.reg, 7);
  EXPECT_EQ(memory.offset, -24);
  EXPECT_EQ(memory.bytes, 2);
  EXPECT_EQ(memory.is_signed, 1);
  EXPECT_EQ(memory.text, USC_TEXT_NONE);
  const usc_probe_argument text =
      made_of(USC_SOURCE_UFUNCTION, argument_of(ProbeArgument::From::kRegister, "const char *", 8, true));
  EXPECT_EQ(text.text, USC_TEXT_POINTED);
  from = argument_of(ProbeArgument::From::kConstant, "int");
  from.offset = 5;
  from.reg = 3;  // means nothing here
  EXPECT_EQ(made_of(USC_SOURCE_USDT, from).from, USC_FROM_CONSTANT);
  EXPECT_EQ(made_of(USC_SOURCE_USDT, from).offset, 5);
}

TEST(KernelProbes, TextsOfTracepointsAreWhereTheirTypesSay) {
  const auto text_of = [](const char* type, std::uint8_t bytes) {
    return made_of(USC_SOURCE_TRACEPOINT, argument_of(ProbeArgument::From::kRecord, type, bytes, true));
  };
  EXPECT_EQ(text_of("__data_loc char[]", 4).text, USC_TEXT_LOCATED);
  EXPECT_EQ(text_of("__rel_loc char[]", 4).text, USC_TEXT_RELATIVE);
  EXPECT_EQ(text_of("const char *", 8).text, USC_TEXT_POINTED);
  EXPECT_EQ(text_of("char[16]", 1).text, USC_TEXT_INSIDE);
  EXPECT_EQ(text_of("char [16]", 8).text_bytes, 16);
  EXPECT_EQ(made_of(USC_SOURCE_TRACEPOINT, argument_of(ProbeArgument::From::kRecord, "char[16]", 8)).text,
            USC_TEXT_NONE);
}

TEST(KernelProbes, ErrorsNameTheProbeAndItsArgument) {
  const auto refused =
      kernel_probes(plan_with(USC_SOURCE_TRACEPOINT, {argument_of(ProbeArgument::From::kRecord, "int"),
                                                      argument_of(ProbeArgument::From::kRegister, "int")}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "system:event cannot be probed: argument name is in no place that its source has");
  EXPECT_FALSE(refused.error().remedy.empty());
  ProbePlan plan = plan_with(USC_SOURCE_USDT, {});
  plan.probes[0].arguments.resize(USC_PROBE_ARGUMENTS + 1);
  EXPECT_FALSE(kernel_probes(plan));
  plan.probes[0].arguments.clear();
  plan.probes[0].kind = 0;
  ASSERT_FALSE(kernel_probes(plan));
  EXPECT_EQ(kernel_probes(plan).error().what, "system:event cannot be probed: its kind has no number");
}

TEST(KernelProbes, ThereIsRoomForSoManyOnly) {
  ProbePlan plan = plan_with(USC_SOURCE_UFUNCTION, {});
  plan.probes.resize(USC_PROBES_MOST, plan.probes[0]);
  EXPECT_TRUE(kernel_probes(plan));
  plan.probes.push_back(plan.probes[0]);
  ASSERT_FALSE(kernel_probes(plan));
  EXPECT_NE(kernel_probes(plan).error().what.find(std::to_string(USC_PROBES_MOST + 1)), std::string::npos);
}

}  // namespace
}  // namespace uscope::tracer
