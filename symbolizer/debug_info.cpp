// An address is resolved in three look-ups: unit by the ranges of all units, innermost DIE by the ranges of the unit's
// functions and inlined calls, line by libdw's line table. The second table is made by one walk over the unit's DIEs at
// the first address in it, since a walk for each address would read large units again and again. Types are not walked
// in C and C++, where compilers put no code below them. libdw's own scope functions are not used: they recurse as deep
// as the DIEs nest, and a file can nest them a million deep.
//
// Bounds: section sizes, nesting depth, bytes stepped over in a walk (libdw steps over children again at each level
// where there is no DW_AT_sibling), ranges of a DIE, size of a line table. Memory: when what was loaded is estimated
// above kMaxLoaded all of it is dropped, libdw's handle included, and read again when needed.
#include "symbolizer/debug_info.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>

#include "symbolizer/demangle.h"
#include "symbolizer/symbols_sections.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxDebugSection = 512u << 20;  // bytes, decompressed
constexpr std::uint64_t kMaxDebugTotal = 1u << 30;
constexpr std::size_t kMaxLoaded = 96u << 20;
constexpr std::uint64_t kMaxLineTable = 16u << 20;
constexpr std::size_t kLineExpansion = 24;  // bytes libdw holds for each byte of a line table, about
constexpr std::size_t kMaxDepth = 512;
constexpr std::size_t kMaxNodes = 4u << 20;
constexpr std::size_t kMaxDieRanges = 4096;
constexpr std::size_t kMaxUnitRanges = 1u << 20;
constexpr std::uint64_t kWalkBase = 64u << 20;
constexpr std::uint64_t kWalkFactor = 16;
constexpr std::size_t kMaxScopeSteps = 1u << 20;  // DIEs stepped over to find a DIE's scopes
constexpr std::size_t kMaxChain = 256;            // inlined calls shown for one address

// Size of a section once libdw has decompressed it, UINT64_MAX where that cannot be told.
std::uint64_t expanded_size(const ElfSection& section) {
  if ((section.header.sh_flags & SHF_COMPRESSED) != 0) {
    GElf_Chdr header;
    return gelf_getchdr(section.handle, &header) != nullptr ? header.ch_size : UINT64_MAX;
  }
  // GNU's older form: "ZLIB" and the size, big-endian. Nothing writes it any more; not worth its risks.
  return section.name.starts_with(".zdebug") ? UINT64_MAX : section.header.sh_size;
}

bool within_bounds(Elf* elf) {
  std::uint64_t total = 0;
  bool info = false;
  for (const ElfSection& section : read_sections(elf)) {
    if (section.name == ".gnu_debugaltlink") return false;
    if (!section.name.starts_with(".debug_") && !section.name.starts_with(".zdebug_")) continue;
    if (section.handle == nullptr || section.header.sh_type == SHT_NOBITS) continue;
    const std::uint64_t size = expanded_size(section);
    if (size > kMaxDebugSection) return false;
    total += size;
    info = info || (section.name == ".debug_info" && size > 0);
  }
  return info && total <= kMaxDebugTotal;
}

// Calls visit(low, high) for each code range of a DIE, up to `limit` of them. Ranges at address 0 are those of
// functions the linker threw away.
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

bool is_c(int language) {
  return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
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

const char* linker_name(Dwarf_Die* die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, name, &attribute) == nullptr) continue;
    const char* text = dwarf_formstring(&attribute);
    if (text != nullptr && *text != '\0') return text;
  }
  return nullptr;
}

// The DIE that declares what `die` is an instance of: where its name and scope stand.
Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int kMaxSteps = 8;
  for (int i = 0; i < kMaxSteps; i++) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr)
      break;
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

// Puts the names of the scopes around the DIE at `target` before `name`: "space::(anonymous namespace)::Type::name".
// DIEs do not know their parents: the way to it is found from the unit's top, over siblings that end before it.
std::string in_scopes(Dwarf_Die unit_die, Dwarf_Off target, const char* name) {
  std::string scopes;
  Dwarf_Die die;
  std::size_t steps = 0;
  for (int found = dwarf_child(&unit_die, &die); found == 0 && steps < kMaxScopeSteps; steps++) {
    Dwarf_Die next;
    const bool last = dwarf_siblingof(&die, &next) != 0;
    if (!last && dwarf_dieoffset(&next) <= dwarf_dieoffset(&die)) break;
    if (!last && dwarf_dieoffset(&next) <= target) {
      die = next;
      continue;
    }
    if (dwarf_dieoffset(&die) >= target) break;
    const char* scope = dwarf_diename(&die);
    if (scope != nullptr) scopes += bounded_utf8(scope) + "::";
    if (scope == nullptr && dwarf_tag(&die) == DW_TAG_namespace) scopes += "(anonymous namespace)::";
    if (scopes.size() > kMaxName) break;
    Dwarf_Die child;
    found = dwarf_child(&die, &child);
    die = child;
  }
  return scopes + bounded_utf8(name);
}

