// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/probes/probe_proof.h"

#include <algorithm>

#include "symbolizer/code/indirect_jump.h"
#include "symbolizer/code/instruction.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kLongestInstruction = 15;
constexpr const char* kInTheMiddle =
    "another function, in which it lies, has an instruction that begins before it and ends behind it";

// The kernel steps through a copy of the instruction, which stands elsewhere. What that does to these shows in the
// program; nullptr: nothing.
const char* why_not_stepped(const Instruction& one) {
  switch (one.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
      return "it pushes the processor's flags, and a probe would change one of them (the trap flag)";
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return "it leaves its own address in a register, and a probe would change that";
    default:
      if (one.category() != ZYDIS_CATEGORY_STRINGOP || (!has_prefix(one, 0xf3) && !has_prefix(one, 0xf2)))
        return nullptr;
      return "it repeats itself, and each of its rounds would be a hit";
  }
}

}  // namespace

std::optional<Refusal> ProbeProof::why_not(std::uint64_t address, ProvenBy proof) const {
  if (!code_.offset_of(address)) return Refusal{"its address is not in code that the file holds", false};
  const auto bytes = code_.read(address, kLongestInstruction);
  if (bytes.empty()) return Refusal{"its code cannot be read", false};
  if (proof == ProvenBy::kNothing)
    return Refusal{
        "nothing proves that it is code: its symbol has no type (NOTYPE), and no call frame information begins there",
        true};
  const auto one = InstructionDecoder().decode(bytes, address);
  if (!one) return Refusal{"its bytes are not an instruction", true};
  if (code_.relocations().touch(address, one->next()))
    return Refusal{"the loader changes its code (text relocation), so the file does not have what is executed", true};
  if (const char* why = why_not_stepped(*one)) return Refusal{why, true};
  return std::nullopt;
}

std::optional<Refusal> ProbeProof::why_not_entry(const FileFunction& function, std::uint64_t place) const {
  if (auto refusal = why_not(function.start, function.proof)) return refusal;
  if (auto refusal = why_not(place, function.proof)) return refusal;
  // A name within another function is one of its instructions.
  const FileFunction* around = code_.function_around(function);
  if (around == nullptr) return std::nullopt;
  const CodeSource source = code_.source();
  CodeWalk walk(source, {around->start, around->start + around->whole});
  (void)walk.run();
  if (walk.is_inside_instruction(function.start) || walk.is_inside_instruction(place))
    return Refusal{kInTheMiddle, true};
  return std::nullopt;
}

std::optional<Refusal> ProbeProof::why_not_ends(const FunctionEnds& ends) const {
  for (const CodeRange& range : ends.ranges)
    if (code_.relocations().touch(range.low, range.high))
      return Refusal{"the loader changes its code (text relocation), so the file does not have what is executed", true};
  const auto check = [&](std::uint64_t address, std::optional<Refusal>& first) {
    if (!first) first = why_not(address, ProvenBy::kWalk);
  };
  std::optional<Refusal> first;
  for (const std::uint64_t address : ends.returns) check(address, first);
  for (const JumpOut& jump : ends.jumps) check(jump.address, first);
  for (const IndirectJump& jump : ends.indirect) check(probe_address(jump), first);
  if (!first && !ends.doubt.empty()) return Refusal{ends.doubt, true};
  return first;
}

const ProbeProof::Walked& ProbeProof::walk(const CodeRange& range) {
  const auto [at, is_new] = walked_.try_emplace(range.low);
  Walked& out = at->second;
  if (!is_new) return out;
  out.source = code_.source();
  out.walk = std::make_unique<CodeWalk>(out.source, range);
  out.done = static_cast<bool>(out.walk->run());
  return out;
}

std::optional<Refusal> ProbeProof::why_not_by_walk(std::uint64_t address) {
  const FileFunction* function = code_.function_holding(address);
  std::optional<CodeRange> range;
  if (function != nullptr)
    range = *code_.range_of(*function);
  else if (const auto fde = code_.fdes().containing(address))
    range = {fde->low, fde->high};
  if (!range) return Refusal{"nothing proves that it is code: no function is known in which it lies", true};
  const Walked& walked = walk(*range);
  const CodeWalk& walk = *walked.walk;
  if (walk.has_reached(address)) return std::nullopt;
  if (walk.is_inside_instruction(address)) return Refusal{"it lies within an instruction of its function", true};
  // A nop behind a jump whose table is not understood, in a function that is nothing but code.
  if (walked.done && walk.has_open_ends() && !walk.refers_to_itself()) return std::nullopt;
  return Refusal{"no path through its function reaches it", true};
}

std::optional<Refusal> ProbeProof::why_not_usdt(std::uint64_t address) {
  if (auto refusal = why_not(address, ProvenBy::kWalk)) return refusal;
  const auto one = InstructionDecoder().decode(code_.read(address, kLongestInstruction), address);
  if (!one || !one->is(ZYDIS_MNEMONIC_NOP)) return Refusal{"no nop stands there, which such probes need", true};
  return why_not_by_walk(address);
}

}  // namespace uscope::symbolizer
