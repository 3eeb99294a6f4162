// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The names that records and the database have for small numbers: one table for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// As abi.def names it; empty for a number that is no usc_abi.
[[nodiscard]] std::string_view abi_name(std::uint32_t abi);

// Whether it is the name of USC_ABI_NATIVE, which readers do not show.
[[nodiscard]] bool is_native_abi(std::string_view name);

// The number of an interface with this name; nullopt if there is none.
[[nodiscard]] std::optional<usc_abi> abi_of_name(std::string_view name);

// Where an event comes from, as kind.class in the database has it: "syscall", "stap" (source.def); empty for a number
// that is no usc_source.
[[nodiscard]] std::string_view source_name(std::uint32_t source);

// What a kind of this source is called that has no name: "syscall_400", "logged_5".
[[nodiscard]] std::string unnamed_kind(std::uint32_t source, std::uint32_t kind);

// How a call ended, as in the database: "returned", "open", … (how.def); empty for a number that is no usc_how.
[[nodiscard]] std::string_view how_name(std::uint32_t how);

// How a stack ended (usc_stack::ended), as in the database: "root", "budget", "scope" (ended.def), or "broken:" and the
// name of the reason (unwind_error.def), or its number if it is no usc_unwind_error.
[[nodiscard]] std::string ended_name(std::uint32_t ended);

// The name of a reason for which walks are left to user space, if the trace has a count of those walks: "no_table", …
// (defer_reason.def); else empty.
[[nodiscard]] std::string_view counted_defer_reason(std::uint32_t reason);

// The modes of --mode are 1 … kModes: "app-last", "app-all", "all-last", "all-all". Empty for other numbers.
constexpr std::uint32_t kModes = 4;
[[nodiscard]] std::string_view mode_name(std::uint32_t mode);

// What is known of a file's unwind rows, as in the database: "kernel", "none", … (file_state.def); empty for a number
// that is no usc_file_state.
[[nodiscard]] std::string_view file_state_name(std::uint32_t state);

}  // namespace uscope::trace
