// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The forms of arguments that gcc and clang write into notes.
#include "symbolizer/probes/usdt_notes.h"

#include <gtest/gtest.h>

namespace uscope::symbolizer {
namespace {

using From = FoundArgument::From;

UsdtArguments parsed_all(std::string_view text) {
  return parse_usdt_arguments(text, 0x1000, [](std::string_view name) -> std::optional<std::uint64_t> {
    if (name == "counter") return 0x4000;
    return std::nullopt;
  });
}

std::vector<FoundArgument> parsed(std::string_view text) {
  return parsed_all(text).kept;
}

FoundArgument only(std::string_view text) {
  const auto arguments = parsed(text);
  EXPECT_EQ(arguments.size(), 1U) << text;
  return arguments.empty() ? FoundArgument() : arguments.front();
}

TEST(UsdtArguments, Registers) {
  const FoundArgument edi = only("-4@%edi");
  EXPECT_EQ(edi.from, From::kRegister);
  EXPECT_EQ(edi.reg, 5);
  EXPECT_EQ(edi.bytes, 4);
  EXPECT_TRUE(edi.is_signed);
  EXPECT_EQ(edi.type, "int");
  EXPECT_EQ(edi.name, "arg0");
  EXPECT_EQ(only("8@%rax").type, "unsigned long");
  EXPECT_EQ(only("2@%r10w").reg, 10);
  EXPECT_EQ(only("1@%r8b").reg, 8);
  EXPECT_EQ(only("-1@%sil").type, "signed char");
  EXPECT_EQ(only("4@%r15d").reg, 15);
}

TEST(UsdtArguments, Memory) {
  const FoundArgument local = only("8@-24(%rbp)");
  EXPECT_EQ(local.from, From::kMemory);
  EXPECT_EQ(local.reg, 6);
  EXPECT_EQ(local.offset, -24);
  EXPECT_EQ(only("8@(%rax)").offset, 0);
  EXPECT_EQ(only("8@0x10(%rsp)").offset, 16);
  const FoundArgument global = only("8@counter(%rip)");
  EXPECT_EQ(global.reg, 16);
  EXPECT_EQ(global.offset, 0x3000);
  EXPECT_EQ(only("8@counter+8(%rip)").offset, 0x3008);
  EXPECT_EQ(only("8@8+counter(%rip)").offset, 0x3008);
  EXPECT_EQ(only("8@counter-8(%rip)").offset, 0x2ff8);
}

TEST(UsdtArguments, Constants) {
  EXPECT_EQ(only("4@$5").from, From::kConstant);
  EXPECT_EQ(only("4@$5").offset, 5);
  EXPECT_EQ(only("-4@$-22").offset, -22);
  EXPECT_EQ(only("8@$0xff").offset, 255);
}

// The others keep the names of their positions.
TEST(UsdtArguments, WhatCannotBeReadIsLeftOut) {
  const auto arguments = parsed("-4@%edi 8@(%rax,%rbx,4) 8f@%xmm0 4@$5");
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(arguments[0].name, "arg0");
  EXPECT_EQ(arguments[1].name, "arg3");
  for (const char* text :
       {"",          "  ",       "%edi",   "3@%edi", "4@",   "4@%xmm1", "4@%r16",     "4@%rip",    "8@unknown(%rip)",
        "8@5(%rip)", "8@(%rip)", "x@%eax", "4@$",    "4@$x", "4@edi",   "8@-24(%rbp", "8@x(%rbp)", "-@%edi",
        "4@%r7",     "4@%r"})
    EXPECT_TRUE(parsed(text).empty()) << text;
}

TEST(UsdtArguments, WhatIsLeftOutIsNamed) {
  using Names = std::vector<std::string>;
  const UsdtArguments some = parsed_all("-4@%edi 8@(%rax,%rbx,4) 8f@%xmm0 4@$5");
  EXPECT_EQ(some.unreadable, (Names{"arg1", "arg2"}));
  EXPECT_TRUE(some.too_many.empty());
  const UsdtArguments many = parsed_all("4@$1 4@$2 8f@%xmm0 4@$3 4@$4 4@$5 4@$6 4@$7 4@$8");
  EXPECT_EQ(many.kept.size(), 6U);
  EXPECT_EQ(many.kept.back().name, "arg6");
  EXPECT_EQ(many.too_many, (Names{"arg7", "arg8"}));
  EXPECT_EQ(many.unreadable, (Names{"arg2"}));
}

}  // namespace
}  // namespace uscope::symbolizer
