// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An address is resolved in three look-ups: the unit by the ranges of all units, the innermost DIE by the ranges of the
// unit's functions and inlined calls, the line by libdw's line table. The second table is built by one walk over the
// unit's DIEs at the first address in it, since a walk for each address would read large units again and again. In C
// and C++ types are not walked, since compilers put no code below them. libdw's own scope functions are not used: they
// recurse as deep as the DIEs nest, and a file can nest them a million deep.
//
// Bounds: section sizes, nesting depth, bytes stepped over in a walk (without DW_AT_sibling, libdw steps over children
// again at each level), ranges of a DIE, size of a line table. Memory: when the loaded data is estimated above
// kMaxLoaded, all of it is dropped, including libdw's handle, and read again when needed.
#include "symbolizer/names/debug_info.h"

#include <dwarf.h>
#include <endian.h>
#include <fmt/core.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "support/byte_reader.h"
#include "symbolizer/debug_files/debug_files.h"
#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxDebugSection = 512u << 20;  // bytes, decompressed
constexpr std::uint64_t kMaxDebugTotal = 1u << 30;
constexpr std::size_t kMaxLoaded = 96u << 20;
constexpr std::uint64_t kMaxLineTable = 16u << 20;
constexpr std::size_t kLineExpansion = 24;  // approximate bytes that libdw holds for each byte of a line table
constexpr std::size_t kMaxDepth = 512;
constexpr std::size_t kMaxNodes = 4u << 20;
constexpr std::size_t kMaxDieRanges = 4096;
constexpr std::size_t kMaxUnitRanges = 1u << 20;
constexpr std::uint64_t kWalkBase = 64u << 20;
constexpr std::uint64_t kWalkFactor = 16;
// Limits for one file: bytes of all walks through units (dropped ones are walked again), and units, for each of which
// libdw keeps some hundred bytes.
constexpr std::uint64_t kWalkTotal = std::uint64_t{8} << 30;
constexpr std::size_t kMaxUnits = 1u << 19;
constexpr std::size_t kMaxSections = 256;
constexpr std::size_t kMaxChain = 256;  // inlined calls shown for one address

// The DWARF of an ELF file, as its sections' headers tell.
struct Sections {
  bool has_info = false;
  std::string trouble;  // why it may not be read; "" if it may
};

constexpr std::uint32_t kZlib = 1;  // ELFCOMPRESS_*, of which elf.h of older systems has no more
constexpr std::uint32_t kZstd = 2;
constexpr std::string_view kGnuMark = "ZLIB";

// Size of a section once libdw has decompressed it; UINT64_MAX and why, if that is not known or cannot be done.
std::uint64_t expanded_size(const ElfSection& section, std::string& trouble) {
  if ((section.header.sh_flags & SHF_COMPRESSED) != 0) {
    GElf_Chdr header;
    if (gelf_getchdr(section.handle, &header) == nullptr) {
      trouble = "its compressed sections are damaged";
      return UINT64_MAX;
    }
    if (header.ch_type != kZlib && header.ch_size <= kMaxDebugSection && elf_compress(section.handle, 0, 0) < 0) {
      trouble = header.ch_type == kZstd ? "it is compressed with zstd, which the installed libelf cannot read; objcopy "
                                          "--decompress-debug-sections makes it readable"
                                        : fmt::format("it is compressed by an unknown method, {}", header.ch_type);
      return UINT64_MAX;
    }
    return header.ch_size;
  }
  if (!section.name.starts_with(".zdebug_")) return section.header.sh_size;
  // GNU's older form: "ZLIB" and the size, big-endian.
  using Bytes = ByteReader::Bytes;
  const Elf_Data* raw = elf_rawdata(section.handle, nullptr);
  ByteReader in(raw == nullptr ? Bytes() : Bytes(static_cast<const std::uint8_t*>(raw->d_buf), raw->d_size));
  const Bytes mark = in.bytes(kGnuMark.size());
  const std::uint64_t size = be64toh(in.fixed<std::uint64_t>());
  if (in.ok() && std::equal(mark.begin(), mark.end(), kGnuMark.begin(), kGnuMark.end())) return size;
  trouble = "its compressed sections are damaged";
  return UINT64_MAX;
}

