// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The decoder knows the instructions that compilers put before a function's first push, with their lengths, and stops
// at any other one: then the function's first instruction is taken, which is always right. A later place is taken only
// where it holds a push of a register that calls preserve: no loop leads back to such a push.
#include "symbolizer/code/probe_place.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostInstructions = 16;

using Code = std::span<const std::byte>;

// Numbers of registers as instructions have them.
constexpr unsigned kRbx = 3;
constexpr unsigned kRsp = 4;
constexpr unsigned kRbp = 5;

bool holds_argument(unsigned reg) {
  constexpr std::array<unsigned, 6> kArguments = {7, 6, 2, 1, 8, 9};  // rdi rsi rdx rcx r8 r9
  return std::find(kArguments.begin(), kArguments.end(), reg) != kArguments.end();
}

bool is_preserved(unsigned reg) {
  return reg == kRbx || reg == kRbp || (reg >= 12 && reg <= 15);
}

unsigned byte_at(Code code, std::size_t at) {
  return at < code.size() ? std::to_integer<unsigned>(code[at]) : 0x100U;
}

bool begins_with(Code code, std::initializer_list<unsigned> bytes) {
  std::size_t at = 0;
  return std::all_of(bytes.begin(), bytes.end(), [&](unsigned byte) { return byte_at(code, at++) == byte; });
}

// The byte behind an opcode that says what it works on.
struct ModRm {
  unsigned reg = 0;
  unsigned rm = 0;
  bool memory = false;
  std::size_t length = 0;  // with what belongs to the address; 0: cut off
};

ModRm read_modrm(Code code, std::size_t at, unsigned rex) {
  const unsigned byte = byte_at(code, at);
  if (byte > 0xff) return {};
  ModRm out{(byte >> 3U & 7U) | (rex & 4U) << 1U, (byte & 7U) | (rex & 1U) << 3U, byte < 0xc0, 1};
  const unsigned mod = byte >> 6U;
  if (mod == 3) return out;
  const bool has_sib = (byte & 7U) == 4;
  const unsigned base = has_sib ? byte_at(code, at + 1) & 7U : byte & 7U;
  if (has_sib) out.length++;
  if (mod == 1) out.length += 1;
  if (mod == 2 || (mod == 0 && base == 5)) out.length += 4;
  if (at + out.length > code.size()) return {};
  return out;
}

// 0: not a nop of several bytes.
std::size_t long_nop_length(Code code) {
  std::size_t at = 0;
  while (byte_at(code, at) == 0x66 || byte_at(code, at) == 0x2e) at++;
  if (at > 0 && byte_at(code, at) == 0x90) return at + 1;
  if (byte_at(code, at) != 0x0f || byte_at(code, at + 1) != 0x1f) return 0;
  const ModRm modrm = read_modrm(code, at + 2, 0);
  return modrm.length == 0 ? 0 : at + 2 + modrm.length;
}

// The length of an instruction after which the arguments and the stack pointer are as before, and the next one follows;
// 0 for all that are not known to be such.
std::size_t harmless_length(Code code) {
  if (begins_with(code, {0xf3, 0x0f, 0x1e, 0xfa})) return 4;  // endbr64
  if (byte_at(code, 0) == 0x90) return 1;
  if (const std::size_t nop = long_nop_length(code); nop != 0) return nop;
  std::size_t at = 0;
  unsigned rex = 0;
  if (byte_at(code, 0) >= 0x40 && byte_at(code, 0) <= 0x4f) rex = byte_at(code, at++);
  const auto may_change = [](unsigned reg) { return !holds_argument(reg) && reg != kRsp; };
  unsigned opcode = byte_at(code, at++);
  if (opcode >= 0xb8 && opcode <= 0xbf) {  // mov of a constant
    const std::size_t length = at + ((rex & 8U) != 0 ? 8 : 4);
    return may_change((opcode & 7U) | (rex & 1U) << 3U) && length <= code.size() ? length : 0;
  }
  if (opcode == 0x0f) opcode = 0x0f00U | byte_at(code, at++);
  const ModRm modrm = read_modrm(code, at, rex);
  if (modrm.length == 0) return 0;
  const std::size_t end = at + modrm.length;
  switch (opcode) {
    case 0x84:  // test
    case 0x85:
    case 0x38:  // cmp
    case 0x39:
    case 0x3a:
    case 0x3b:
      return end;
    case 0x89:  // mov, xor to what ModRM says
    case 0x31:
      return modrm.memory || may_change(modrm.rm) ? end : 0;
    case 0x8b:  // mov, xor, lea, movsxd, movzx, movsx to a register
    case 0x33:
    case 0x8d:
    case 0x63:
    case 0x0fb6:
    case 0x0fb7:
    case 0x0fbe:
    case 0x0fbf:
      return may_change(modrm.reg) ? end : 0;
    case 0x80:  // cmp with a constant; of the others only the reg field tells them apart
    case 0x83:
      return (modrm.reg & 7U) == 7 && end + 1 <= code.size() ? end + 1 : 0;
    case 0x81:
      return (modrm.reg & 7U) == 7 && end + 4 <= code.size() ? end + 4 : 0;
    case 0xc7:
      return (modrm.reg & 7U) == 0 && (modrm.memory || may_change(modrm.rm)) && end + 4 <= code.size() ? end + 4 : 0;
    default:
      return 0;
  }
}

