// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The extents of functions by their call frame information: all that is known of a function without a symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {

// ELF addresses [low, high) of the code that one FDE covers.
struct FdeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

class FdeTable {
 public:
  FdeTable() = default;

  // Reads .eh_frame and .debug_frame (unless compressed). Damaged entries are left out.
  explicit FdeTable(const std::vector<ElfSection>& sections);

  // The FDE that contains `address`; if several do, the one that starts last.
  [[nodiscard]] std::optional<FdeRange> containing(std::uint64_t address) const;
  [[nodiscard]] std::optional<FdeRange> starting_at(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return ranges_.size(); }
  [[nodiscard]] std::size_t footprint() const { return ranges_.capacity() * sizeof(FdeRange); }

 private:
  std::vector<FdeRange> ranges_;  // by low; of equal lows only the one with the largest high
};

}  // namespace uscope::symbolizer
