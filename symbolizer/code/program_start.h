// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the first functions of a program say of it, without symbols: where a static program has its libc, and whether
// main() is that of a launcher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace uscope::symbolizer {

// Reads code at an ELF address: as many bytes as there are, at most `size`.
using CodeAt = std::function<std::vector<std::byte>(std::uint64_t address, std::size_t size)>;

struct ProgramStart {
  std::uint64_t main = 0;        // address of main()
  std::uint64_t start_main = 0;  // that of __libc_start_main()
};

// Follows the code at the entry of a program to the direct call of __libc_start_main(), which gets main() as its first
// argument: in static programs of glibc and musl. nullopt: there is no such call.
[[nodiscard]] std::optional<ProgramStart> find_program_start(const CodeAt& code_at, std::uint64_t entry);

// Where libc's code begins in a static program. Linkers put the members of an archive behind the program's own objects,
// in the order of the archive, and the object of __libc_start_main() is the first that a program needs. `code` is that
// function's; the lowest address that it calls or takes, above what the program's start consists of, is of the same
// object. Other orders (a list for the linker) are not known of.
[[nodiscard]] std::uint64_t find_libc_start(std::span<const std::byte> code, const ProgramStart& start,
                                            std::uint64_t entry);

// Whether main() passes its arguments, as it got them, to a function that `is_imported` holds for.
[[nodiscard]] bool hands_arguments_over(std::span<const std::byte> code, std::uint64_t main,
                                        const std::function<bool(std::uint64_t called)>& is_imported);

}  // namespace uscope::symbolizer
