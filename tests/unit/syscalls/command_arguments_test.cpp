// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/command_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "syscalls/syscall_table.h"

namespace uscope::syscalls {
namespace {

std::string letters_of(std::string_view call, std::array<std::int64_t, 6> args) {
  const CommandArguments* entry = command_arguments(call, args);
  return entry == nullptr ? "" : std::string(entry->letters);
}

TEST(CommandArguments, EachCommandHasAName) {
  for (const CommandArguments& entry : all_command_arguments()) {
    const FlagSet* set = flags_of(entry.call, command_place(entry.call));
    ASSERT_NE(set, nullptr) << entry.call;
    EXPECT_TRUE(entry.command.empty() || flag_value(*set, entry.command)) << entry.call << " " << entry.command;
  }
}

// What the kernel side does by the call's letters must fit what is shown: as many arguments, at the same places.
TEST(CommandArguments, LettersAreOfArgumentsThatTheCallHas) {
  for (const CommandArguments& entry : all_command_arguments()) {
    const auto nr = syscall_number(USC_ABI_X86_64, entry.call);
    ASSERT_TRUE(nr) << entry.call;
    EXPECT_LE(entry.letters.size(), syscall_arguments(USC_ABI_X86_64, *nr)->size())
        << entry.call << " " << entry.command;
    for (const ArgumentSet& one : entry.sets)
      EXPECT_TRUE(one.set == nullptr || (one.arg < entry.letters.size() && entry.letters[one.arg] != '-'))
          << entry.call << " " << entry.command;
  }
}

TEST(CommandArguments, ByTheBitsOfTheCommand) {
  EXPECT_EQ(letters_of("fcntl", {3, 1}), "df");            // F_GETFD
  EXPECT_EQ(letters_of("fcntl", {3, 0x500000001}), "df");  // the kernel reads 32 bits
  EXPECT_EQ(letters_of("fcntl", {3, 999}), "dfo");
  EXPECT_EQ(letters_of("quotactl", {static_cast<std::int64_t>(0x80000301)}), "fs");          // Q_QUOTAOFF of groups
  EXPECT_EQ(letters_of("quotactl_fd", {3, static_cast<std::int64_t>(0x80000200)}), "dfus");  // Q_QUOTAON
  EXPECT_EQ(letters_of("syslog", {10}), "f");
  EXPECT_EQ(letters_of("syslog", {3}), "fpi");
  EXPECT_EQ(letters_of("futex", {0, 1 | 128 | 256}), "qfu");  // with its flags
  EXPECT_EQ(letters_of("ptrace", {0}), "F");
  EXPECT_EQ(letters_of("ptrace", {0x100000000}), "");  // of 64 bits
  EXPECT_EQ(letters_of("prctl", {0x7fff0000}), "foooo");
  EXPECT_EQ(letters_of("openat", {0}), "");
}

}  // namespace
}  // namespace uscope::syscalls
