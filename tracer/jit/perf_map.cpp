// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/perf_map.h"

#include <charconv>

#include "uscope/record.h"

namespace uscope::tracer {
namespace {

// Takes a hexadecimal number and the blank after it off the line.
bool take_number(std::string_view& line, std::uint64_t& value) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc{}) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.empty() || line.front() != ' ') return false;
  line.remove_prefix(1);
  return true;
}

void take_line(std::string_view line, std::set<std::uint64_t>& wanted, std::vector<PerfMapEntry>& found) {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  if (!take_number(line, start) || !take_number(line, size)) return;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || start + size < start) return;
  for (auto at = wanted.lower_bound(start); at != wanted.end() && *at - start < size; at = wanted.erase(at))
    found.push_back({*at, start, size, std::string(line.substr(0, USC_JIT_NAME_BYTES))});
}

}  // namespace

std::vector<PerfMapEntry> find_in_perf_map(std::string_view bytes, bool from_start, std::set<std::uint64_t>& wanted) {
  std::vector<PerfMapEntry> found;
  std::size_t end = bytes.rfind('\n');
  while (end != std::string_view::npos && !wanted.empty()) {
    const std::size_t before = end == 0 ? std::string_view::npos : bytes.rfind('\n', end - 1);
    if (before == std::string_view::npos && !from_start) break;
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    take_line(bytes.substr(start, end - start), wanted, found);
    end = before;
  }
  return found;
}

}  // namespace uscope::tracer
