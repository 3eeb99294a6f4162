// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads all symbol tables, ranks all candidates once (by start, then by the quality of the name), and flattens the
// ranges, so that a look-up is one bisection. At most kMaxSymbols candidates of each table are read: beyond that (96
// MiB of table) the rest has no names.
#include "symbolizer/names/symbols_table.h"

#include <algorithm>
#include <cstring>

#include "symbolizer/names/demangle.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxSymbols = 4u << 20;
constexpr std::uint64_t kMaxTable = kMaxSymbols * sizeof(Elf64_Sym);
constexpr std::uint64_t kMaxVersions = kMaxSymbols * sizeof(Elf64_Half);
constexpr std::uint64_t kMaxStrings = 1u << 30;
constexpr int kMostTables = 8;  // in one file: linkers write two, but headers may declare one table thousands of times
constexpr Elf64_Half kHiddenVersion = 0x8000;
// Bytes of names that are compared for order: enough for real ones, and a bound for a hostile table of long names.
constexpr std::size_t kComparedBytes = 256;

struct Candidate {
  std::uint64_t low;
  std::uint64_t high;  // equal to low: size 0, not yet decided
  const char* name;
  std::uint16_t length;  // of the name, counted up to kMaxMangledName
  std::uint16_t underscores;
  bool local;
  bool hidden;
  bool weak;
  bool ifunc;
  bool is_function;
};

// A string table up to its last NUL, so that every offset below `size` is a terminated string. (elf_strptr searches the
// last NUL at each call, which is slow for a hostile table.)
struct Strings {
  const char* base = nullptr;
  std::size_t size = 0;

  [[nodiscard]] const char* at(std::uint64_t offset) const { return offset < size ? base + offset : nullptr; }
};

Strings read_strings(const std::vector<ElfSection>& sections, std::size_t number) {
  if (number >= sections.size() || sections[number].header.sh_type != SHT_STRTAB) return {};
  const Elf_Data* data = section_data(sections[number], kMaxStrings);
  if (data == nullptr) return {};
  const auto* base = static_cast<const char*>(data->d_buf);
  const auto* last = static_cast<const char*>(memrchr(base, 0, data->d_size));
  return last == nullptr ? Strings{} : Strings{base, static_cast<std::size_t>(last - base) + 1};
}

std::size_t leading_underscores(std::string_view name) {
  if (name.starts_with("__vdso_")) return 0;
  return std::min(name.find_first_not_of('_'), name.size());
}

// Whether `a` is a better name than `b` for their common start.
bool better_name(const Candidate& a, const Candidate& b) {
  if (a.local != b.local) return b.local;
  if (a.underscores != b.underscores) return a.underscores < b.underscores;
  if (a.hidden != b.hidden) return b.hidden;
  if (a.weak != b.weak) return b.weak;
  if (a.length != b.length) return a.length < b.length;
  const int order = std::strncmp(a.name, b.name, kComparedBytes);
  return order != 0 ? order < 0 : a.name < b.name;
}

// The executable section that contains a symbol, by its index; null if that is damaged or special.
const ElfSection* code_section(const std::vector<ElfSection>& sections, const GElf_Sym& symbol, GElf_Word extended) {
  const std::size_t index = symbol.st_shndx == SHN_XINDEX ? extended : symbol.st_shndx;
  if (symbol.st_shndx != SHN_XINDEX && symbol.st_shndx >= SHN_LORESERVE) return nullptr;
  if (index == SHN_UNDEF || index >= sections.size()) return nullptr;
  const ElfSection& section = sections[index];
  if (section.header.sh_type == SHT_NULL || !section.executable()) return nullptr;
  return symbol.st_value >= section.header.sh_addr && symbol.st_value < section.end() ? &section : nullptr;
}

// The table of section type `type` that belongs to symbol table `number`.
Elf_Data* companion(const std::vector<ElfSection>& sections, std::size_t number, GElf_Word type, std::uint64_t limit) {
  for (const ElfSection& section : sections)
    if (section.header.sh_type == type && section.header.sh_link == number) return section_data(section, limit);
  return nullptr;
}

