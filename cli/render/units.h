// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Numbers in the form that people type and read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/paint.h"
#include "support/result.h"

namespace uscope::cli {

// Converts "150us", "1.5ms", "2s", "3m", "1h", "20ns" to nanoseconds; a number without a unit is in seconds. Returns an
// error if the text is none of these, or negative.
[[nodiscard]] Result<std::int64_t> parse_duration(const std::string& text);

// How a process ended: "exit 0", "SIGKILL", or "running" if neither is known.
[[nodiscard]] std::string describe_exit(std::optional<std::int64_t> code, std::optional<std::int64_t> signal);
// The colour of a cell that says so: signals and exit codes other than 0 stand out.
[[nodiscard]] Ink ending_ink(std::string_view cell);

// "SIGKILL" for 9, "signal 77" for a signal without a name.
[[nodiscard]] std::string signal_name(std::int64_t number);

// A file's type and permissions: "S_IFREG|0644".
[[nodiscard]] std::string mode_text(std::uint32_t mode);

// A share for people: "100 %", "99.98 %"; never rounded up to 100 or down to 0.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

// Formats meta.command (a JSON array of words) as a shell-like command line; other text is returned unchanged.
[[nodiscard]] std::string command_line(const std::string& words);

// "512 bytes", "1.5 KiB", "23.4 MiB", "7.9 GiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// Seconds since the trace's start, with microseconds: "0.001234".
[[nodiscard]] std::string seconds(std::int64_t nanoseconds);

// The line under a summary for losses that leave out something other than events; docs/schema.md, table loss.
[[nodiscard]] std::string lost_beside_text(std::uint64_t count);

}  // namespace uscope::cli
