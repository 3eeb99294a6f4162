// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Helpers for names from traced programs, which are hostile: they may hold any byte.
//
// A trace's database, its JSON and all that readers print hold names in one form, the *text of a trace*: UTF-8 in which
// \\ stands for a backslash and \xNN for a byte that is not UTF-8. So each text stands for one sequence of bytes, which
// bytes_of() gives. trace_text() makes it, once, where bytes of a traced program are taken in; to print it, printable()
// turns the characters that a terminal must not see into \xNN too, byte by byte, which does not change what it stands
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace uscope {

// If the first character of `text` must not reach a terminal unescaped, returns its length in bytes, else 0. Unsafe are
// control characters, DEL, U+0080–U+009F, and characters that end lines or change the direction of writing (U+2028,
// U+2029, U+061C, U+200E, U+200F, U+202A–U+202E, U+2066–U+2069). Bytes that are not UTF-8 are not judged.
[[nodiscard]] std::size_t unsafe_length(std::string_view text);

// Bytes as a trace's text: a backslash becomes \\, each byte that is not UTF-8 \xNN; all else stays. Not to be applied
// to what is a trace's text already.
[[nodiscard]] std::string trace_text(std::string_view bytes);
// The bytes that a trace's text stands for, also one made printable or put into quotes (without the quotes).
[[nodiscard]] std::string bytes_of(std::string_view text);

// A trace's text, safe on a terminal: unsafe characters (and invalid UTF-8, which a trace's text has not) become \xNN.
[[nodiscard]] std::string printable(std::string_view text);
// The same within double quotes, with quotes inside escaped.
[[nodiscard]] std::string printable_in_quotes(std::string_view text);

// Bytes, safe on a terminal: printable(trace_text()).
[[nodiscard]] std::string escape_terminal(std::string_view bytes);
[[nodiscard]] std::string in_quotes(std::string_view bytes);

// Data in double quotes, as strace writes it: as above, but \n, \t, \r, \v, \f and \0 where C has a letter for the
// byte.
[[nodiscard]] std::string data_in_quotes(std::string_view bytes);
// A trace's text as by printable(), with the bytes in `marks` as \xNN, so that they differ from the same bytes used as
// delimiters around the text.
[[nodiscard]] std::string escape_with(std::string_view text, std::string_view marks);

// A word of a command line as a shell takes it: in single quotes unless it is plain.
[[nodiscard]] std::string shell_quoted(std::string_view word);

// Valid UTF-8: invalid bytes become \xNN; all else stays, so that a trace's text is not changed. Where it is not
// certain that a text is one: it comes from a database that anyone may have made.
[[nodiscard]] std::string to_utf8(std::string_view text);

// Two lower-case hexadecimal digits for each byte.
[[nodiscard]] std::string hex_of(std::string_view bytes);

// "0x1f" for 31.
[[nodiscard]] std::string hex_number(std::uint64_t number);
// The same; "0" for 0.
[[nodiscard]] std::string hex_or_zero(std::uint64_t number);

// What follows the last slash of a path; the whole path if nothing follows it.
[[nodiscard]] std::string_view base_name(std::string_view path);

// A path that begins at a folder: "/srv" and "./a" give "/srv/a", "/srv" and "." or "" give "/srv". An absolute path
// stays as it is.
[[nodiscard]] std::string joined_path(std::string_view folder, std::string_view path);

// "1 call", "1,234 calls", "2 processes". The noun is a regular one, in the singular.
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view noun);

// "1234567" -> "1,234,567".
[[nodiscard]] std::string group_digits(std::uint64_t number);

// Nanoseconds for people: "870 ns", "12.3 µs", "4.56 ms", "7.89 s".
[[nodiscard]] std::string human_duration(double nanoseconds);

}  // namespace uscope
