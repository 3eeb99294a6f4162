// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/cfi/fde_table.h"

#include <algorithm>

#include "symbolizer/cfi/cfi_program.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxFrameSection = 256u << 20;
constexpr int kMostSections = 8;  // linkers write one of each kind

void add_fdes(const ElfSection& section, bool eh_frame, std::vector<FdeRange>& ranges) {
  const Elf_Data* data = section_data(section, kMaxFrameSection);
  if (data == nullptr) return;
  const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
  CfiSource source;
  source.bytes.assign(bytes, bytes + data->d_size);
  source.address = section.header.sh_addr;
  source.eh_frame = eh_frame;
  CfiSection cfi(source);
  for (const Fde& fde : cfi.fdes())
    if (fde.size > 0 && fde.address + fde.size > fde.address) ranges.push_back({fde.address, fde.address + fde.size});
}

}  // namespace

FdeTable::FdeTable(const std::vector<ElfSection>& sections) {
  int read = 0;
  for (const ElfSection& section : sections) {
    const bool eh_frame = section.name == ".eh_frame";
    if ((!eh_frame && section.name != ".debug_frame") || read == kMostSections) continue;
    add_fdes(section, eh_frame, ranges_);
    read++;
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const auto& a, const auto& b) { return a.low != b.low ? a.low < b.low : a.high > b.high; });
  const auto same_start = [](const auto& a, const auto& b) { return a.low == b.low; };
  ranges_.erase(std::unique(ranges_.begin(), ranges_.end(), same_start), ranges_.end());
  ranges_.shrink_to_fit();
}

std::optional<FdeRange> FdeTable::containing(std::uint64_t address) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uint64_t value, const FdeRange& range) { return value < range.low; });
  // FDEs do not overlap in files made by linkers; in damaged ones an address after a nested FDE is not found.
  if (after == ranges_.begin() || address >= std::prev(after)->high) return std::nullopt;
  return *std::prev(after);
}

std::optional<FdeRange> FdeTable::starting_at(std::uint64_t address) const {
  const auto range = containing(address);
  return range && range->low == address ? range : std::nullopt;
}

}  // namespace uscope::symbolizer
