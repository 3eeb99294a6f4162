// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One parser for four layouts, which differ in where the parts lie and in whether functions' starts are addresses or
// offsets from the text's start. Records are read once; the tables of stack pointer steps on demand.
#include "symbolizer/go/go_pclntab.h"

#include <algorithm>
#include <cstring>

#include "support/byte_reader.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint32_t kMagic12 = 0xfffffffb;
constexpr std::uint32_t kMagic116 = 0xfffffffa;
constexpr std::uint32_t kMagic118 = 0xfffffff0;
constexpr std::uint32_t kMagic120 = 0xfffffff1;

constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kNameFactor = 8;     // bytes of names that may be searched, as a multiple of the table's size
constexpr std::uint64_t kStepFactor = 16;  // steps that all look-ups together may take, as a multiple of the table's
                                           // size
constexpr std::uint64_t kMaxFunctions = 1u << 22;
constexpr std::uint64_t kMaxSteps = 1u << 20;  // of one function

bool is_inside(std::span<const Segment> segments, std::uint64_t address) {
  return offset_of_address(segments, address).has_value();
}

}  // namespace

bool GoPclntab::is_head(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeadBytes) return false;
  const auto magic = ByteReader(bytes).fixed<std::uint32_t>();
  constexpr std::uint8_t kQuantum = 1;
  constexpr std::uint8_t kPointer = 8;
  return (magic == kMagic12 || magic == kMagic116 || magic == kMagic118 || magic == kMagic120) && bytes[4] == 0 &&
         bytes[5] == 0 && bytes[6] == kQuantum && bytes[7] == kPointer;
}

std::optional<GoPclntab> GoPclntab::parse(std::vector<std::uint8_t> bytes, std::span<const Segment> exec,
                                          std::uint64_t entry) {
  GoPclntab table;
  table.bytes_ = std::move(bytes);
  table.name_bytes_left_ = kNameFactor * table.bytes_.size();
  table.steps_left_ = kStepFactor * table.bytes_.size() + kMaxSteps;
  if (!is_head(table.bytes_) || !table.read_head(exec, entry) || !table.read_functions(exec)) return std::nullopt;
  return table;
}

std::optional<std::uint64_t> GoPclntab::word(std::uint64_t at, std::size_t bytes) const {
  ByteReader in = ByteReader(bytes_).from(at);
  const std::uint64_t value = in.number(bytes);
  return in.ok() ? std::optional(value) : std::nullopt;
}

bool GoPclntab::read_head(std::span<const Segment> exec, std::uint64_t entry) {
  const auto magic = ByteReader(bytes_).fixed<std::uint32_t>();
  if (magic == kMagic116) layout_ = Layout::kGo116;
  if (magic == kMagic118) layout_ = Layout::kGo118;
  if (magic == kMagic120) layout_ = Layout::kGo120;
  const auto count = word(8, 8);
  if (!count || *count == 0 || *count > kMaxFunctions) return false;
  count_ = *count;
  if (layout_ == Layout::kGo12) {
    functab_ = 16;
    return true;
  }
  // The count of files, from Go 1.18 on the text's start; then the offsets of names, units, files, pctab and functions.
  const std::uint64_t offsets = layout_ >= Layout::kGo118 ? 32 : 24;
  const auto names = word(offsets, 8);
  const auto pctab = word(offsets + 24, 8);
  const auto functab = word(offsets + 32, 8);
  if (!names || !pctab || !functab) return false;
  if (*names >= bytes_.size() || *pctab >= bytes_.size() || *functab >= bytes_.size()) return false;
  names_ = *names;
  pctab_ = *pctab;
  functab_ = records_ = *functab;
  if (layout_ < Layout::kGo118) return true;
  const auto start = find_text_start(exec, entry);
  if (start) text_start_ = *start;
  return start.has_value();
}

