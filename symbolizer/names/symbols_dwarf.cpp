// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/symbols_dwarf.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "support/byte_reader.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/names/demangle.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxScopeSteps = 1u << 20;  // DIEs that may be stepped over to find a DIE's scopes
constexpr std::size_t kMaxText = 65536;
constexpr std::size_t kMinLineHeader = 12;

std::uint64_t own_number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return value;
}

// The DIE that declares what `die` is an instance of, which holds the name and scope.
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

}  // namespace

bool is_c(int language) {
  return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

DwarfTexts::DwarfTexts(Elf* elf) {
  add_sections(elf, true);
}

void DwarfTexts::add_sections(Elf* elf, bool lines) {
  for (const ElfSection& section : read_sections(elf)) {
    // Of GNU's older compressed form, which libdw has decompressed in place, too.
    const std::string name = section.name.starts_with(".zdebug_") ? "." + section.name.substr(2) : section.name;
    if (!name.starts_with(".debug_") || section.header.sh_type == SHT_NOBITS) continue;
    const Elf_Data* data = section.handle != nullptr ? elf_getdata(section.handle, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr) continue;
    const auto* begin = static_cast<const char*>(data->d_buf);
    sections_.emplace_back(begin, begin + data->d_size);
    if (lines && name == ".debug_line") lines_ = sections_.back();
    const bool texts = name == ".debug_str" || name == ".debug_line_str";
    if (texts && data->d_size > 0 && begin[data->d_size - 1] != '\0') terminated_ = false;
  }
}

std::string_view DwarfTexts::bounded(const char* text) const {
  if (text == nullptr) return "";
  for (const auto& [begin, end] : sections_) {
    if (std::less<>()(text, begin) || !std::less<>()(text, end)) continue;
    const std::size_t room = static_cast<std::size_t>(end - text);
    const std::size_t length = strnlen(text, std::min(room, kMaxText));
    return length < room ? std::string_view(text, length) : "";
  }
  // libdw made this text itself, from directory and file.
  return {text, strnlen(text, kMaxText)};
}

std::string_view DwarfTexts::attribute_text(Dwarf_Attribute* attribute) const {
  return attribute == nullptr ? "" : bounded(dwarf_formstring(attribute));
}

std::string_view DwarfTexts::linker_name(Dwarf_Die* die) const {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const std::string_view text = attribute_text(dwarf_attr_integrate(die, name, &attribute));
    if (!text.empty()) return text;
  }
  return "";
}

// Puts the scopes of the DIE at `target` before `name`: "space::(anonymous namespace)::Type::name". DIEs do not know
// their parents: the path is found from the unit's top, skipping siblings that end before the target.
std::string DwarfTexts::in_scopes(Dwarf_Die unit_die, Dwarf_Off target, std::string_view name) const {
  std::string scopes;
  Dwarf_Die die;
  std::size_t steps = 0;
  for (int found = dwarf_child(&unit_die, &die); found == 0 && steps<kMaxScopeSteps&& * scope_steps_> 0;
       steps++, --*scope_steps_) {
    Dwarf_Die next;
    const bool last = dwarf_siblingof(&die, &next) != 0;
    if (!last && dwarf_dieoffset(&next) <= dwarf_dieoffset(&die)) break;
    if (!last && dwarf_dieoffset(&next) <= target) {
      die = next;
      continue;
    }
    if (dwarf_dieoffset(&die) >= target) break;
    const std::string_view scope = bounded(dwarf_diename(&die));
    if (!scope.empty()) scopes += bounded_utf8(scope) + "::";
    if (scope.empty() && dwarf_tag(&die) == DW_TAG_namespace) scopes += "(anonymous namespace)::";
    if (scopes.size() > kMaxName) break;
    Dwarf_Die child;
    found = dwarf_child(&die, &child);
    die = child;
  }
  return scopes + bounded_utf8(name);
}

