// Text helpers for names that come from traced programs, which are hostile: they may hold any byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uscope {

// Printable and safe on a terminal: control characters, DEL, invalid UTF-8 and U+0080–U+009F become \xNN, a backslash
// \\.
[[nodiscard]] std::string escape_terminal(std::string_view text);

// Valid UTF-8 (for JSON, SQLite TEXT): bytes that are not become \xNN; all else stays.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

// Two lower-case hexadecimal digits for each byte.
[[nodiscard]] std::string hex_of(std::string_view bytes);

// "1234567" -> "1,234,567".
[[nodiscard]] std::string group_digits(std::uint64_t number);

// Nanoseconds for people: "870 ns", "12.3 µs", "4.56 ms", "7.89 s".
[[nodiscard]] std::string human_duration(double nanoseconds);

}  // namespace uscope