// `linked` is the build-id of the available alternate file; empty if there is none.
Sections check_sections(Elf* elf, const std::string& linked) {
  Sections found;
  std::uint64_t total = 0;
  std::size_t count = 0;
  const auto cannot = [&found](std::string why) {
    if (found.trouble.empty()) found.trouble = std::move(why);
  };
  const std::vector<ElfSection> sections = read_sections(elf);
  for (const ElfSection& section : sections) {
    if (section.name == ".gnu_debugaltlink" && (linked.empty() || alternate_build_id(sections) != linked))
      cannot("dwz moved a part of it to another file, which was not found");
    if (!section.name.starts_with(".debug_") && !section.name.starts_with(".zdebug_")) continue;
    if (section.handle == nullptr || section.header.sh_type == SHT_NOBITS) continue;
    std::string trouble;
    const bool is_info = section.name == ".debug_info" || section.name == ".zdebug_info";
    found.has_info = found.has_info || (is_info && section.header.sh_size > 0);
    if (!found.trouble.empty()) continue;
    const std::uint64_t size = expanded_size(section, trouble);
    total += std::min(size, kMaxDebugTotal);
    if (!trouble.empty()) cannot(std::move(trouble));
    if (size > kMaxDebugSection || total > kMaxDebugTotal)
      cannot("it is larger than uscope reads: 512 MiB in a section, 1 GiB in all");
    if (++count > kMaxSections) cannot(fmt::format("it has more than {} sections", kMaxSections));
  }
  return found;
}

// Calls visit(low, high) for each code range of a DIE, up to `limit` of them. Ranges at address 0 belong to functions
// that the linker discarded.
template <typename Visit>
void for_each_range(Dwarf_Die* die, std::size_t limit, Visit visit) {
  std::ptrdiff_t offset = 0;
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (std::size_t i = 0; i < limit; i++) {
    offset = dwarf_ranges(die, offset, &base, &low, &high);
    if (offset <= 0) return;
    if (low > 0 && low < high) visit(low, high);
  }
}

// Languages whose compilers put no code below types.
bool types_hold_no_code(int language) {
  switch (language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      return true;
    default:
      return is_c(language);
  }
}

}  // namespace

// The walk over one unit's DIEs.
class DebugInfo::UnitWalk {
 public:
  UnitWalk(Dwarf_Die unit_die, Unit& unit, std::uint64_t& total)
      : unit_(unit), total_(total), types_only_(types_hold_no_code(dwarf_srclang(&unit_die))) {
    Dwarf_Off first = dwarf_dieoffset(&unit_die);
    Dwarf_Off header = first - dwarf_cuoffset(&unit_die);
    Dwarf_Off next = 0;
    std::size_t header_size = 0;
    if (dwarf_nextcu(dwarf_cu_getdwarf(unit_die.cu), header, &next, &header_size, nullptr, nullptr, nullptr) == 0)
      end_ = next;
    budget_ = std::min(total_, kWalkBase + (end_ > first ? (end_ - first) * kWalkFactor : 0));
    descend({unit_die, kNoNode, 0});
  }

  void run() {
    while (!levels_.empty()) {
      Level level = levels_.back();
      levels_.pop_back();
      Dwarf_Die next;
      if (step(level.die, next)) levels_.push_back({next, level.parent, level.depth});
      visit(level);
    }
    unit_.map = RangeMap(std::move(ranges_));
    unit_.nodes.shrink_to_fit();
  }

 private:
  struct Level {
    Dwarf_Die die;
    std::uint32_t parent;
    std::uint32_t depth;
  };

  // Steps to the sibling after `die`. Returns false at the end, if offsets go backwards, or if the budget is used up.
  bool step(Dwarf_Die& die, Dwarf_Die& next) {
    if (dwarf_siblingof(&die, &next) != 0) return false;
    const Dwarf_Off from = dwarf_dieoffset(&die);
    const Dwarf_Off to = dwarf_dieoffset(&next);
    if (to <= from || to >= end_ || to - from > budget_) return false;
    budget_ -= to - from;
    total_ -= to - from;
    return true;
  }

  // Continues with the children of `level`'s DIE.
  void descend(Level level) {
    Dwarf_Die child;
    if (level.depth < kMaxDepth && dwarf_child(&level.die, &child) == 0)
      levels_.push_back({child, level.parent, level.depth + 1});
  }

