// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The row builder on any call frame information, in an ELF file that is otherwise sound. The first byte chooses between
// .eh_frame and .debug_frame.
#include "tables.h"
#include "tiny_elf.h"

using uscope::symbolizer::RowDetail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 65536) return 0;
  const std::span<const std::uint8_t> frames(data + 1, size - 1);
  const auto file = uscope::fuzz::tiny_elf((data[0] & 1) != 0 ? ".debug_frame" : ".eh_frame", frames);
  const auto image = std::as_bytes(std::span(file));
  for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
    auto table = uscope::symbolizer::build_rows_from_memory(image, "input", detail);
    uscope::fuzz::require(static_cast<bool>(table), table ? "" : table.error().what);
    uscope::fuzz::check_table(*table, frames);
  }
  return 0;
}
