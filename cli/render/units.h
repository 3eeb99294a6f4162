// Numbers as people type and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/result.h"

namespace uscope::cli {

// "150us", "1.5ms", "2s", "3m", "1h", "20ns" to nanoseconds; a number without a unit is seconds. Not negative.
[[nodiscard]] Result<std::int64_t> parse_duration(const std::string& text);

// How a process ended: "exit 0", "SIGKILL", "running" where neither is known.
[[nodiscard]] std::string describe_exit(std::optional<std::int64_t> code, std::optional<std::int64_t> signal);

// "SIGKILL" of 9, "signal 77" of one without a name.
[[nodiscard]] std::string signal_name(std::int64_t number);

// A share for people: "100 %", "99.98 %"; never rounded up to 100 or down to 0.
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

// A command as people type it, of the JSON array of words that meta.command is; any other text as it is.
[[nodiscard]] std::string command_line(const std::string& words);

// "512 bytes", "1.5 KiB", "23.4 MiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// Seconds since the trace's start, with microseconds: "0.001234".
[[nodiscard]] std::string seconds(std::int64_t nanoseconds);

}  // namespace uscope::cli
