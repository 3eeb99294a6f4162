// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the code of C++ (and of other languages with exceptions) goes on after one was thrown: the landing pads that
// .gcc_except_table names for each function (Itanium C++ ABI, exception handling tables).
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {

class LandingPads {
 public:
  LandingPads() = default;
  // Damaged tables are left out.
  explicit LandingPads(const std::vector<ElfSection>& sections);

  // The ELF addresses of those in [low, high), sorted.
  [[nodiscard]] std::vector<std::uint64_t> within(std::uint64_t low, std::uint64_t high) const;

 private:
  std::vector<std::uint64_t> all_;  // sorted
};

}  // namespace uscope::symbolizer
