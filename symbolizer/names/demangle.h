// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of C++ and Rust functions as written in the source.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace uscope::symbolizer {

// Longer mangled names are not demangled, and are shown cut.
inline constexpr std::size_t kMaxMangledName = 4096;
// The longest name returned. A name whose demangled form would be longer is shown mangled: substitutions let a name of
// 100 bytes stand for gigabytes.
inline constexpr std::size_t kMaxName = 16384;

// The demangled form of a linker name: C++ (Itanium ABI) with parameter types as c++filt prints it, Rust (legacy and
// v0) without the hash; other names are unchanged. `name` is hostile: any bytes, any length. The result is valid UTF-8
// (other bytes as \xNN) of at most about kMaxName bytes; control characters may remain. Thread-safe; needs up to 4 MiB
// of stack in the worst case.
[[nodiscard]] std::string demangle(std::string_view name);
// The same, without parameter types and return type: "ns::Type::f" of "_ZN2ns4Type1fEi".
[[nodiscard]] std::string demangle_name(std::string_view name);

// Any text of a traced program (a path, a DWARF name) as valid UTF-8, cut at `limit` bytes with "…" after it.
[[nodiscard]] std::string bounded_utf8(std::string_view text, std::size_t limit = kMaxMangledName);

}  // namespace uscope::symbolizer
