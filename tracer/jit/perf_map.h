// Reads perf maps: /tmp/perf-PID.map, in which a JIT compiler writes down the code it makes, a line for each piece,
// "START SIZE NAME" with hexadecimal numbers. The bytes are the traced program's and may be anything.
//
// Code memory is used again, and maps are only added to: of several entries that cover an address, the last one holds.
// So the map is read from its end, and each address is found once: time grows with the bytes and the addresses, and not
// with their product.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::tracer {

struct PerfMapEntry {
  std::uint64_t address = 0;  // the one asked for: in start … start + size - 1
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string name;  // 1 to USC_JIT_NAME_BYTES bytes, of any value but newline; a longer one is cut
};

// The entries of the addresses in `wanted`, which are taken out of it as far as they are found. A last line without its
// newline may still be under way and is passed over; so is the first one where `from_start` is false: the bytes are
// then a file's later part.
[[nodiscard]] std::vector<PerfMapEntry> find_in_perf_map(std::string_view bytes, bool from_start,
                                                         std::set<std::uint64_t>& wanted);

}  // namespace uscope::tracer