// Demangled from the linker name; else, as the local functions of C++ and Rust have none, the name with its scopes and
// without parameters.
std::string function_name(Dwarf_Die* die) {
  const char* name = linker_name(die);
  if (name != nullptr) return demangle(name);
  name = dwarf_diename(die);
  if (name == nullptr) return "";
  Dwarf_Die declaration = declaration_of(*die);
  Dwarf_Die unit_die;
  if (dwarf_diecu(&declaration, &unit_die, nullptr, nullptr) == nullptr || is_c(dwarf_srclang(&unit_die)))
    return bounded_utf8(name);
  return in_scopes(unit_die, dwarf_dieoffset(&declaration), name);
}

std::uint64_t number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return value;
}

struct Place {
  std::string file;
  std::uint32_t line = 0;
};

// A path of a line table in full: most are relative to the directory the compiler ran in.
std::string full_path(const char* path, const char* directory) {
  if (path == nullptr) return "";
  if (*path == '/' || directory == nullptr) return bounded_utf8(path);
  return bounded_utf8(std::string(directory) + "/" + path);
}

const char* directory_of(Dwarf_Die* unit_die) {
  Dwarf_Attribute attribute;
  return dwarf_attr(unit_die, DW_AT_comp_dir, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
}

// The place of an address by the unit's line table.
Place place_of(Dwarf_Die* unit_die, const char* directory, std::uint64_t address) {
  Place place;
  Dwarf_Line* row = dwarf_getsrc_die(unit_die, address);
  if (row == nullptr) return place;
  place.file = full_path(dwarf_linesrc(row, nullptr, nullptr), directory);
  int line = 0;
  if (dwarf_lineno(row, &line) == 0 && line > 0) place.line = static_cast<std::uint32_t>(line);
  return place;
}

// The place an inlined call was written at.
Place call_place(Dwarf_Die* inlined, const char* directory, Dwarf_Files* files, std::size_t file_count) {
  Place place;
  const std::uint64_t file = number_of(inlined, DW_AT_call_file);
  if (file < file_count) place.file = full_path(dwarf_filesrc(files, file, nullptr, nullptr), directory);
  const std::uint64_t line = number_of(inlined, DW_AT_call_line);
  if (line <= INT32_MAX) place.line = static_cast<std::uint32_t>(line);
  return place;
}

}  // namespace

// The walk over one unit's DIEs.
class DebugInfo::UnitWalk {
 public:
  UnitWalk(Dwarf_Die unit_die, Unit& unit) : unit_(unit), types_only_(types_hold_no_code(dwarf_srclang(&unit_die))) {
    Dwarf_Off first = dwarf_dieoffset(&unit_die);
    Dwarf_Off header = first - dwarf_cuoffset(&unit_die);
    Dwarf_Off next = 0;
    std::size_t header_size = 0;
    if (dwarf_nextcu(dwarf_cu_getdwarf(unit_die.cu), header, &next, &header_size, nullptr, nullptr, nullptr) == 0)
      end_ = next;
    budget_ = kWalkBase + (end_ > first ? (end_ - first) * kWalkFactor : 0);
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

  // The sibling behind `die`. False at the end, and where offsets go backwards or the budget is used up.
  bool step(Dwarf_Die& die, Dwarf_Die& next) {
    if (dwarf_siblingof(&die, &next) != 0) return false;
    const Dwarf_Off from = dwarf_dieoffset(&die);
    const Dwarf_Off to = dwarf_dieoffset(&next);
    if (to <= from || to >= end_ || to - from > budget_) return false;
    budget_ -= to - from;
    return true;
  }

  // Goes on with the children of `level`'s DIE.
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

  // A node for a DIE with code; kNoNode for one without.
  std::uint32_t add(Level& level, std::uint32_t parent, bool inlined) {
    if (unit_.nodes.size() >= kMaxNodes || ranges_.size() >= kMaxNodes) return kNoNode;
    const auto number = static_cast<std::uint32_t>(unit_.nodes.size());
    Dwarf_Addr entry = 0;
    const bool has_entry = dwarf_entrypc(&level.die, &entry) == 0;
    bool entry_inside = false;
    std::uint64_t first = 0;
    std::uint64_t lowest = UINT64_MAX;
    // Children claim addresses from their parents: deeper levels have the greater claim.
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
  bool types_only_;
  Dwarf_Off end_ = 0;  // offset behind the unit
  std::uint64_t budget_ = 0;
  std::vector<Level> levels_;  // the DIEs to visit, the next one last: at most one for each depth
  std::vector<ClaimedRange> ranges_;
};

std::unique_ptr<DebugInfo> DebugInfo::open(Elf* elf) {
  if (!within_bounds(elf)) return nullptr;
  DwarfHandle dwarf(dwarf_begin_elf(elf, DWARF_C_READ, nullptr));
  if (!dwarf) return nullptr;
  return std::unique_ptr<DebugInfo>(new DebugInfo(elf, std::move(dwarf)));
}

DebugInfo::DebugInfo(Elf* elf, DwarfHandle dwarf) : elf_(elf), dwarf_(std::move(dwarf)) {}

void DebugInfo::add_unit_ranges(Dwarf_Die* die) {
  const auto number = static_cast<std::uint32_t>(unit_offsets_.size());
  const std::size_t before = pending_.size();
  for_each_range(die, kMaxUnitRanges, [&](std::uint64_t low, std::uint64_t high) {
    // As with symbols, the range that starts last has the address.
    if (pending_.size() < kMaxUnitRanges) pending_.push_back({low, high, low, number});
  });
  if (pending_.size() != before) unit_offsets_.push_back(dwarf_dieoffset(die));
}

void DebugInfo::find_units() {
  units_found_ = true;
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  std::size_t header_size = 0;
  while (dwarf_nextcu(dwarf_.get(), offset, &next, &header_size, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_.get(), offset + header_size, &die) != nullptr) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit || tag == DW_TAG_partial_unit)
        add_unit_ranges(&die);
    }
    if (next <= offset) break;
    offset = next;
  }
  units_ = RangeMap(std::move(pending_));
  pending_ = {};
}