// Whether the kernel emulates the instruction, wherever it stands.
bool is_emulated(Code code) {
  const unsigned first = byte_at(code, 0);
  if (first >= 0x50 && first <= 0x57) return true;  // push
  if (first == 0x41) return byte_at(code, 1) >= 0x50 && byte_at(code, 1) <= 0x57;
  return first == 0x90 || first == 0xe8 || first == 0xe9 || first == 0xeb;
}

// Whether the kernel refuses a probe on the instruction (arch/x86/kernel/uprobes.c): AVX and AVX-512, those with a
// prefix of lock or of a segment that code in 64 bits does not use, int, int3, hlt.
bool is_refused(Code code) {
  std::size_t at = 0;
  const auto is_prefix = [](unsigned byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x64 || byte == 0x65;
  };
  while (is_prefix(byte_at(code, at))) at++;
  constexpr std::array<unsigned, 11> kRefused = {0x26, 0x2e, 0x36, 0x3e, 0xf0, 0xc4, 0xc5, 0x62, 0xcc, 0xcd, 0xf4};
  return std::find(kRefused.begin(), kRefused.end(), byte_at(code, at)) != kRefused.end();
}

// The register that the code begins to push, if calls preserve it.
bool pushes_preserved(Code code) {
  const bool high = byte_at(code, 0) == 0x41;
  const unsigned opcode = byte_at(code, high ? 1 : 0);
  return opcode >= 0x50 && opcode <= 0x57 && is_preserved((opcode & 7U) | (high ? 8U : 0U));
}

// The bytes of the comparison and the jump with which Go asks whether the stack is large enough; 0: none. The forms are
// those of cmd/internal/obj/x86/obj6.go, stacksplit().
std::size_t go_stack_check(Code code) {
  std::size_t at = 0;
  if (begins_with(code, {0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff})) at = 9;  // g, before Go 1.17
  if (begins_with(code.subspan(at), {0x4c, 0x8d, 0x64, 0x24}))
    at += 5;  // lea -x(%rsp),%r12
  else if (begins_with(code.subspan(at), {0x4c, 0x8d, 0xa4, 0x24}))
    at += 8;
  if (at > code.size()) return 0;
  const Code rest = code.subspan(at);
  const bool compares = begins_with(rest, {0x49, 0x3b, 0x66, 0x10}) || begins_with(rest, {0x4d, 0x3b, 0x66, 0x10}) ||
                        begins_with(rest, {0x48, 0x3b, 0x61, 0x10});
  if (!compares) return 0;
  at += 4;
  const Code jump = code.subspan(at);
  std::size_t length = 0;
  if (begins_with(jump, {0x76})) length = 2;
  if (begins_with(jump, {0x0f, 0x86})) length = 6;
  return length != 0 && length < jump.size() ? at + length : 0;
}

}  // namespace

std::optional<std::size_t> probe_place(Code code, Prologue prologue) {
  const std::size_t start = prologue == Prologue::kGo ? go_stack_check(code) : 0;
  std::size_t first = start;
  while (const std::size_t nop = long_nop_length(code.subspan(first))) first += nop;
  if (first >= code.size() && first != start) return std::nullopt;
  if (is_emulated(code.subspan(first))) return first;
  std::size_t at = first;
  for (std::size_t i = 0; i < kMostInstructions; i++) {
    if (pushes_preserved(code.subspan(at))) return at;
    const std::size_t length = harmless_length(code.subspan(at));
    if (length == 0 || at + length >= code.size()) break;
    at += length;
  }
  if (is_refused(code.subspan(first))) return std::nullopt;
  return first;
}

}  // namespace uscope::symbolizer
