// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/rows/known_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "symbolizer/code/crt_code.h"
#include "symbolizer/code/known_bytes.h"
#include "symbolizer/code/signal_trampoline.h"
#include "uscope/rows.h"

namespace uscope::symbolizer {
namespace {

// Calls `see` with the code of a hole, window by window; adjacent windows share `overlap` bytes.
template <typename See>
void read_hole(const OffsetRange& hole, TextReader& text, std::size_t overlap, const See& see) {
  for (std::uint64_t from = hole.start; from < hole.end;) {
    const std::uint64_t size = std::min<std::uint64_t>(hole.end - from, TextReader::kWindow);
    see(from, text.bytes_at(from, size));
    from += size < TextReader::kWindow ? size : size - overlap;
  }
}

// Includes the byte before a trampoline, which is looked up for the handler's return address.
void add_trampolines(std::uint64_t from, std::span<const std::byte> code, std::vector<HolePiece>& pieces) {
  for (const std::size_t at : find_signal_trampolines(code)) {
    HolePiece piece;
    piece.range = {from + at - (from + at > 0 ? 1 : 0), from + at + kMostTrampoline};
    piece.trampoline = true;
    pieces.push_back(piece);
  }
}

void add_crt_functions(std::uint64_t from, std::span<const std::byte> code, std::vector<HolePiece>& pieces) {
  for (const CrtFunction& function : find_crt_functions(code)) {
    const std::uint64_t start = from + function.start;
    for (std::size_t i = 0; i < function.row_count; i++) {
      const std::size_t end = i + 1 < function.row_count ? function.rows[i + 1].offset : function.size;
      HolePiece piece;
      piece.range = {start + function.rows[i].offset, start + end};
      piece.rule = function.rows[i].rule;
      pieces.push_back(piece);
    }
  }
}

}  // namespace

std::vector<HolePiece> recognize_holes(std::span<const OffsetRange> holes, TextReader& text) {
  constexpr std::size_t kOverlap = std::max(kMostTrampoline, kMostCrtFunction);
  std::vector<HolePiece> pieces;
  for (const OffsetRange& hole : holes) {
    read_hole(hole, text, kOverlap, [&](std::uint64_t from, std::span<const std::byte> code) {
      add_trampolines(from, code, pieces);
      add_crt_functions(from, code, pieces);
    });
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const HolePiece& a, const HolePiece& b) { return a.range.start < b.range.start; });
  return pieces;
}

OffsetRange find_v8_hole(std::span<const OffsetRange> holes, TextReader& text) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10;
  constexpr std::uint64_t kBytesForEach = 4096;
  OffsetRange best;
  std::uint64_t most = 0;
  for (const OffsetRange& hole : holes) {
    const std::uint64_t bytes = hole.end - hole.start;
    if (bytes < kLeastBytes) continue;
    std::uint64_t prologues = 0;
    read_hole(hole, text, kFramePrologue.size() - 1, [&](std::uint64_t, std::span<const std::byte> code) {
      for (std::size_t at = 0; at + kFramePrologue.size() <= code.size(); at++)
        if (std::memcmp(code.data() + at, kFramePrologue.data(), kFramePrologue.size()) == 0) prologues++;
    });
    if (prologues <= most || prologues * kBytesForEach < bytes) continue;
    most = prologues;
    best = hole;
  }
  return best;
}

}  // namespace uscope::symbolizer
