// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A call's arguments and result as text, similar to strace's output: names for flags, strings in quotes, descriptors
// with the object that they stand for. Everything that a traced program chose is escaped.
#pragma once

#include <string>

#include "analyzer/read/event_row.h"

namespace uscope::cli {

// Whether the event is a system call. What another kernel module logged has six numbers whose meaning is unknown.
[[nodiscard]] bool is_call(const analyzer::EventRow& event);

// The text between the parentheses: the arguments that a call takes, or all registers if no table knows the call; of a
// probe, its arguments by name.
[[nodiscard]] std::string arguments_text(const analyzer::EventRow& event);

// The text after " = ".
[[nodiscard]] std::string result_text(const analyzer::EventRow& event);

}  // namespace uscope::cli
