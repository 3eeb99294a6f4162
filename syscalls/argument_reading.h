// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the arguments of one call are read: by its ABI, and by the command or option that one of them may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "syscalls/command_arguments.h"
#include "syscalls/flag_names.h"
#include "uscope/record.h"

namespace uscope::syscalls {

struct CallNumbers {
  usc_abi abi = USC_ABI_NATIVE;
  std::uint32_t nr = 0;
  std::string_view name;  // must outlive what is made of it
  std::array<std::int64_t, 6> args{};
};

struct ArgumentReading {
  std::string_view letters;                   // as in syscalls/syscalls.def
  std::string_view call;                      // by its 64-bit name
  const CommandArguments* command = nullptr;  // null: all commands are read alike
  bool has_halves = false;                    // of a 32-bit call: numbers in two halves shift what follows
};

// Nothing for calls that are not known.
[[nodiscard]] std::optional<ArgumentReading> argument_reading(const CallNumbers& numbers);

// The names of an argument's bits and numbers; null where it has none.
[[nodiscard]] const FlagSet* names_of_argument(const ArgumentReading& reading, const std::array<std::int64_t, 6>& args,
                                               std::size_t arg);

// Whether other arguments decide how those of this call are read.
[[nodiscard]] bool reads_by_values(std::string_view call);

// The bits that the kernel reads of an argument with this letter.
[[nodiscard]] std::uint64_t kernel_bits(char letter, std::int64_t value);

}  // namespace uscope::syscalls