  void visit(Level& level) {
    switch (dwarf_tag(&level.die)) {
      case DW_TAG_subprogram: {
        const std::uint32_t node = add(level, kNoNode, false);
        if (node != kNoNode || !types_only_) descend({level.die, node, level.depth});
        break;
      }
      case DW_TAG_inlined_subroutine: {
        const std::uint32_t node = level.parent != kNoNode ? add(level, level.parent, true) : kNoNode;
        if (node != kNoNode) descend({level.die, node, level.depth});
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_with_stmt:
      case DW_TAG_namespace:
      case DW_TAG_module:
        descend(level);
        break;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_interface_type:
      case DW_TAG_enumeration_type:
        if (!types_only_) descend(level);
        break;
      default:
        break;
    }
  }

  // Adds a node for a DIE with code; returns kNoNode for one without.
  std::uint32_t add(Level& level, std::uint32_t parent, bool inlined) {
    if (unit_.nodes.size() >= kMaxNodes || ranges_.size() >= kMaxNodes) return kNoNode;
    const auto number = static_cast<std::uint32_t>(unit_.nodes.size());
    Dwarf_Addr entry = 0;
    const bool has_entry = dwarf_entrypc(&level.die, &entry) == 0;
    bool entry_inside = false;
    std::uint64_t first = 0;
    std::uint64_t lowest = UINT64_MAX;
    // Children take addresses from their parents: deeper levels have the greater claim.
    for_each_range(&level.die, kMaxDieRanges, [&](std::uint64_t low, std::uint64_t high) {
      ranges_.push_back({low, high, level.depth, number});
      if (lowest == UINT64_MAX) first = low;
      lowest = std::min(lowest, low);
      entry_inside = entry_inside || (has_entry && entry >= low && entry < high);
    });
    if (lowest == UINT64_MAX) return kNoNode;
    unit_.nodes.push_back({dwarf_dieoffset(&level.die), entry_inside ? entry : first, lowest, parent, inlined});
    return number;
  }

  Unit& unit_;
  std::uint64_t& total_;  // left for all units
  bool types_only_;
  Dwarf_Off end_ = 0;  // offset after the unit
  std::uint64_t budget_ = 0;
  std::vector<Level> levels_;  // the DIEs to visit, the next one last: at most one for each depth
  std::vector<ClaimedRange> ranges_;
};

std::unique_ptr<DebugInfo> DebugInfo::open(Elf* elf, Elf* alternate, std::string* trouble) {
  const auto refuse = [trouble](std::string why) {
    if (trouble != nullptr) *trouble = std::move(why);
    return nullptr;
  };
  const Sections own = check_sections(elf, alternate != nullptr ? build_id_of(alternate) : "");
  if (!own.has_info) return nullptr;
  if (!own.trouble.empty()) return refuse(own.trouble);
  if (alternate != nullptr) {
    const Sections other = check_sections(alternate, "");
    if (!other.has_info || !other.trouble.empty())
      return refuse("the file to which dwz moved a part of it cannot be read");
  }
  std::unique_ptr<DebugInfo> info(new DebugInfo(elf, alternate));
  if (!info->dwarf_ || !info->texts_.terminated()) return refuse("it is damaged");
  return info;
}

DebugInfo::DebugInfo(Elf* elf, Elf* alternate) : elf_(elf), alternate_elf_(alternate), walk_left_(kWalkTotal) {
  begin();
}

void DebugInfo::begin() {
  dwarf_.reset(dwarf_begin_elf(elf_, DWARF_C_READ, nullptr));
  DwarfTexts texts(elf_);
  texts.go_on_from(texts_);
  texts_ = std::move(texts);
  if (alternate_elf_ == nullptr || !dwarf_) return;
  alternate_.reset(dwarf_begin_elf(alternate_elf_, DWARF_C_READ, nullptr));
  // Otherwise libdw would search for the file itself.
  dwarf_setalt(dwarf_.get(), alternate_.get());
  texts_.add_alternate(alternate_elf_);
  if (!alternate_) dwarf_.reset();
}

void DebugInfo::add_unit_ranges(Dwarf_Die* die) {
  const auto number = static_cast<std::uint32_t>(unit_offsets_.size());
  const std::size_t before = pending_.size();
  for_each_range(die, kMaxUnitRanges, [&](std::uint64_t low, std::uint64_t high) {
    // As with symbols, the range that starts last owns the address.
    if (pending_.size() < kMaxUnitRanges) pending_.push_back({low, high, low, number});
  });
  if (pending_.size() != before) unit_offsets_.push_back(dwarf_dieoffset(die));
}

void DebugInfo::find_units() {
  units_found_ = true;
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  std::size_t header_size = 0;
  for (std::size_t units = 0;
       units < kMaxUnits && dwarf_nextcu(dwarf_.get(), offset, &next, &header_size, nullptr, nullptr, nullptr) == 0;
       units++) {
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_.get(), offset + header_size, &die) != nullptr) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit || tag == DW_TAG_partial_unit)
        add_unit_ranges(&die);
      if (split_file_.empty()) split_file_ = texts_.split_file(&die);
    }
    if (next <= offset) break;
    offset = next;
  }
  units_ = RangeMap(std::move(pending_));
  pending_ = {};
}

