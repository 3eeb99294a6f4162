// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "uscope/probes.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace uscope::include {
namespace {

usc_probe_argument argument_from(usc_argument_from from, std::uint8_t bytes = 8) {
  usc_probe_argument argument{};
  argument.from = from;
  argument.bytes = bytes;
  return argument;
}

usc_probe probe_of(usc_source source) {
  usc_probe probe{};
  probe.kind = 1;
  probe.source = source;
  return probe;
}

usc_probe_error error_of(usc_source source, const usc_probe_argument& argument) {
  usc_probe probe = probe_of(source);
  probe.argument[0] = argument;
  probe.arguments = 1;
  __u32 at = 0;
  return usc_probe_check(&probe, &at);
}

usc_probe_error error_of(const usc_probe& probe, __u32* where = nullptr) {
  __u32 at = 0;
  const usc_probe_error error = usc_probe_check(&probe, &at);
  if (where != nullptr) *where = at;
  return error;
}

TEST(Probes, OnlyFunctionsReturn) {
  usc_probe probe = probe_of(USC_SOURCE_UFUNCTION);
  probe.role = USC_PROBE_WITH_RETURN;
  for (const int result : {0, 1, 2, 4, 8, 4 | USC_RESULT_SIGNED}) {
    probe.result = static_cast<__u8>(result);
    EXPECT_EQ(error_of(probe), USC_PROBE_BAD_SOUND);
  }
  for (const int result : {3, 16, USC_RESULT_SIGNED}) {
    probe.result = static_cast<__u8>(result);
    EXPECT_EQ(error_of(probe), USC_PROBE_BAD_ROLE);
  }
  probe.result = 0;
  probe.source = USC_SOURCE_KFUNCTION;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_SOUND);
  for (const usc_source source : {USC_SOURCE_USDT, USC_SOURCE_TRACEPOINT}) {
    probe.source = static_cast<__u8>(source);
    EXPECT_EQ(error_of(probe), USC_PROBE_BAD_ROLE);
  }
  probe.source = USC_SOURCE_UFUNCTION;
  probe.role = 2;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_ROLE);
  probe.role = 0;
  probe.result = 8;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_ROLE);
}

TEST(Probes, ComeFromFourSources) {
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_KFUNCTION)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_UFUNCTION)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_USDT)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_TRACEPOINT)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_SYSCALL)), USC_PROBE_BAD_SOURCE);
  EXPECT_EQ(error_of(probe_of(USC_SOURCE_SAMPLE)), USC_PROBE_BAD_SOURCE);
}

TEST(Probes, HaveAKindAndAtMostSixArguments) {
  usc_probe probe = probe_of(USC_SOURCE_USDT);
  probe.kind = 0;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_KIND);
  probe.kind = ~0U;
  for (auto& argument : probe.argument) argument = argument_from(USC_FROM_REGISTER);
  probe.arguments = USC_PROBE_ARGUMENTS;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_SOUND);
  probe.arguments = USC_PROBE_ARGUMENTS + 1;
  EXPECT_EQ(error_of(probe), USC_PROBE_BAD_COUNT);
  probe.arguments = 3;
  __u32 at = 0;
  EXPECT_EQ(error_of(probe, &at), USC_PROBE_BAD_RESERVED);
  EXPECT_EQ(at, 3U);
}

TEST(Probes, FindArgumentsWhereTheirSourceHasThem) {
  for (const usc_source source : {USC_SOURCE_UFUNCTION, USC_SOURCE_USDT}) {
    EXPECT_EQ(error_of(source, argument_from(USC_FROM_REGISTER)), USC_PROBE_BAD_SOUND);
    EXPECT_EQ(error_of(source, argument_from(USC_FROM_MEMORY)), USC_PROBE_BAD_SOUND);
    EXPECT_EQ(error_of(source, argument_from(USC_FROM_RECORD)), USC_PROBE_BAD_FROM);
    EXPECT_EQ(error_of(source, argument_from(USC_FROM_CONSTANT)), USC_PROBE_BAD_SOUND);
  }
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument_from(USC_FROM_REGISTER)), USC_PROBE_BAD_FROM);
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument_from(USC_FROM_MEMORY)), USC_PROBE_BAD_FROM);
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument_from(USC_FROM_RECORD)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument_from(USC_FROM_CONSTANT)), USC_PROBE_BAD_SOUND);
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument_from(USC_FROM_COUNT)), USC_PROBE_BAD_FROM);
  EXPECT_EQ(error_of(USC_SOURCE_USDT, usc_probe_argument{}), USC_PROBE_BAD_FROM);
}