std::string DwarfTexts::function_name(Dwarf_Die* die) const {
  const std::string_view linked = linker_name(die);
  if (!linked.empty()) return demangle(linked);
  const std::string_view name = bounded(dwarf_diename(die));
  if (name.empty()) return "";
  Dwarf_Die declaration = declaration_of(*die);
  Dwarf_Die unit_die;
  if (dwarf_diecu(&declaration, &unit_die, nullptr, nullptr) == nullptr || is_c(dwarf_srclang(&unit_die)))
    return bounded_utf8(name);
  return in_scopes(unit_die, dwarf_dieoffset(&declaration), name);
}

trace::FunctionLanguage DwarfTexts::function_language(Dwarf_Die* die) const {
  if (const std::string_view linked = linker_name(die); !linked.empty()) return trace::language_of_symbol(linked);
  Dwarf_Die unit_die;
  if (dwarf_diecu(die, &unit_die, nullptr, nullptr) == nullptr) return trace::FunctionLanguage::kUnknown;
  const int language = dwarf_srclang(&unit_die);
  if (language == DW_LANG_Go) return trace::FunctionLanguage::kGo;
  return language == DW_LANG_Rust ? trace::FunctionLanguage::kRust : trace::FunctionLanguage::kUnknown;
}

std::string DwarfTexts::die_name(Dwarf_Die* die) const {
  return bounded_utf8(bounded(dwarf_diename(die)));
}

std::string DwarfTexts::split_file(Dwarf_Die* unit_die) const {
  for (const unsigned int name : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    Dwarf_Attribute attribute;
    const std::string_view text = attribute_text(dwarf_attr(unit_die, name, &attribute));
    if (!text.empty()) return bounded_utf8(text);
  }
  return "";
}

// Most paths of a line table are relative to the directory the compiler ran in.
std::string DwarfTexts::full_path(const char* path, Dwarf_Die* unit_die) const {
  const std::string_view text = bounded(path);
  if (text.empty() || text.front() == '/') return bounded_utf8(text);
  Dwarf_Attribute attribute;
  const std::string_view directory = attribute_text(dwarf_attr(unit_die, DW_AT_comp_dir, &attribute));
  if (directory.empty()) return bounded_utf8(text);
  return bounded_utf8(std::string(directory) + "/" + std::string(text));
}

SourcePlace DwarfTexts::place_of(Dwarf_Die* unit_die, std::uint64_t address) const {
  SourcePlace place;
  Dwarf_Line* row = dwarf_getsrc_die(unit_die, address);
  if (row == nullptr) return place;
  place.file = full_path(dwarf_linesrc(row, nullptr, nullptr), unit_die);
  int line = 0;
  if (dwarf_lineno(row, &line) == 0 && line > 0) place.line = static_cast<std::uint32_t>(line);
  return place;
}

SourcePlace DwarfTexts::call_place(Dwarf_Die* unit_die, Dwarf_Die* inlined, Dwarf_Files* files,
                                   std::size_t file_count) const {
  SourcePlace place;
  const std::uint64_t file = own_number_of(inlined, DW_AT_call_file);
  if (file < file_count) place.file = full_path(dwarf_filesrc(files, file, nullptr, nullptr), unit_die);
  const std::uint64_t line = own_number_of(inlined, DW_AT_call_line);
  if (line <= INT32_MAX) place.line = static_cast<std::uint32_t>(line);
  return place;
}

std::uint64_t DwarfTexts::line_table_size(Dwarf_Die* unit_die) const {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_attr(unit_die, DW_AT_comp_dir, &attribute) != nullptr && attribute_text(&attribute).empty()) return 0;
  if (dwarf_attr(unit_die, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &offset) != 0)
    return 0;
  ByteReader in = ByteReader(std::as_bytes(std::span(lines_.first, lines_.second))).from(offset);
  if (in.left() < kMinLineHeader) return 0;
  const auto length = in.fixed<std::uint32_t>();
  return length != UINT32_MAX ? length : in.fixed<std::uint64_t>();  // the latter in DWARF's 64-bit format
}

}  // namespace uscope::symbolizer
