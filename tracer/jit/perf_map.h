// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads perf maps: /tmp/perf-PID.map, in which a JIT compiler lists its code, one line for each piece, "START SIZE
// NAME" with hexadecimal numbers. The traced program writes the bytes, so they may be anything.
//
// Code memory is reused, and maps are only appended to: of several entries that cover an address, the last one is
// valid. So the map is read from its end, and each address is found once: the time grows with the bytes plus the
// addresses, not with their product.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::tracer {

struct PerfMapEntry {
  std::uint64_t address = 0;  // the address looked up: in start … start + size - 1
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string name;  // 1 to USC_JIT_NAME_BYTES bytes, of any value but newline; longer names are cut
};

// Returns the entries of the addresses in `wanted`, and removes those found from it. A last line without newline may
// still be incomplete and is skipped; if `from_start` is false, the bytes are a later part of the file, and the first
// line is skipped too.
[[nodiscard]] std::vector<PerfMapEntry> find_in_perf_map(std::string_view bytes, bool from_start,
                                                         std::set<std::uint64_t>& wanted);

}  // namespace uscope::tracer
