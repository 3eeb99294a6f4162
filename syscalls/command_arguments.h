// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls of which an argument is a command, and what the other arguments are depends on it: fcntl, futex, prctl, ptrace
// and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "syscalls/flag_names.h"

namespace uscope::syscalls {

struct ArgumentSet {
  std::size_t arg = 0;
  const FlagSet* set = nullptr;
};

// How the arguments of a call with one command are read.
struct CommandArguments {
  std::string_view call;     // as in syscalls/syscalls.def
  std::string_view command;  // its name; "" for every command without an entry of its own
  std::string_view
      letters;  // as in syscalls.def, of the whole call; '-' for an argument that the kernel does not look at
  ArgumentSet sets[2] = {};  // names of arguments
};

// The entry of a call with these arguments; null if all commands of the call have what syscalls.def says.
[[nodiscard]] const CommandArguments* command_arguments(std::string_view call, std::span<const std::int64_t> args);

// All entries.
[[nodiscard]] std::span<const CommandArguments> all_command_arguments();

// The argument that is the command of a call with entries.
[[nodiscard]] std::size_t command_place(std::string_view call);

}  // namespace uscope::syscalls
