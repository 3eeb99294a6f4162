// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `jmp *slot(%rip)`, with or without endbr64 and bnd; or the IBT form `push $n` of .plt, where n is the relocation's
// number.
#include "symbolizer/code/plt_stub.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace uscope::symbolizer {
namespace {

bool stub_begins_with(std::span<const std::uint8_t> code, std::initializer_list<std::uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

}  // namespace

PltStubCode read_plt_stub(std::span<const std::uint8_t> code, std::uint64_t address) {
  std::size_t at = 0;
  if (stub_begins_with(code, {0xf3, 0x0f, 0x1e, 0xfa})) at += 4;  // endbr64
  if (stub_begins_with(code.subspan(at), {0xf2})) at += 1;        // bnd
  if (code.size() - at < 6) return {};
  std::int32_t operand = 0;
  if (stub_begins_with(code.subspan(at), {0xff, 0x25})) {  // jmp *operand(%rip)
    std::memcpy(&operand, &code[at + 2], sizeof(operand));
    return {PltStubCode::Kind::kSlot, address + at + 6 + static_cast<std::uint64_t>(std::int64_t{operand})};
  }
  if (!stub_begins_with(code.subspan(at), {0x68})) return {};  // push $operand
  std::memcpy(&operand, &code[at + 1], sizeof(operand));
  if (operand < 0) return {};
  return {PltStubCode::Kind::kNumber, static_cast<std::uint64_t>(operand)};
}

// Stubs of 8 bytes: GNU ld's .plt.got without IBT. All others have 16.
std::uint64_t plt_stub_bytes(std::uint64_t entry_bytes) {
  return entry_bytes == 8 ? 8 : 16;
}

}  // namespace uscope::symbolizer
