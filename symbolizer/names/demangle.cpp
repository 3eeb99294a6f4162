// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libiberty prints a demangled name piece by piece through a callback, without a bound on the output: nested
// substitutions double it per byte of input. The callback therefore leaves by longjmp once the bound is reached. That
// is sound because the callback entry points allocate on the stack only (libiberty documents them as malloc-free), and
// the frames jumped over hold no C++ objects. Names above 1024 bytes, which libiberty refuses under its own recursion
// limit, are demangled without it: each level of its recursion consumes input, so the input's bound bounds the stack.
#include "symbolizer/names/demangle.h"

#include <libiberty/demangle.h>

#include <array>
#include <charconv>
#include <csetjmp>
#include <cstdint>
#include <utility>

#include "support/text.h"

namespace uscope::symbolizer {
namespace {

// Above this length libiberty's recursion limit (components, two for each byte) refuses every name.
constexpr std::size_t kRecursionLimited = DEMANGLE_RECURSION_LIMIT / 2;

struct Sink {
  std::string text;
  std::jmp_buf too_long;
};

void append(const char* piece, std::size_t size, void* opaque) {
  auto* sink = static_cast<Sink*>(opaque);
  if (size > kMaxName - sink->text.size()) std::longjmp(sink->too_long, 1);
  sink->text.append(piece, size);
}

void append_utf8(std::uint32_t point, std::string& out) {
  const auto add = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto continued = [&](int shift) { add(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | point >> 6);
    continued(0);
  } else if (point < 0x10000) {
    add(0xe0 | point >> 12);
    continued(6);
    continued(0);
  } else {
    add(0xf0 | point >> 18);
    continued(12);
    continued(6);
    continued(0);
  }
}

// Rust's old mangling writes most characters as $u10e1$, of which libiberty knows a few. Codes of characters that
// cannot be shown are left unchanged.
std::string with_characters(const std::string& text) {
  constexpr std::size_t kMostDigits = 6;
  std::string out;
  std::size_t at = 0;
  for (std::size_t mark = text.find("$u"); mark != std::string::npos; mark = text.find("$u", mark + 1)) {
    const std::size_t end = text.find('$', mark + 2);
    if (end == std::string::npos) break;
    std::uint32_t point = 0;
    const char* first = text.data() + mark + 2;
    const char* last = text.data() + end;
    const bool short_enough = end - mark - 2 <= kMostDigits;
    if (!short_enough || std::from_chars(first, last, point, 16).ptr != last) continue;
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    const bool character = point <= 0x10ffff && (point < 0xd800 || point >= 0xe000);
    if (control || !character) continue;
    out.append(text, at, mark - at);
    append_utf8(point, out);
    at = end + 1;
    mark = end;
  }
  return out.append(text, at);
}

// What else Rust's old mangling writes so: libiberty leaves the rest of a name as it is behind a character that it does
// not know.
std::string with_signs(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSigns{{{"$LT$", "<"},
                                                                                 {"$GT$", ">"},
                                                                                 {"$LP$", "("},
                                                                                 {"$RP$", ")"},
                                                                                 {"$RF$", "&"},
                                                                                 {"$BP$", "*"},
                                                                                 {"$C$", ","},
                                                                                 {"$SP$", "@"},
                                                                                 {"..", "::"}}};
  for (const auto& [code, sign] : kSigns)
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + sign.size()))
      text.replace(at, code.size(), sign);
  return text;
}

// Demangles `mangled` into sink.text; returns whether that succeeded. `params`: DMGL_PARAMS, or 0 for the name alone.
bool demangle_into(const std::string& mangled, int params, Sink& sink) {
  if (setjmp(sink.too_long) != 0) return false;
  const int depth = mangled.size() > kRecursionLimited ? DMGL_NO_RECURSE_LIMIT : 0;
  if (rust_demangle_callback(mangled.c_str(), depth, append, &sink) != 0) {
    if (mangled.starts_with("_ZN")) sink.text = with_signs(with_characters(sink.text));
    return true;
  }
  sink.text.clear();
  return cplus_demangle_v3_callback(mangled.c_str(), params | DMGL_ANSI | depth, append, &sink) != 0;
}

std::string demangled(std::string_view name, int params) {
  const bool may_be_mangled = name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("_GLOBAL_");
  if (may_be_mangled && name.size() <= kMaxMangledName && name.find('\0') == std::string_view::npos) {
    Sink sink;
    sink.text.reserve(256);
    if (demangle_into(std::string(name), params, sink)) return trace_text(sink.text);
  }
  return bounded_utf8(name);
}

}  // namespace

std::string bounded_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return trace_text(text);
  std::size_t end = limit;
  while (end > 0 && limit - end < 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return trace_text(text.substr(0, end)) + "…";
}

std::string demangle(std::string_view name) {
  return demangled(name, DMGL_PARAMS);
}

std::string demangle_name(std::string_view name) {
  return demangled(name, 0);
}

}  // namespace uscope::symbolizer