void add_symbols(const std::vector<ElfSection>& sections, std::size_t number, std::vector<Candidate>& out) {
  const ElfSection& table = sections[number];
  Elf_Data* data = section_data(table, kMaxTable);
  const Strings strings = read_strings(sections, table.header.sh_link);
  if (data == nullptr || strings.size == 0) return;
  Elf_Data* versions = companion(sections, number, SHT_GNU_versym, kMaxVersions);
  Elf_Data* indices = companion(sections, number, SHT_SYMTAB_SHNDX, kMaxTable);
  const std::size_t count = std::min<std::uint64_t>(data->d_size / sizeof(Elf64_Sym), kMaxSymbols);
  for (std::size_t i = 1; i < count; i++) {
    GElf_Sym symbol;
    GElf_Word extended = 0;
    const int index = static_cast<int>(i);
    if (gelf_getsymshndx(data, indices, index, &symbol, &extended) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
    const ElfSection* section = code_section(sections, symbol, extended);
    if (section == nullptr) continue;
    const char* name = strings.at(symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    GElf_Versym version = 0;
    if (versions != nullptr) gelf_getversym(versions, index, &version);
    const std::uint64_t room = section->end() - symbol.st_value;
    const int bind = GELF_ST_BIND(symbol.st_info);
    const std::string_view text(name, strnlen(name, kMaxMangledName));
    out.push_back({.low = symbol.st_value,
                   .high = symbol.st_value + std::min<std::uint64_t>(symbol.st_size, room),
                   .name = name,
                   .length = static_cast<std::uint16_t>(text.size()),
                   .underscores = static_cast<std::uint16_t>(leading_underscores(text)),
                   .local = bind == STB_LOCAL,
                   .hidden = (version & kHiddenVersion) != 0,
                   .weak = bind == STB_WEAK,
                   .ifunc = type == STT_GNU_IFUNC,
                   .is_function = type != STT_NOTYPE});
  }
}

// Gives symbols of size 0 the size of their FDE, and drops those without one. `candidates` are sorted by low.
void settle_sizes(std::vector<Candidate>& candidates, const FdeTable& fdes) {
  std::uint64_t next = UINT64_MAX;  // the lowest start above the current candidate's
  std::uint64_t low = UINT64_MAX;
  for (auto candidate = candidates.rbegin(); candidate != candidates.rend(); ++candidate) {
    if (candidate->low != low) {
      next = low;
      low = candidate->low;
    }
    if (candidate->high != candidate->low) continue;
    const auto fde = fdes.starting_at(candidate->low);
    if (fde) candidate->high = std::min(fde->high, next);
  }
  std::erase_if(candidates, [](const Candidate& candidate) { return candidate.low == candidate.high; });
}

// Calls visit(sections, number) for the symbol tables of all files.
template <typename Visit>
void for_each_table(std::span<const std::vector<ElfSection>* const> files, Visit visit) {
  for (const std::vector<ElfSection>* sections : files) {
    int tables = 0;
    for (std::size_t i = 0; i < sections->size() && tables < kMostTables; i++) {
      if ((*sections)[i].header.sh_type != SHT_SYMTAB && (*sections)[i].header.sh_type != SHT_DYNSYM) continue;
      visit(*sections, i);
      tables++;
    }
  }
}

std::vector<Candidate> read_candidates(std::span<const std::vector<ElfSection>* const> files) {
  std::vector<Candidate> candidates;
  for_each_table(files, [&](const std::vector<ElfSection>& sections, std::size_t number) {
    add_symbols(sections, number, candidates);
  });
  return candidates;
}

// The static linker writes "name@VERSION" into .symtab. Symbols of C++ and Rust hold no '@'.
std::string_view without_version(const char* text) {
  const std::string_view name(text, strnlen(text, kMaxMangledName + 1));
  const std::size_t version = name.find('@');
  return version == 0 ? name : name.substr(0, version);
}

}  // namespace

SymbolTable::SymbolTable(std::span<const std::vector<ElfSection>* const> files, const FdeTable& fdes) {
  std::vector<Candidate> candidates = read_candidates(files);
  // Worse names first, so that a candidate's position in the order is its claim.
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.low != b.low ? a.low < b.low : better_name(b, a); });
  settle_sizes(candidates, fdes);

  std::vector<ClaimedRange> ranges;
  ranges.reserve(candidates.size());
  for (std::uint32_t i = 0; i < candidates.size(); i++) ranges.push_back({candidates[i].low, candidates[i].high, i, i});
  map_ = RangeMap(std::move(ranges));

  std::vector<std::uint32_t> numbers(candidates.size(), UINT32_MAX);
  map_.renumber([&](std::uint32_t candidate) {
    if (numbers[candidate] == UINT32_MAX) {
      numbers[candidate] = static_cast<std::uint32_t>(symbols_.size());
      symbols_.push_back({candidates[candidate].low, candidates[candidate].name});
    }
    return numbers[candidate];
  });
  symbols_.shrink_to_fit();
}

std::optional<SymbolAt> SymbolTable::containing(std::uint64_t address) const {
  const auto owner = map_.owner(address);
  if (!owner) return std::nullopt;
  const Symbol& symbol = symbols_[*owner];
  return SymbolAt{without_version(symbol.name), symbol.start};
}

std::vector<FunctionSymbol> function_symbols(std::span<const std::vector<ElfSection>* const> files) {
  std::vector<Candidate> candidates = read_candidates(files);
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.low != b.low ? a.low < b.low : better_name(a, b); });
  std::vector<FunctionSymbol> symbols;
  symbols.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    symbols.push_back({without_version(candidate.name), candidate.low, candidate.high - candidate.low, candidate.ifunc,
                       candidate.is_function});
  return symbols;
}

std::optional<std::uint64_t> symbol_address(std::span<const std::vector<ElfSection>* const> files,
                                            std::string_view name) {
  std::optional<std::uint64_t> found;
  for_each_table(files, [&](const std::vector<ElfSection>& sections, std::size_t number) {
    Elf_Data* data = section_data(sections[number], kMaxTable);
    const Strings strings = read_strings(sections, sections[number].header.sh_link);
    if (found || data == nullptr) return;
    const std::size_t count = std::min<std::uint64_t>(data->d_size / sizeof(Elf64_Sym), kMaxSymbols);
    for (std::size_t i = 1; i < count && !found; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* text = strings.at(symbol.st_name);
      if (text != nullptr && without_version(text) == name) found = symbol.st_value;
    }
  });
  return found;
}

std::size_t SymbolTable::footprint() const {
  return map_.footprint() + symbols_.capacity() * sizeof(Symbol);
}

}  // namespace uscope::symbolizer
