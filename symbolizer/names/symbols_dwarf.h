// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts in DWARF: names of functions, and places in source files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/elf/elf_handles.h"
#include "trace/function_origin.h"

namespace uscope::symbolizer {

struct SourcePlace {
  std::string file;        // valid UTF-8; empty if unknown
  std::uint32_t line = 0;  // 0: unknown
};

// Whether a DW_LANG_* is a version of C: C functions have no scopes and no separate linker names.
bool is_c(int language);

// Reads texts from one Dwarf. libdw returns pointers into sections and does not guarantee that a text ends before its
// section does; this class does, and ignores a text that does not end.
class DwarfTexts {
 public:
  // Construct it after dwarf_begin_elf on `elf`, which decompresses sections in place. The Elf must outlive the object.
  explicit DwarfTexts(Elf* elf);
  DwarfTexts() = default;

  // Takes over the used part of the budget for names from `before`, of the same file.
  void go_on_from(const DwarfTexts& before) { scope_steps_ = before.scope_steps_; }

  // Adds the texts of the file that dwz moved them to; the constructor's conditions hold.
  void add_alternate(Elf* elf) { add_sections(elf, false); }

  // The function of a DW_TAG_subprogram or inlined_subroutine: demangled from the linker name; without one (local
  // functions of C++), the name with its scopes and without parameters. Empty if there is no name.
  std::string function_name(Dwarf_Die* die) const;
  // Its language as far as the rules of names differ.
  trace::FunctionLanguage function_language(Dwarf_Die* die) const;

  // The name of any DIE, as it stands in the source: valid UTF-8, empty if it has none.
  std::string die_name(Dwarf_Die* die) const;

  // The file to which a unit's functions were split off: valid UTF-8, empty if it has all of its own.
  std::string split_file(Dwarf_Die* unit_die) const;

  // The source place of an address, from its unit's line table.
  SourcePlace place_of(Dwarf_Die* unit_die, std::uint64_t address) const;

  // The place of an inlined call in the source; `files` are those of the unit's line table.
  SourcePlace call_place(Dwarf_Die* unit_die, Dwarf_Die* inlined, Dwarf_Files* files, std::size_t file_count) const;

  // Length of a unit's line table according to its header. Returns 0 if it has none, or if libdw must not read it
  // because the text that it would take for the unit's directory does not end.
  std::uint64_t line_table_size(Dwarf_Die* unit_die) const;

  // Whether the text sections end with a NUL, which libdw relies on.
  [[nodiscard]] bool terminated() const { return terminated_; }

 private:
  void add_sections(Elf* elf, bool lines);
  [[nodiscard]] std::string_view bounded(const char* text) const;
  [[nodiscard]] std::string_view attribute_text(Dwarf_Attribute* attribute) const;
  [[nodiscard]] std::string_view linker_name(Dwarf_Die* die) const;
  [[nodiscard]] std::string in_scopes(Dwarf_Die unit_die, Dwarf_Off target, std::string_view name) const;
  [[nodiscard]] std::string full_path(const char* path, Dwarf_Die* unit_die) const;

  std::vector<std::pair<const char*, const char*>> sections_;  // first byte, and one past the last
  std::pair<const char*, const char*> lines_{nullptr, nullptr};
  bool terminated_ = true;
  // How many DIEs may still be stepped over to find scopes.
  std::shared_ptr<std::size_t> scope_steps_ = std::make_shared<std::size_t>(std::size_t{256} << 20);
};

}  // namespace uscope::symbolizer
