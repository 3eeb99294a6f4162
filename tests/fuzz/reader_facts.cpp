// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The facts of an ELF file as a process without privileges tells them: refused, or such as the reader of ELF files
// gives them, which are told in the same bytes again.
#include <algorithm>

#include "fuzz.h"
#include "symbolizer/reader/reader_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kFileSize = std::uint64_t{1} << 24;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto facts = uscope::symbolizer::decode(bytes, kFileSize);
  if (!facts) return 0;
  for (const auto* segments : {&facts->exec_segments, &facts->segments}) {
    std::uint64_t before = 0;
    for (const uscope::symbolizer::Segment& segment : *segments) {
      uscope::fuzz::require(segment.offset >= before, "segments by offset");
      uscope::fuzz::require(segment.offset <= kFileSize && segment.size <= kFileSize - segment.offset,
                            "segments inside the file");
      uscope::fuzz::require(segment.address + segment.size >= segment.address, "addresses that do not wrap");
      before = segment.offset;
    }
  }
  const auto again = uscope::symbolizer::encode(*facts);
  uscope::fuzz::require(std::ranges::equal(again, bytes), "the same bytes again");
  return 0;
}
