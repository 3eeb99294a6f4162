// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contents of calls as text, similar to strace's output: data in quotes, structures in braces. Both come from traced
// programs, and the store may be damaged: neither lengths nor numbers are trusted, and everything is escaped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyzer/read/event_row.h"

namespace uscope::cli {

// What an argument points to, by its letter in syscalls/syscalls.def; nothing if no contents were recorded for it.
[[nodiscard]] std::optional<std::string> contents_text(const analyzer::EventRow& event, std::size_t arg, char letter);

// One part of an argument's contents alone; of a structure that is not known its bytes in hex.
[[nodiscard]] std::string content_text(const analyzer::EventRow& event, const analyzer::EventContent& content);

// What a poll found, to stand behind its result: " ([{fd=3, revents=POLLIN}])". Empty if it is not known.
[[nodiscard]] std::string found_text(const analyzer::EventRow& event);

}  // namespace uscope::cli
