// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The code of one file, as walks through its functions need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/cfi/fde_table.h"
#include "symbolizer/cfi/landing_pads.h"
#include "symbolizer/code/function_ends.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/elf/relocations.h"
#include "symbolizer/names/symbols_plt.h"
#include "symbolizer/probes/file_functions.h"

namespace uscope::symbolizer {

class FileCode {
 public:
  // All must outlive the object.
  FileCode(int fd, const ElfFacts& facts, Elf* elf, const std::vector<ElfSection>& sections);

  // Before the others: `functions` and `symbols` must outlive the object.
  void know(const std::vector<FunctionSymbol>& symbols, const std::vector<FileFunction>& functions);

  [[nodiscard]] const FdeTable& fdes() const { return fdes_; }
  [[nodiscard]] const Relocations& relocations() const { return relocations_; }
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  // Bytes of executable segments; fewer at their end.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t address, std::size_t count) const;

  // The function that begins there or holds it: its proven ones only.
  [[nodiscard]] const FileFunction* function_holding(std::uint64_t address) const;
  // The function whose symbol covers code behind the beginning of this other one, too; null: none.
  [[nodiscard]] const FileFunction* function_around(const FileFunction& function) const;
  // All its code as far as it is in one piece; an error if nothing says where it ends.
  [[nodiscard]] Result<CodeRange> range_of(const FileFunction& function) const;
  // Adds those parts of a function that the compiler moved away and gave a name. If several functions have one name,
  // whose they are is not known.
  void add_named_parts(const FileFunction& function, std::vector<CodeRange>& ranges);
  // For find_function_ends() and CodeWalk; valid as long as the object.
  [[nodiscard]] CodeSource source();

 private:
  [[nodiscard]] const FileFunction* proven_before(std::uint64_t address) const;
  [[nodiscard]] const FileFunction* names_at(std::uint64_t address) const;
  [[nodiscard]] JumpTarget jump_target(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address, std::uint8_t bytes) const;
  [[nodiscard]] bool returns(std::uint64_t address);
  [[nodiscard]] bool may_return(std::uint64_t address);
  [[nodiscard]] std::string name_at(std::uint64_t address) const;

  int fd_;
  const ElfFacts& facts_;
  const std::vector<ElfSection>& sections_;
  FdeTable fdes_;
  Relocations relocations_;
  LandingPads pads_;
  bool pads_read_ = false;
  std::optional<PltTable> plt_;
  const std::vector<FunctionSymbol>* symbols_ = nullptr;
  const std::vector<FileFunction>* functions_ = nullptr;
  std::vector<const FileFunction*> proven_;                         // by start
  std::vector<CodeRange> parts_;                                    // of functions, that the compiler moved away
  std::map<std::string_view, std::vector<CodeRange>> named_parts_;  // the same, by the functions' names
  std::uint64_t searched_ = 0;                                      // bytes of code that were read for walks
  std::map<std::pair<std::uint64_t, int>, bool> returns_;
  int depth_ = 0;
};

}  // namespace uscope::symbolizer
