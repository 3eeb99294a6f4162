// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The names that records and the database have for small numbers: one table for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// "x86_64", "i386" or "x32"; empty for a number that is no usc_abi.
[[nodiscard]] std::string_view abi_name(std::uint32_t abi);

// Where an event comes from, as kind.class in the database has it: "syscall", "stap" (source.def); empty for a number
// that is no usc_source.
[[nodiscard]] std::string_view source_name(std::uint32_t source);

// What a kind of this source is called that has no name: "syscall_400", "logged_5".
[[nodiscard]] std::string unnamed_kind(std::uint32_t source, std::uint32_t kind);

// How a call ended, as in the database: "returned", "open", … (how.def); empty for a number that is no usc_how.
[[nodiscard]] std::string_view how_name(std::uint32_t how);

// The modes of --mode are 1 … kModes: "app-last", "app-all", "all-last", "all-all". Empty for other numbers.
constexpr std::uint32_t kModes = 4;
[[nodiscard]] std::string_view mode_name(std::uint32_t mode);

// How a stack ended, as in the database: "root", "budget", "scope", "broken:REASON" (unwind_error.def; the number of a
// reason that this version does not know).
[[nodiscard]] std::string ended_text(std::uint8_t ended);

// What is known of a file's unwind rows, as in the database: "kernel", "none", … (file_state.def); empty for a number
// that is no usc_file_state.
[[nodiscard]] std::string_view file_state_name(std::uint32_t state);

}  // namespace uscope::trace
