// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/kernel_symbols.h"

#include <gtest/gtest.h>

#include <sstream>

namespace uscope::tracer {
namespace {

KernelSymbols symbols_of(const std::string& symbols, const std::string& modules = "") {
  std::istringstream symbol_lines(symbols);
  std::istringstream module_lines(modules);
  return {symbol_lines, module_lines};
}

TEST(KernelSymbols, APlaceIsOfAFunctionAndOfItsModule) {
  const KernelSymbols symbols = symbols_of(
      "0000000000000010 A fixed_percpu_data\n"
      "ffffffff81000000 T _text\n"
      "ffffffff81000100 T do_idle\n"
      "ffffffff81000100 t alias_of_it\n"
      "ffffffff81000200 T schedule\n"
      "ffffffff81000300 D a_variable\n"
      "ffffffffc0001040 t ext4_sync_file\t[ext4]\n"
      "ffffffffc0009000 t bpf_prog_1234\t[bpf]\n",
      "ext4 999424 1 - Live 0xffffffffc0001000\nmbcache 16384 1 ext4, Live 0xffffffffc0000000\n");
  EXPECT_EQ(symbols.place(0xffffffff81000110, false), "vmlinux+0x110 do_idle+0x10");
  EXPECT_EQ(symbols.place(0xffffffff81000200, false), "vmlinux+0x200 schedule+0x0");
  // A call that does not return may be a function's last instruction.
  EXPECT_EQ(symbols.place(0xffffffff81000200, true), "vmlinux+0x200 do_idle+0x100");
  EXPECT_EQ(symbols.place(0xffffffff81000310, false), "vmlinux+0x310 schedule+0x110");
  EXPECT_EQ(symbols.place(0xffffffffc0001050, false), "ext4+0x50 ext4_sync_file+0x10");
  EXPECT_EQ(symbols.place(0xffffffffc0009008, false), "? bpf_prog_1234+0x8");
  EXPECT_EQ(symbols.place(0x1000, false), "? 0x1000");
}

TEST(KernelSymbols, AFunctionLastsUntilTheNextOne) {
  const KernelSymbols symbols = symbols_of(
      "ffffffff81000100 T first\nffffffff81000100 t alias\nffffffff81000180 T second\nffffffffc0000000 t second [m]\n");
  const auto first = symbols.find("alias");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->start, 0xffffffff81000100);
  EXPECT_EQ(first->end, 0xffffffff81000180);
  EXPECT_EQ(symbols.find("second")->start, 0xffffffff81000180);
  EXPECT_FALSE(symbols.find("third"));
}

TEST(KernelSymbols, AKernelThatHidesItsAddresses) {
  const KernelSymbols symbols = symbols_of("0000000000000000 T _text\n0000000000000000 T schedule\nnonsense\n");
  EXPECT_EQ(symbols.place(0xffffffff81000200, false), "? 0xffffffff81000200");
}

}  // namespace
}  // namespace uscope::tracer
