// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which structures the arguments of calls point to, by the letters c, C, K and L of syscalls.def, and what the numbers
// in their fields are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "syscalls/flag_names.h"
#include "syscalls/layout.h"
#include "uscope/record.h"

namespace uscope::syscalls {

// What an argument of a call points to; null for one that is not here. `call`: by its 64-bit name.
[[nodiscard]] const Layout* structure_of(std::string_view call, std::size_t arg);

// What a command of fcntl takes or writes, and what one of bpf takes; null if it has no structure here.
[[nodiscard]] const Layout* fcntl_structure(std::uint32_t command);
[[nodiscard]] const Layout* bpf_structure(std::uint32_t command);

// What a command of a device takes, or what commands of other calls do (landlock_add_rule's kinds of rules, seccomp's
// operations); null if it has no structure here.
[[nodiscard]] const Layout* ioctl_structure(std::uint32_t command);
[[nodiscard]] const Layout* landlock_structure(std::uint32_t rule);
[[nodiscard]] const Layout* seccomp_structure(std::uint32_t operation);

// How much of a structure with this layout its own bytes, or the argument behind it, say that there is: a program's may
// be older or longer. Nothing: it is always as long.
[[nodiscard]] std::optional<std::size_t> length_in(const Layout& layout, std::string_view bytes);

// The value of a socket option; null for one that is a number or has no layout here.
[[nodiscard]] const Layout* option_structure(std::uint64_t level, std::uint64_t option);

// How many bytes the kernel side takes of the structures that a call's arguments point to, as usc_config has it
// (usc_structure_slot). Of 32-bit calls only the structures that are the same there.
[[nodiscard]] std::uint64_t syscall_structures(usc_abi abi, std::uint32_t nr);

// How a field's number is written, beside its digits.
enum class FieldForm : std::uint8_t { kNumber, kHex, kOctal, kSignal, kHandler, kAddress };

struct FieldMeaning {
  const FlagSet* set = nullptr;
  FieldForm form = FieldForm::kNumber;
};

[[nodiscard]] FieldMeaning field_meaning(const Layout& layout, std::string_view field);

}  // namespace uscope::syscalls
