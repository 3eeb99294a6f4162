// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a program without symbols has a C++ run-time library that was linked into it (g++ -static, -static-libstdc++).
// The functions of that library that handle exceptions compare the class of an exception with "GNUCC++" (libstdc++) or
// "CLNGC++" (libc++abi; Itanium C++ ABI, exception handling, 2.2), which no other code does. Linkers put a library
// behind the objects that need it, unless they are given an order, so the program's own code lies before the first of
// these functions. In libstdc++.a only operator new and delete come before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace uscope::symbolizer {

// At most `size` bytes of code from an ELF address on.
using ReadCode = std::function<std::vector<std::byte>(std::uint64_t address, std::size_t size)>;

// The address of the first instruction in [low, high) that loads a class of exceptions. nullopt: there is none.
[[nodiscard]] std::optional<std::uint64_t> find_exception_class(const ReadCode& read, std::uint64_t low,
                                                                std::uint64_t high);

}  // namespace uscope::symbolizer
