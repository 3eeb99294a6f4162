// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The code of a stub of the procedure linkage table.
#pragma once

#include <cstdint>
#include <span>

namespace uscope::symbolizer {

struct PltStubCode {
  enum class Kind : std::uint8_t {
    kUnknown,
    kSlot,    // it jumps to where the word at the address `value` says
    kNumber,  // it is that of relocation number `value` of .rela.plt
  };
  Kind kind = Kind::kUnknown;
  std::uint64_t value = 0;
};

[[nodiscard]] PltStubCode read_plt_stub(std::span<const std::uint8_t> code, std::uint64_t address);

// `entry_bytes`: as the section's header has it.
[[nodiscard]] std::uint64_t plt_stub_bytes(std::uint64_t entry_bytes);

}  // namespace uscope::symbolizer