// Used if the header lacks the text's start: the entry point of a program without cgo is a function of a known name.
std::optional<std::uint64_t> GoPclntab::find_text_start(std::span<const Segment> exec, std::uint64_t entry) {
  const auto told = word(24, 8);
  if (!told || is_inside(exec, *told)) return told;
  const std::uint64_t each = 2 * entry_bytes();
  for (std::uint64_t i = 0; i < count_; i++) {
    const auto start = word(functab_ + i * each, 4);
    const auto record = word(functab_ + i * each + 4, 4);
    GoFunction function;
    if (!start || !record || !read_function(*record, function)) return std::nullopt;
    if (function.name == "_rt0_amd64_linux" && *start <= entry) return entry - *start;
  }
  return std::nullopt;
}

bool GoPclntab::read_functions(std::span<const Segment> exec) {
  const std::uint64_t size = entry_bytes();
  // A table that cannot hold so many functions is refused before memory is allocated for them.
  if ((bytes_.size() - functab_) / (2 * size) < count_) return false;
  functions_.reserve(count_);
  for (std::uint64_t i = 0; i < count_; i++) {
    const auto start = word(functab_ + i * 2 * size, size);
    const auto record = word(functab_ + i * 2 * size + size, size);
    const auto limit = word(functab_ + (i + 1) * 2 * size, size);
    GoFunction function;
    if (!start || !record || !limit || !read_function(*record, function)) return false;
    function.start = text_start_ + *start;
    function.limit = text_start_ + *limit;
    if (function.limit < function.start || !is_inside(exec, function.start)) return false;
    functions_.push_back(function);
  }
  return true;
}

// A record: its start, then 32-bit fields: name, arguments, deferreturn, pcsp, …; after them the identity and the
// flags.
bool GoPclntab::read_function(std::uint64_t record, GoFunction& function) const {
  if (record >= bytes_.size()) return false;
  const std::uint64_t fields = records_ + record + entry_bytes();
  constexpr std::uint64_t kPcsp = 12;
  const auto name = word(fields, 4);
  const auto pcsp = word(fields + kPcsp, 4);
  if (!name || !pcsp) return false;
  function.pcsp = static_cast<std::uint32_t>(*pcsp);
  if (layout_ != Layout::kGo12) {
    const std::uint64_t count = layout_ == Layout::kGo120 ? 9 : 8;
    const auto flags = word(fields + count * 4 + 1, 1);
    if (!flags) return false;
    function.flags = static_cast<std::uint8_t>(*flags);
  }
  const std::uint64_t at = names_ + *name;
  if (at >= bytes_.size()) return false;
  const auto* text = reinterpret_cast<const char*>(bytes_.data() + at);
  const std::size_t room = std::min<std::size_t>({bytes_.size() - at, kMaxName, name_bytes_left_});
  function.name = std::string_view(text, strnlen(text, room));
  name_bytes_left_ -= function.name.size();
  return true;
}

bool GoPclntab::stretches(const GoFunction& function, std::vector<GoStretch>& out, std::uint64_t& steps) const {
  out.clear();
  if (function.pcsp == 0) return false;
  ByteReader in = ByteReader(bytes_).from(pctab_ + function.pcsp);
  std::uint64_t address = function.start;
  std::int64_t delta = -1;
  for (std::uint64_t count = 0; count < kMaxSteps && steps > 0; count++, steps--) {
    const std::uint32_t change = in.uleb32();
    if (!in.ok()) return false;
    if (change == 0 && count > 0) return true;
    delta += static_cast<std::int32_t>((change & 1) != 0 ? ~(change >> 1) : change >> 1);
    const std::uint32_t length = in.uleb32();
    if (length == 0 || length > function.limit - address) return false;  // it is 0 where it could not be read
    address += length;
    out.push_back({address, delta});
  }
  return false;
}

const GoFunction* GoPclntab::containing(std::uint64_t address) const {
  const auto after =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t value, const GoFunction& function) { return value < function.start; });
  if (after != functions_.begin()) {
    std::vector<GoStretch> found;
    const GoFunction& before = *std::prev(after);
    if (stretches(before, found, steps_left_) && address < found.back().end) return &before;
  }
  return after != functions_.end() && after->start == address + 1 ? &*after : nullptr;
}

}  // namespace uscope::symbolizer
