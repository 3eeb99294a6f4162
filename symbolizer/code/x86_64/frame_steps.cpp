// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/frame_steps.h"

namespace uscope::symbolizer {
namespace {

using Kind = FrameStep::Kind;

constexpr std::int64_t kMostDistance = std::int64_t{1} << 30;

bool is_this_register(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

bool is_written(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

// Its number in USC_SAVED_REG's order.
std::uint8_t saved_number(ZydisRegister reg) {
  const auto number = general_register(reg);
  if (!number) return FrameStep::kNoRegister;
  if (*number == 3) return 0;
  if (*number == 5) return 1;
  return *number >= 12 ? static_cast<std::uint8_t>(*number - 10) : FrameStep::kNoRegister;
}

std::uint8_t whole_saved_register(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || operand.size != 64) return FrameStep::kNoRegister;
  return saved_number(operand.reg.value);
}

bool is_near(std::int64_t distance) {
  return distance > -kMostDistance && distance < kMostDistance;
}

// Memory at a fixed distance from rsp or rbp.
bool is_plain(const ZydisDecodedOperand& memory) {
  return memory.type == ZYDIS_OPERAND_TYPE_MEMORY && memory.mem.index == ZYDIS_REGISTER_NONE &&
         (memory.mem.base == ZYDIS_REGISTER_RSP || memory.mem.base == ZYDIS_REGISTER_RBP) &&
         memory.mem.segment != ZYDIS_REGISTER_FS && memory.mem.segment != ZYDIS_REGISTER_GS &&
         is_near(memory.mem.disp.value);
}

void note_memory(const Instruction& one, FrameStep& step) {
  for (const ZydisDecodedOperand& operand : one.all()) {
    if (!is_plain(operand) || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
      continue;
    step.base = operand.mem.base == ZYDIS_REGISTER_RSP ? FrameStep::Base::kStack : FrameStep::Base::kFrame;
    step.place = static_cast<std::int32_t>(operand.mem.disp.value);
    step.bytes = static_cast<std::uint16_t>(operand.size / 8);
    step.stores = is_written(operand);
    if (!one.is(ZYDIS_MNEMONIC_MOV)) return;
    step.reg = whole_saved_register(one.operands[step.stores ? 1 : 0]);
    return;
  }
}

// rsp = something.
void set_stack_pointer(const Instruction& one, FrameStep& step) {
  const ZydisDecodedOperand& to = one.operands[0];
  const ZydisDecodedOperand& from = one.operands[1];
  step.kind = Kind::kStackUnknown;
  if (!is_this_register(to, ZYDIS_REGISTER_RSP)) return;
  const bool adds = one.is(ZYDIS_MNEMONIC_ADD);
  if ((adds || one.is(ZYDIS_MNEMONIC_SUB)) && from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && is_near(from.imm.value.s)) {
    step.kind = Kind::kMoveStackPointer;
    step.value = static_cast<std::int32_t>(adds ? from.imm.value.s : -from.imm.value.s);
  } else if (one.is(ZYDIS_MNEMONIC_MOV) && is_this_register(from, ZYDIS_REGISTER_RBP)) {
    step.kind = Kind::kStackFromFrame;
  } else if (one.is(ZYDIS_MNEMONIC_LEA) && is_plain(from)) {
    step.kind = from.mem.base == ZYDIS_REGISTER_RSP ? Kind::kMoveStackPointer : Kind::kStackFromFrame;
    step.value = static_cast<std::int32_t>(from.mem.disp.value);
  }
}

bool sets_frame_pointer(const Instruction& one, FrameStep& step) {
  const ZydisDecodedOperand& from = one.operands[1];
  if (one.decoded.operand_count < 2 || !is_this_register(one.operands[0], ZYDIS_REGISTER_RBP)) return false;
  if (one.is(ZYDIS_MNEMONIC_MOV) && is_this_register(from, ZYDIS_REGISTER_RSP)) return true;
  if (!one.is(ZYDIS_MNEMONIC_LEA) || !is_plain(from) || from.mem.base != ZYDIS_REGISTER_RSP) return false;
  step.value = static_cast<std::int32_t>(from.mem.disp.value);
  return true;
}

void note_writes(const Instruction& one, FrameStep& step, bool& stack_pointer) {
  for (const ZydisDecodedOperand& operand : one.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !is_written(operand)) continue;
    const std::uint8_t number = saved_number(operand.reg.value);
    if (number != FrameStep::kNoRegister) step.writes |= static_cast<std::uint8_t>(1u << number);
    if (const auto general = general_register(operand.reg.value); general && *general == 4) stack_pointer = true;
  }
}

// Pushes and pops of 8 bytes, and what changes the stack pointer besides.
void move_stack_pointer(const Instruction& one, FrameStep& step) {
  const ZydisDecodedOperand& what = one.operands[0];
  const bool is_whole = one.decoded.operand_width == 64;
  if (is_whole && (one.is(ZYDIS_MNEMONIC_PUSH) || one.is(ZYDIS_MNEMONIC_PUSHFQ))) {
    step.kind = Kind::kPush;
    step.base = FrameStep::Base::kNone;
    step.reg = one.is(ZYDIS_MNEMONIC_PUSH) ? whole_saved_register(what) : FrameStep::kNoRegister;
  } else if (is_whole &&
             (one.is(ZYDIS_MNEMONIC_POPFQ) || (one.is(ZYDIS_MNEMONIC_POP) && what.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                                               !is_this_register(what, ZYDIS_REGISTER_RSP)))) {
    step.kind = Kind::kPop;
    step.reg = one.is(ZYDIS_MNEMONIC_POP) ? whole_saved_register(what) : FrameStep::kNoRegister;
  } else if (is_whole && one.is(ZYDIS_MNEMONIC_LEAVE)) {
    step.kind = Kind::kLeave;
  } else {
    set_stack_pointer(one, step);
  }
}

void leave_or_call(const Instruction& one, FrameStep& step) {
  const auto target = direct_target(one);
  step.target = target.value_or(0);
  if (one.category() == ZYDIS_CATEGORY_CALL)
    step.kind = Kind::kCall;
  else if (one.category() == ZYDIS_CATEGORY_RET) {
    step.kind = Kind::kReturn;
    if (one.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      step.value = static_cast<std::int32_t>(one.operands[0].imm.value.u);
  } else if (!one.is(ZYDIS_MNEMONIC_JMP))
    step.kind = Kind::kBranch;
  else
    step.kind = target ? Kind::kJump : Kind::kIndirect;
}

}  // namespace

FrameStep frame_step(const Instruction& one) {
  FrameStep step;
  step.address = one.address;
  step.length = one.decoded.length;
  const ZydisInstructionCategory category = one.category();
  // An interrupt's return and the like restore rsp; they count as returns, behind which nothing is known.
  if (category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET || one.is(ZYDIS_MNEMONIC_JMP) ||
      (direct_target(one) && category == ZYDIS_CATEGORY_COND_BR)) {
    leave_or_call(one, step);
    return step;
  }
  if (is_trap(one) || direct_target(one)) {
    step.kind = Kind::kEnd;
    return step;
  }
  bool stack_pointer = false;
  note_writes(one, step, stack_pointer);
  note_memory(one, step);
  step.is_nop = is_nop(one);
  step.is_system_call = one.is(ZYDIS_MNEMONIC_SYSCALL);
  if (stack_pointer)
    move_stack_pointer(one, step);
  else if (sets_frame_pointer(one, step))
    step.kind = Kind::kFrameFromStack;
  return step;
}

}  // namespace uscope::symbolizer
