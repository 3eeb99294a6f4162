// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The row builder and the cache's key on any file: sections found by name or by program header, compressed ones, Go's
// function table, V8's builtins.
#include "symbolizer/elf/elf_facts.h"
#include "tables.h"

using uscope::symbolizer::RowDetail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const uscope::UniqueFd fd = uscope::fuzz::as_file(bytes);
  const bool elf = static_cast<bool>(uscope::symbolizer::read_elf_facts(fd.get(), "input"));
  (void)uscope::symbolizer::read_elf_facts_from_memory(std::as_bytes(bytes), "input");
  (void)uscope::symbolizer::unwind_digest(fd.get(), "input");
  for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
    auto table = uscope::symbolizer::build_rows(fd.get(), "input", detail);
    uscope::fuzz::require(elf || !table, "no rows of what is no ELF file");
    if (!table) {
      uscope::fuzz::require(table.error().what.starts_with("input: "),
                            "an error names its file: " + table.error().what);
      continue;
    }
    uscope::fuzz::check_table(*table, bytes);
  }
  if (auto table = uscope::symbolizer::build_rows_from_memory(std::as_bytes(bytes), "input"))
    uscope::fuzz::check_table(*table, bytes);
  return 0;
}