// Drops everything that can be read again, including libdw's memory.
void DebugInfo::forget() {
  loaded_.clear();
  loaded_bytes_ = 0;
  dwarf_.reset();
  alternate_.reset();
  begin();
}

const DebugInfo::Unit& DebugInfo::unit_of(Dwarf_Die* unit_die, Dwarf_Off offset) {
  const auto found = loaded_.find(offset);
  if (found != loaded_.end()) return found->second;
  Unit& unit = loaded_[offset];
  UnitWalk(*unit_die, unit, walk_left_).run();
  const std::uint64_t lines = texts_.line_table_size(unit_die);
  unit.lines = lines > 0 && lines <= kMaxLineTable;
  loaded_bytes_ += unit.nodes.capacity() * sizeof(Node) + unit.map.footprint() + sizeof(Unit);
  if (unit.lines) loaded_bytes_ += lines * kLineExpansion;
  return unit;
}

const DebugInfo::Unit* DebugInfo::unit_at(std::uint64_t address, Dwarf_Die& unit_die) {
  if (loaded_bytes_ > kMaxLoaded) forget();
  if (!dwarf_) return nullptr;
  if (!units_found_) find_units();
  const auto number = units_.owner(address);
  if (!number || dwarf_offdie(dwarf_.get(), unit_offsets_[*number], &unit_die) == nullptr) return nullptr;
  return &unit_of(&unit_die, unit_offsets_[*number]);
}

std::optional<Dwarf_Die> DebugInfo::function_at(std::uint64_t entry) {
  Dwarf_Die unit_die;
  const Unit* unit = unit_at(entry, unit_die);
  if (unit == nullptr) return std::nullopt;
  // Another function may be inlined at the first instruction.
  const auto innermost = unit->map.owner(entry);
  std::uint32_t at = innermost ? *innermost : kNoNode;
  while (at != kNoNode && unit->nodes[at].inlined) at = unit->nodes[at].parent;
  Dwarf_Die die;
  if (at == kNoNode || unit->nodes[at].entry != entry) return std::nullopt;
  if (dwarf_offdie(dwarf_.get(), unit->nodes[at].die, &die) == nullptr) return std::nullopt;
  return die;
}

std::optional<std::vector<DebugParameter>> DebugInfo::parameters(std::uint64_t entry) {
  const auto die = function_at(entry);
  return die ? read_parameters(*die, texts_) : std::nullopt;
}

std::optional<DebugResult> DebugInfo::result(std::uint64_t entry) {
  const auto die = function_at(entry);
  return die ? read_result(*die, texts_) : std::nullopt;
}

std::vector<DebugFrame> DebugInfo::find(std::uint64_t address) {
  Dwarf_Die unit_die;
  const Unit* found = unit_at(address, unit_die);
  if (found == nullptr) return {};
  const Unit& unit = *found;

  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  SourcePlace place = unit.lines ? texts_.place_of(&unit_die, address) : SourcePlace{};
  if (!unit.lines || dwarf_getsrcfiles(&unit_die, &files, &file_count) != 0) file_count = 0;

  std::vector<DebugFrame> frames;
  const auto innermost = unit.map.owner(address);
  for (std::uint32_t at = innermost ? *innermost : kNoNode; at != kNoNode && frames.size() < kMaxChain;) {
    const Node& node = unit.nodes[at];
    at = node.parent;
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_.get(), node.die, &die) == nullptr) return {};
    const std::uint64_t start = address >= node.entry ? node.entry : node.lowest;
    frames.push_back({texts_.function_name(&die), start, std::exchange(place.file, {}), place.line, node.inlined,
                      texts_.function_language(&die)});
    if (node.inlined) place = texts_.call_place(&unit_die, &die, files, file_count);
  }
  if (frames.empty() && !place.file.empty()) frames.push_back({"", 0, std::move(place.file), place.line, false});
  return frames;
}

std::size_t DebugInfo::footprint() const {
  return loaded_bytes_ + units_.footprint() + unit_offsets_.capacity() * sizeof(Dwarf_Off);
}

}  // namespace uscope::symbolizer
