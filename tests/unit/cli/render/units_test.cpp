// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/units.h"

#include <gtest/gtest.h>

namespace uscope::cli {
namespace {

TEST(ParseDuration, KnowsItsUnits) {
  const auto ns = [](const char* text) {
    const auto result = parse_duration(text);
    return result ? *result : -1;
  };
  EXPECT_EQ(ns("20ns"), 20);
  EXPECT_EQ(ns("1.5us"), 1500);
  EXPECT_EQ(ns("1.5µs"), 1500);
  EXPECT_EQ(ns("10ms"), 10'000'000);
  EXPECT_EQ(ns("2"), 2'000'000'000);
  EXPECT_EQ(ns("0.25s"), 250'000'000);
  EXPECT_EQ(ns("3m"), 180'000'000'000);
  EXPECT_EQ(ns("1h"), 3'600'000'000'000);
  EXPECT_EQ(ns("0"), 0);
}

TEST(ParseDuration, RefusesTheRest) {
  for (const char* text : {"", "ms", "-1s", "1 s", "1day", "1e400", "nan", "inf", "99999999999h", "1s2"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_EQ(parse_duration("1day").error().what, "'1day' is not a length of time");
}

TEST(HumanBytes, HasUnits) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1), "1 byte");
  EXPECT_EQ(human_bytes(1023), "1,023 bytes");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(7985320), "7.6 MiB");
  EXPECT_EQ(human_bytes(std::uint64_t{5} << 30U), "5.0 GiB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "16.0 EiB");
}

TEST(DescribeExit, NamesSignals) {
  EXPECT_EQ(describe_exit(3, std::nullopt), "exit 3");
  EXPECT_EQ(describe_exit(0, 0), "exit 0");
  EXPECT_EQ(describe_exit(std::nullopt, 9), "SIGKILL");
  EXPECT_EQ(describe_exit(std::nullopt, 77), "signal 77");
  EXPECT_EQ(describe_exit(std::nullopt, std::nullopt), "running");
}

TEST(Percent, IsNeverRoundedToAllOrNothing) {
  EXPECT_EQ(percent(1000000, 1000000), "100 %");
  EXPECT_EQ(percent(999999, 1000000), "> 99.99 %");
  EXPECT_EQ(percent(9999, 10000), "99.99 %");
  EXPECT_EQ(percent(1, 1000000), "< 0.01 %");
  EXPECT_EQ(percent(0, 5), "0 %");
  EXPECT_EQ(percent(1, 3), "33.33 %");
}

TEST(CommandLine, IsMadeOfWords) {
  EXPECT_EQ(command_line(R"(["sh","-c","echo a b"])"), "sh -c 'echo a b'");
  EXPECT_EQ(command_line(R"(["a",""])"), "a ''");
  EXPECT_EQ(command_line(R"(["","it's","[x]"])"), R"('' 'it'"'"'s' '[x]')");
  EXPECT_EQ(command_line("not json"), "not json");
  EXPECT_EQ(command_line("[1]"), "[1]");
}

TEST(Units, ManyEmptyArgumentsAreCounted) {
  EXPECT_EQ(command_line(R"(["nginx: worker process","","","",""])"), "'nginx: worker process' … (4 empty arguments)");
  EXPECT_EQ(command_line(R"(["echo","","",""])").substr(0, 5), "echo ");
  EXPECT_EQ(command_line(R"(["echo","",""])"), "echo '' ''");
  EXPECT_EQ(command_line(R"(["",""])"), "'' ''");
}

}  // namespace
}  // namespace uscope::cli