// The size of the unit's line table by its header, 0 where it has none.
std::uint64_t DebugInfo::line_table_size(Dwarf_Die* unit_die) const {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_attr(unit_die, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &offset) != 0)
    return 0;
  for (const ElfSection& section : read_sections(elf_)) {
    if (section.name != ".debug_line") continue;
    // libdw has decompressed the section in place when it opened the file.
    const Elf_Data* data = elf_getdata(section.handle, nullptr);
    if (data == nullptr || data->d_buf == nullptr || offset > data->d_size || data->d_size - offset < 12) return 0;
    const auto* bytes = static_cast<const char*>(data->d_buf) + offset;
    std::uint32_t length = 0;
    std::memcpy(&length, bytes, sizeof(length));
    if (length != 0xffffffff) return length;
    std::uint64_t wide = 0;
    std::memcpy(&wide, bytes + sizeof(length), sizeof(wide));
    return wide;
  }
  return 0;
}

// Drops all that can be read again, libdw's memory too.
void DebugInfo::forget() {
  loaded_.clear();
  loaded_bytes_ = 0;
  dwarf_.reset();
  dwarf_.reset(dwarf_begin_elf(elf_, DWARF_C_READ, nullptr));
}

const DebugInfo::Unit& DebugInfo::unit_of(Dwarf_Die* unit_die, Dwarf_Off offset) {
  const auto found = loaded_.find(offset);
  if (found != loaded_.end()) return found->second;
  Unit& unit = loaded_[offset];
  UnitWalk(*unit_die, unit).run();
  const std::uint64_t lines = line_table_size(unit_die);
  unit.lines = lines > 0 && lines <= kMaxLineTable;
  loaded_bytes_ += unit.nodes.capacity() * sizeof(Node) + unit.map.footprint() + sizeof(Unit);
  if (unit.lines) loaded_bytes_ += lines * kLineExpansion;
  return unit;
}

std::vector<DebugFrame> DebugInfo::find(std::uint64_t address) {
  if (loaded_bytes_ > kMaxLoaded) forget();
  if (!dwarf_) return {};
  if (!units_found_) find_units();
  const auto number = units_.owner(address);
  Dwarf_Die unit_die;
  if (!number || dwarf_offdie(dwarf_.get(), unit_offsets_[*number], &unit_die) == nullptr) return {};
  const Unit& unit = unit_of(&unit_die, unit_offsets_[*number]);

  const char* directory = directory_of(&unit_die);
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  Place place = unit.lines ? place_of(&unit_die, directory, address) : Place{};
  if (!unit.lines || dwarf_getsrcfiles(&unit_die, &files, &file_count) != 0) file_count = 0;

  std::vector<DebugFrame> frames;
  const auto innermost = unit.map.owner(address);
  for (std::uint32_t at = innermost ? *innermost : kNoNode; at != kNoNode && frames.size() < kMaxChain;) {
    const Node& node = unit.nodes[at];
    at = node.parent;
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_.get(), node.die, &die) == nullptr) return {};
    const std::uint64_t start = address >= node.entry ? node.entry : node.lowest;
    frames.push_back({function_name(&die), start, std::move(place.file), place.line, node.inlined});
    if (node.inlined) place = call_place(&die, directory, files, file_count);
  }
  if (frames.empty() && !place.file.empty()) frames.push_back({"", 0, std::move(place.file), place.line, false});
  return frames;
}

std::size_t DebugInfo::footprint() const {
  return loaded_bytes_ + units_.footprint() + unit_offsets_.capacity() * sizeof(Dwarf_Off);
}

}  // namespace uscope::symbolizer
