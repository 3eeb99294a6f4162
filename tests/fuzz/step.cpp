// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The row search and the unwind step on tables that nobody has checked: any rows, index and rules, any registers, any
// memory.
#include "tables.h"

using uscope::fuzz::Input;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  usc_frame frame{};
  frame.known = input.take<std::uint16_t>();
  frame.exact = input.take<std::uint8_t>() & 1;
  // Small numbers are made addresses on the stack or in the text, so that most walks go on for a while.
  constexpr std::uint64_t kStack = 0x7ffc0000;
  const auto address = [&](std::uint64_t base) {
    const auto value = input.take<std::uint16_t>();
    return value == 0xffff ? input.take<std::uint64_t>() : base + value;
  };
  frame.pc = address(0);
  for (__u64& reg : frame.regs) reg = address(kStack);
  uscope::symbolizer::UnwindTable table;
  usc_file_rows file{};
  file.text_start = input.take<std::uint16_t>();
  file.text_end = static_cast<__u32>(address(0));
  file.row_base = input.take<std::uint8_t>() & 3;
  file.index_base = input.take<std::uint8_t>() & 3;
  file.rule_base = input.take<std::uint8_t>() & 3;
  table.rows.resize(input.count(48));
  for (usc_row& row : table.rows) {
    row.offset = static_cast<__u32>(address(0));
    row.rule = input.take<std::uint32_t>();
  }
  file.row_count = input.count(3) == 0 ? input.take<std::uint32_t>() : static_cast<__u32>(table.rows.size());
  table.index.resize(input.count(32));
  for (__u32& entry : table.index) entry = input.take<std::uint8_t>();
  table.rules.resize(input.count(8));
  for (usc_rule& rule : table.rules) rule = input.take<usc_rule>();
  file.rule_count = static_cast<__u32>(table.rules.size());
  uscope::fuzz::Memory memory{kStack, input.rest(), 0};
  uscope::fuzz::walk(frame, memory, table, file, 64);
  return 0;
}