TEST(Probes, KnowTheirRegisters) {
  usc_probe_argument argument = argument_from(USC_FROM_REGISTER);
  argument.reg = 16;
  EXPECT_EQ(error_of(USC_SOURCE_USDT, argument), USC_PROBE_BAD_SOUND);
  argument.reg = 17;
  EXPECT_EQ(error_of(USC_SOURCE_USDT, argument), USC_PROBE_BAD_REG);
  argument = argument_from(USC_FROM_CONSTANT);
  argument.reg = 1;
  EXPECT_EQ(error_of(USC_SOURCE_USDT, argument), USC_PROBE_BAD_RESERVED);
  argument = argument_from(USC_FROM_REGISTER);
  argument.offset = 8;
  EXPECT_EQ(error_of(USC_SOURCE_USDT, argument), USC_PROBE_BAD_RESERVED);
}

TEST(Probes, TakeOneTwoFourOrEightBytes) {
  for (const int bytes : {1, 2, 4, 8})
    EXPECT_EQ(error_of(USC_SOURCE_UFUNCTION, argument_from(USC_FROM_REGISTER, static_cast<std::uint8_t>(bytes))),
              USC_PROBE_BAD_SOUND);
  for (const int bytes : {0, 3, 5, 9, 16, 255})
    EXPECT_EQ(error_of(USC_SOURCE_UFUNCTION, argument_from(USC_FROM_REGISTER, static_cast<std::uint8_t>(bytes))),
              USC_PROBE_BAD_BYTES);
}

TEST(Probes, ReadNothingOutsideOfARecord) {
  usc_probe_argument argument = argument_from(USC_FROM_RECORD, 4);
  argument.offset = USC_PROBE_RECORD_BYTES - 4;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_SOUND);
  argument.offset++;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_OFFSET);
  argument.offset = -1;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_OFFSET);
  argument.offset = USC_PROBE_RECORD_BYTES - 16;
  argument.text = USC_TEXT_INSIDE;
  argument.text_bytes = 16;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_SOUND);
  argument.text_bytes = 17;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_OFFSET);
}

TEST(Probes, FindTextsWhereTheyCanBe) {
  usc_probe_argument argument = argument_from(USC_FROM_REGISTER);
  argument.text = USC_TEXT_POINTED;
  EXPECT_EQ(error_of(USC_SOURCE_UFUNCTION, argument), USC_PROBE_BAD_SOUND);
  argument.bytes = 2;
  EXPECT_EQ(error_of(USC_SOURCE_UFUNCTION, argument), USC_PROBE_BAD_TEXT);
  for (const usc_argument_text text : {USC_TEXT_INSIDE, USC_TEXT_LOCATED, USC_TEXT_RELATIVE, USC_TEXT_COUNT}) {
    argument = argument_from(USC_FROM_MEMORY, 4);
    argument.text = text;
    EXPECT_EQ(error_of(USC_SOURCE_UFUNCTION, argument), USC_PROBE_BAD_TEXT);
  }
  for (const usc_argument_text text : {USC_TEXT_LOCATED, USC_TEXT_RELATIVE}) {
    argument = argument_from(USC_FROM_RECORD, 4);
    argument.text = text;
    EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_SOUND);
    argument.bytes = 8;
    EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_TEXT);
    argument.bytes = 4;
    argument.text_bytes = 1;
    EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_TEXT);
  }
  argument = argument_from(USC_FROM_RECORD, 1);
  argument.text = USC_TEXT_INSIDE;
  EXPECT_EQ(error_of(USC_SOURCE_TRACEPOINT, argument), USC_PROBE_BAD_TEXT);
}

TEST(Probes, ValuesAreOfTheirLowestBytes) {
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 8, 0), 0x1122334455667788U);
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 4, 0), 0x55667788U);
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 2, 0), 0x7788U);
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 1, 0), 0x88U);
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 1, 1), 0xffffffffffffff88U);
  EXPECT_EQ(usc_argument_value(0x11223344ffffffff, 4, 1), ~0ULL);
  EXPECT_EQ(usc_argument_value(0x11223344ffffffff, 4, 0), 0xffffffffU);
  EXPECT_EQ(usc_argument_value(0x1122334455667788, 8, 1), 0x1122334455667788U);
  EXPECT_EQ(usc_argument_value(0x8000, 2, 1), 0xffffffffffff8000U);
}

TEST(Probes, PlacesOfTextsInARecord) {
  usc_probe_argument argument = argument_from(USC_FROM_RECORD, 4);
  argument.offset = 24;
  argument.text = USC_TEXT_LOCATED;
  EXPECT_EQ(usc_text_place(&argument, 0x00100030), 0x30U);
  EXPECT_EQ(usc_text_room(0x00100030), 16U);
  argument.text = USC_TEXT_RELATIVE;
  EXPECT_EQ(usc_text_place(&argument, 0x00100030), 0x30U + 28);
}

}  // namespace
}  // namespace uscope::include
