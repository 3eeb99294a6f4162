// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/text.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>

namespace uscope {
namespace {

// Length of the valid UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, surrogates or values above
// U+10FFFF); 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; i++)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

// Whether all bytes are below 0x80, eight at a time.
bool is_ascii(std::string_view bytes) {
  constexpr std::uint64_t kHigh = 0x8080'8080'8080'8080;
  std::uint64_t any = 0;
  std::size_t at = 0;
  for (; at + sizeof(any) <= bytes.size(); at += sizeof(any)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    any |= word;
  }
  for (; at < bytes.size(); at++) any |= static_cast<unsigned char>(bytes[at]);
  return (any & kHigh) == 0;
}

void append_hex(std::string& out, unsigned char byte) {
  out += fmt::format("\\x{:02x}", byte);
}

// What is escaped beside bytes that are not UTF-8.
struct Escapes {
  bool unsafe = false;  // characters that must not reach a terminal
  bool backslash = false;
};

std::string escape(std::string_view text, Escapes also) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      append_hex(out, first);
      text.remove_prefix(1);
      continue;
    }
    if (also.unsafe && unsafe_length(text) != 0) {
      for (std::size_t i = 0; i < length; i++) append_hex(out, static_cast<unsigned char>(text[i]));
    } else if (also.backslash && first == '\\') {
      out += "\\\\";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::size_t unsafe_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;  // U+061C
  if (byte(0) != 0xe2) return 0;
  if (byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae))) return 3;
  return byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9 ? 3 : 0;
}

std::string trace_text(std::string_view bytes) {
  if (is_ascii(bytes) && bytes.find('\\') == std::string_view::npos) return std::string(bytes);
  return escape(bytes, {.backslash = true});
}

std::string bytes_of(std::string_view text) {
  constexpr std::size_t kCode = 4;  // \xNN
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\')) {
    out += text.substr(0, at);
    text.remove_prefix(at);
    unsigned byte = 0;
    const auto read = [&] {
      const char* const end = text.data() + kCode;
      return std::from_chars(text.data() + 2, end, byte, 16).ptr == end;
    };
    if (text.size() >= kCode && text[1] == 'x' && read()) {
      out += static_cast<char>(byte);
      text.remove_prefix(kCode);
    } else {
      const bool escaped = text.size() > 1 && (text[1] == '\\' || text[1] == '"');
      out += text[escaped ? 1 : 0];
      text.remove_prefix(escaped ? 2 : 1);
    }
  }
  return out.append(text);
}

std::string printable(std::string_view text) {
  return escape(text, {.unsafe = true});
}

std::string escape_terminal(std::string_view bytes) {
  return escape(bytes, {.unsafe = true, .backslash = true});
}

std::string to_utf8(std::string_view text) {
  return is_ascii(text) ? std::string(text) : escape(text, {});
}

std::string group_digits(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string hex_number(std::uint64_t number) {
  return fmt::format("{:#x}", number);
}

std::string hex_or_zero(std::uint64_t number) {
  return number == 0 ? "0" : hex_number(number);
}

std::string joined_path(std::string_view folder, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  if (path.empty() || path == ".") return std::string(folder);
  return std::string(folder) + (folder.ends_with('/') ? "" : "/") + std::string(path);
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == path.size()) return path;
  return path.substr(slash + 1);
}

std::string plural(std::uint64_t count, std::string_view noun) {
  const char* const ending = count == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", group_digits(count), noun, ending);
}

std::string human_duration(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.3g} µs", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  return fmt::format("{:.3f} s", nanoseconds / 1e9);
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char byte : word) {
    if (byte == '\'')
      out += "'\"'\"'";
    else
      out += byte;
  }
  return out + "'";
}

std::string printable_in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char byte : printable(text)) {
    if (byte == '"') out += '\\';
    out += byte;
  }
  return out + "\"";
}

std::string in_quotes(std::string_view bytes) {
  return printable_in_quotes(trace_text(bytes));
}

std::string data_in_quotes(std::string_view bytes) {
  constexpr std::string_view kControls("\n\t\r\v\f\0", 6);
  constexpr std::string_view kLetters = "ntrvf0";
  std::string out;
  while (!bytes.empty()) {
    const std::size_t plain = bytes.find_first_of(kControls);
    const std::string quoted = in_quotes(bytes.substr(0, plain));
    out += quoted.substr(1, quoted.size() - 2);
    if (plain == std::string_view::npos) break;
    const char control = bytes[plain];
    bytes.remove_prefix(plain + 1);
    const bool before_digit = !bytes.empty() && bytes.front() >= '0' && bytes.front() <= '9';
    if (control == '\0' && before_digit)
      out += "\\x00";  // \0 and a digit would be read as one octal number
    else
      out += {'\\', kLetters[kControls.find(control)]};
  }
  return "\"" + out + "\"";
}

std::string escape_with(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char byte : printable(text)) {
    if (marks.find(byte) == std::string_view::npos)
      out += byte;
    else
      append_hex(out, static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace uscope
