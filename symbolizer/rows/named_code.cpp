// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/rows/named_code.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "symbolizer/code/function_ends.h"
#include "symbolizer/elf/relocations.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostData = std::uint64_t{64} << 20;  // bytes that are searched for addresses

// Calls use(offset, bytes) for all bytes of a file from an offset on, piece by piece.
template <typename Use>
void for_each_piece(TextReader& text, std::uint64_t offset, std::uint64_t size, const Use& use) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t count = std::min<std::uint64_t>(size - done, TextReader::kWindow);
    const auto bytes = text.bytes_at(offset + done, count);
    if (bytes.size() != count) return;
    use(bytes);
    done += count;
  }
}

std::vector<std::byte> bytes_from(TextReader& text, const ElfFacts& facts, std::uint64_t address, std::size_t count) {
  std::vector<std::byte> found;
  if (const auto offset = offset_of_address(facts.segments, address))
    for_each_piece(text, *offset, count,
                   [&](std::span<const std::byte> piece) { found.insert(found.end(), piece.begin(), piece.end()); });
  return found;
}

void search_words(TextReader& text, const Segment& segment, const CodeRange& code,
                  const std::function<bool(std::uint64_t)>& is_wanted, std::uint64_t& left,
                  std::vector<std::uint64_t>& found) {
  constexpr std::uint64_t kWord = 8;
  const std::uint64_t skip = (kWord - segment.address % kWord) % kWord;
  if (segment.size <= skip) return;
  const std::uint64_t size = std::min(segment.size - skip, left);
  left -= size;
  for_each_piece(text, segment.offset + skip, size, [&](std::span<const std::byte> piece) {
    for (std::size_t at = 0; at + kWord <= piece.size(); at += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, &piece[at], kWord);
      if (word >= code.low && word < code.high && is_wanted(word)) found.push_back(word);
    }
  });
}

}  // namespace

std::vector<std::uint64_t> code_named_by_data(Elf* elf, const ElfFacts& facts, TextReader text,
                                              const std::function<bool(std::uint64_t)>& is_wanted) {
  std::vector<std::uint64_t> found;
  if (facts.dynamic) {
    const Relocations::Read read = [&](std::uint64_t address, std::size_t count) {
      return bytes_from(text, facts, address, count);
    };
    for (const std::uint64_t address : Relocations(elf, read).own_addresses(read))
      if (is_wanted(address)) found.push_back(address);
  }
  std::uint64_t left = kMostData;
  CodeRange all_code{UINT64_MAX, 0};
  for (const Segment& segment : facts.exec_segments) {
    all_code.low = std::min(all_code.low, segment.address);
    all_code.high = std::max(all_code.high, segment.address + segment.size);
  }
  if (!facts.position_independent)
    for (const Segment& segment : facts.segments) {
      const bool is_code = std::any_of(facts.exec_segments.begin(), facts.exec_segments.end(),
                                       [&](const Segment& code) { return code.address == segment.address; });
      if (!is_code) search_words(text, segment, all_code, is_wanted, left, found);
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace uscope::symbolizer
