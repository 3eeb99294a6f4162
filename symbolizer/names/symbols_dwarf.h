// Texts of DWARF: names of functions, and places in source files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/elf/elf_handles.h"

namespace uscope::symbolizer {

struct SourcePlace {
  std::string file;        // valid UTF-8; empty where not known
  std::uint32_t line = 0;  // 0: not known
};

// Whether a DW_LANG_* is a version of C: its functions have no scopes and no linker names of their own.
bool is_c(int language);

// Reads texts for one Dwarf. libdw gives pointers into sections and does not promise that a text ends before its
// section does; here it always does, and what does not is no text.
class DwarfTexts {
 public:
  // After dwarf_begin_elf on `elf`, which decompresses sections in place. The Elf must outlive the object.
  explicit DwarfTexts(Elf* elf);
  DwarfTexts() = default;

  // The bound on what names may cost goes on from `before`, of the same file.
  void go_on_from(const DwarfTexts& before) { scope_steps_ = before.scope_steps_; }

  // The texts of the file that dwz moved them to, as the constructor's.
  void add_alternate(Elf* elf) { add_sections(elf, false); }

  // The function of a DW_TAG_subprogram or inlined_subroutine: demangled from the linker name; where there is none
  // (local functions of C++), the name with its scopes and without parameters. Empty where nothing names it.
  std::string function_name(Dwarf_Die* die) const;

  // The place of an address by its unit's line table.
  SourcePlace place_of(Dwarf_Die* unit_die, std::uint64_t address) const;

  // The place where an inlined call was written; `files` are those of the unit's line table.
  SourcePlace call_place(Dwarf_Die* unit_die, Dwarf_Die* inlined, Dwarf_Files* files, std::size_t file_count) const;

  // Length of a unit's line table by its header; 0 where it has none, or where libdw must not read it because a text it
  // would take for the unit's directory does not end.
  std::uint64_t line_table_size(Dwarf_Die* unit_die) const;

  // Whether the sections of texts end with a NUL, which libdw relies on.
  [[nodiscard]] bool terminated() const { return terminated_; }

 private:
  void add_sections(Elf* elf, bool lines);
  [[nodiscard]] std::string_view bounded(const char* text) const;
  [[nodiscard]] std::string_view attribute_text(Dwarf_Attribute* attribute) const;
  [[nodiscard]] std::string_view linker_name(Dwarf_Die* die) const;
  [[nodiscard]] std::string in_scopes(Dwarf_Die unit_die, Dwarf_Off target, std::string_view name) const;
  [[nodiscard]] std::string full_path(const char* path, Dwarf_Die* unit_die) const;

  std::vector<std::pair<const char*, const char*>> sections_;  // first byte and the one behind the last
  std::pair<const char*, const char*> lines_{nullptr, nullptr};
  bool terminated_ = true;
  // DIEs that may still be stepped over to find scopes.
  std::shared_ptr<std::size_t> scope_steps_ = std::make_shared<std::size_t>(std::size_t{256} << 20);
};

}  // namespace uscope::symbolizer
