// Where functions begin and end by their call frame information: what is known of a function that has no symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {

// ELF addresses [low, high) of the code one FDE covers.
struct FdeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

class FdeTable {
 public:
  FdeTable() = default;

  // From .eh_frame and .debug_frame (where it is not compressed). Damaged entries are left out.
  explicit FdeTable(const std::vector<ElfSection>& sections);

  // The FDE that contains `address`; where several do, the one that starts last.
  [[nodiscard]] std::optional<FdeRange> containing(std::uint64_t address) const;
  [[nodiscard]] std::optional<FdeRange> starting_at(std::uint64_t address) const;
  [[nodiscard]] std::size_t footprint() const { return ranges_.capacity() * sizeof(FdeRange); }

 private:
  std::vector<FdeRange> ranges_;  // by low; equal lows once, with the widest high
};

}  // namespace uscope::symbolizer
