// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reader of perf maps. First a byte (whether the bytes are a whole file), a count, and the addresses asked for.
#include "tracer/jit/perf_map.h"

#include "fuzz.h"
#include "uscope/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  uscope::fuzz::Input input(data, size);
  const bool from_start = (input.take<std::uint8_t>() & 1) != 0;
  std::set<std::uint64_t> wanted;
  for (std::size_t i = input.count(8); i > 0; i--) {
    const auto small = input.take<std::uint16_t>();
    wanted.insert(small == 0xffff ? input.take<std::uint64_t>() : small);
  }
  const std::set<std::uint64_t> asked = wanted;
  const auto text = input.rest();
  const std::string_view map(reinterpret_cast<const char*>(text.data()), text.size());
  const auto found = uscope::tracer::find_in_perf_map(map, from_start, wanted);
  uscope::fuzz::require(found.size() + wanted.size() == asked.size(), "an address is found once, or not at all");
  for (const auto& entry : found) {
    uscope::fuzz::require(asked.count(entry.address) == 1 && wanted.count(entry.address) == 0, "what was asked for");
    uscope::fuzz::require(entry.address - entry.start < entry.size, "an entry covers its address");
    uscope::fuzz::require(!entry.name.empty() && entry.name.size() <= USC_JIT_NAME_BYTES, "a name's length");
    uscope::fuzz::require(entry.name.find('\n') == std::string::npos, "a name is of one line");
    uscope::fuzz::require(map.find(entry.name) != std::string_view::npos, "a name is the map's");
  }
  return 0;
}
