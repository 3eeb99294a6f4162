// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Numbers get an id when they come to be, and keep it where they are moved, also into a wider or narrower register: so
// a comparison says something of all their copies. That takes for granted what compilers keep to: the compared part of
// a register is the one that the table is indexed by. A number that is too large all the same leads to entries that lie
// behind the table, and the walk that asks for these checks each (code_walk.cpp).
#include "symbolizer/code/register_values.h"

#include <algorithm>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostSlots = 48;
constexpr std::size_t kMostSeen = 8;

bool is_register(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER;
}
bool is_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
}
bool is_immediate(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

Value constant(std::uint64_t at) {
  Value value;
  value.is = Value::Is::kConstant;
  value.at = at;
  return value;
}

std::uint64_t all_ones(unsigned bits) {
  return bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

// A number that is multiplied.
Value scaled(const Value& number, std::uint64_t by) {
  Value value = number;
  value.is = Value::Is::kScaled;
  value.scale = static_cast<std::uint8_t>(by);
  return value;
}

bool is_number(const Value& value) {
  return value.is == Value::Is::kNumber || value.is == Value::Is::kScaled;
}

// What a constant and another value are together; nothing: that is not followed.
std::optional<Value> sum(const Value& a, const Value& b) {
  if (a.is != Value::Is::kConstant) return b.is == Value::Is::kConstant ? sum(b, a) : std::nullopt;
  Value value = b;
  switch (b.is) {
    case Value::Is::kConstant:
    case Value::Is::kStack:
    case Value::Is::kPlace:
      value.at += a.at;
      return value;
    case Value::Is::kNumber:
    case Value::Is::kScaled:
      value.is = Value::Is::kPlace;
      value.scale = b.is == Value::Is::kScaled ? b.scale : 1;
      value.at = a.at;
      return value;
    case Value::Is::kEntry:
      value.is = Value::Is::kSum;
      value.base = a.at;
      return value;
    default:
      return std::nullopt;
  }
}

}  // namespace

RegisterValues::RegisterValues() {
  for (Value& value : registers_) value = fresh();
  Value stack;
  stack.is = Value::Is::kStack;
  registers_.at(4) = stack;
}

Value RegisterValues::fresh(std::uint64_t most) const {
  Value value;
  value.id = next_id_++;
  value.most = most;
  return value;
}

Value RegisterValues::of(ZydisRegister reg) const {
  const auto number = general_register(reg);
  return number ? registers_.at(*number) : fresh();
}

void RegisterValues::set(ZydisRegister reg, const Value& value) {
  if (const auto number = general_register(reg)) registers_.at(*number) = value;
}

void RegisterValues::set_unknown(const Instruction& one) {
  for (const ZydisDecodedOperand& operand : one.all())
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
      if (is_register(operand)) set(operand.reg.value, fresh());
      if (is_memory(operand)) store(one, operand, fresh());
    }
}

Value RegisterValues::address_of(const Instruction& one, const ZydisDecodedOperand& memory) const {
  const ZydisDecodedOperandMem& mem = memory.mem;
  const auto offset = mem.disp.has_displacement != 0 ? static_cast<std::uint64_t>(mem.disp.value) : 0;
  if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS) return fresh();
  if (mem.base == ZYDIS_REGISTER_RIP) return constant(one.next() + offset);
  std::optional<Value> index;
  if (mem.index != ZYDIS_REGISTER_NONE) {
    index = of(mem.index);
    if (index->is == Value::Is::kConstant)
      index = constant(index->at * mem.scale);
    else if (index->is == Value::Is::kNumber)
      index = scaled(*index, mem.scale);
    else if (mem.scale != 1)
      return fresh();
  }
  if (mem.base == ZYDIS_REGISTER_NONE) {
    if (!index) return constant(offset);
    return offset == 0 ? *index : sum(constant(offset), *index).value_or(fresh());
  }
  const Value base = of(mem.base);
  const auto with_base = index ? sum(base, *index) : std::optional(base);
  if (!with_base) return fresh();
  if (offset == 0) return *with_base;
  // A number and a constant make no table's place: what was added to it counts for another one.
  return is_number(*with_base) ? fresh() : sum(constant(offset), *with_base).value_or(fresh());
}

std::array<std::uint64_t, 4> RegisterValues::key_of(const Instruction& one, const ZydisDecodedOperand& memory) const {
  const ZydisDecodedOperandMem& mem = memory.mem;
  const auto key_of_register = [&](ZydisRegister reg) -> std::uint64_t {
    if (reg == ZYDIS_REGISTER_NONE) return 0;
    if (reg == ZYDIS_REGISTER_RIP) return one.next() << 1U;
    const Value value = of(reg);
    return value.is == Value::Is::kConstant ? value.at << 1U : std::uint64_t{value.id} << 1U | 1U;
  };
  return {key_of_register(mem.base), key_of_register(mem.index),
          std::uint64_t{mem.scale} << 32U | static_cast<std::uint32_t>(mem.segment),
          mem.disp.has_displacement != 0 ? static_cast<std::uint64_t>(mem.disp.value) : 0};
}

std::optional<Value> RegisterValues::slot(const Value& address) const {
  for (const Slot& one : slots_)
    if (one.frame == address.id && one.at == address.at) return one.value;
  return std::nullopt;
}

void RegisterValues::set_slot(const Value& address, const Value& value) {
  for (Slot& one : slots_)
    if (one.frame == address.id && one.at == address.at) {
      one.value = value;
      return;
    }
  if (slots_.size() == kMostSlots) slots_.erase(slots_.begin());
  slots_.push_back({address.id, address.at, value});
}

Value RegisterValues::loaded_by(const Instruction& one, const ZydisDecodedOperand& memory) const {
  RegisterValues copy = *this;
  Value value;
  copy.load(one, memory, static_cast<std::uint8_t>(memory.size / 8), false, value);
  return value;
}

void RegisterValues::load(const Instruction& one, const ZydisDecodedOperand& memory, std::uint8_t bytes, bool is_signed,
                          Value& out) {
  const Value address = address_of(one, memory);
  const std::uint64_t most = is_signed || bytes > 4 ? Value::kNoLimit : all_ones(bytes * 8U);
  if (address.is == Value::Is::kPlace && bytes >= 4) {
    out = address;
    out.is = Value::Is::kEntry;
    out.bytes = bytes;
    out.is_signed = is_signed;
    return;
  }
  // One entry alone, by an index that is known.
  if (address.is == Value::Is::kConstant && bytes == 4 && is_signed) {
    out = address;
    out.is = Value::Is::kEntry;
    out.scale = out.bytes = bytes;
    out.is_signed = true;
    out.most = 0;
    return;
  }
  if (address.is == Value::Is::kStack) {
    if (const auto known = slot(address)) {
      out = *known;
      return;
    }
    out = fresh(most);
    set_slot(address, out);
    return;
  }
  const auto key = key_of(one, memory);
  for (const Seen& seen : seen_)
    if (seen.key == key && seen.bytes == bytes) {
      out = seen.value;
      return;
    }
  out = fresh(most);
  if (seen_.size() == kMostSeen) seen_.erase(seen_.begin());
  seen_.push_back({key, bytes, out});
}

void RegisterValues::store(const Instruction& one, const ZydisDecodedOperand& memory, const Value& value) {
  const Value address = address_of(one, memory);
  if (address.is == Value::Is::kStack)
    set_slot(address, value);
  else
    seen_.clear();
}

Value RegisterValues::source(const Instruction& one, const ZydisDecodedOperand& operand) {
  if (is_register(operand)) return of(operand.reg.value);
  if (is_immediate(operand))
    return constant(operand.imm.is_signed != 0 ? static_cast<std::uint64_t>(operand.imm.value.s) : operand.imm.value.u);
  Value value = fresh();
  if (is_memory(operand)) load(one, operand, static_cast<std::uint8_t>(operand.size / 8), false, value);
  return value;
}

void RegisterValues::move(const Instruction& one) {
  const ZydisDecodedOperand& to = one.operands[0];
  const ZydisDecodedOperand& from = one.operands[1];
  const bool extends = !one.is(ZYDIS_MNEMONIC_MOV);
  const bool is_signed = one.is(ZYDIS_MNEMONIC_MOVSX) || one.is(ZYDIS_MNEMONIC_MOVSXD);
  if (is_memory(to)) return store(one, to, source(one, from));
  if (!is_register(to)) return;
  if (!extends && to.size < 32) return set(to.reg.value, fresh());
  Value value;
  if (is_memory(from)) {
    load(one, from, static_cast<std::uint8_t>(from.size / 8), is_signed, value);
  } else {
    value = source(one, from);
    if (extends && is_signed && value.is == Value::Is::kEntry) value.is_signed = true;
    if (one.is(ZYDIS_MNEMONIC_MOVZX)) value.most = std::min(value.most, all_ones(from.size));
    if (is_immediate(from)) value.at &= all_ones(to.size);
  }
  set(to.reg.value, value);
}

void RegisterValues::add(const Instruction& one) {
  const ZydisDecodedOperand& to = one.operands[0];
  Value more = source(one, one.operands[1]);
  if (!is_register(to) || to.size < 32) return set_unknown(one);
  if (one.is(ZYDIS_MNEMONIC_SUB)) {
    if (more.is != Value::Is::kConstant) return set_unknown(one);
    more.at = 0 - more.at;
  }
  const Value before = of(to.reg.value);
  // A number to which a constant is added is another number.
  const bool is_other = (is_number(before) && is_immediate(one.operands[1])) || (is_number(more) && is_number(before));
  set(to.reg.value, is_other ? fresh() : sum(before, more).value_or(fresh()));
}

void RegisterValues::shift_or_mask(const Instruction& one) {
  const ZydisDecodedOperand& to = one.operands[0];
  if (!is_register(to) || one.decoded.operand_count < 2 || !is_immediate(one.operands[1]) || to.size < 32)
    return set_unknown(one);
  const std::uint64_t by = one.operands[1].imm.value.u;
  const Value before = of(to.reg.value);
  Value after = fresh();
  if (one.is(ZYDIS_MNEMONIC_AND) && to.reg.value == ZYDIS_REGISTER_RSP) {
    after.is = Value::Is::kStack;  // aligned
  } else if (one.is(ZYDIS_MNEMONIC_AND)) {
    const bool is_mask = one.operands[1].imm.value.s >= 0;
    if (is_mask) after.most = by;
    if (before.is == Value::Is::kNumber && is_mask) after.most = std::min(after.most, before.most);
  } else if (one.is(ZYDIS_MNEMONIC_SHR) && by < to.size) {
    const std::uint64_t most = before.is == Value::Is::kNumber ? std::min(before.most, all_ones(to.size)) : UINT64_MAX;
    after.most = (most & all_ones(to.size)) >> by;
  } else if (one.is(ZYDIS_MNEMONIC_SHL) && by <= 3 && before.is == Value::Is::kNumber) {
    after = scaled(before, std::uint64_t{1} << by);
  }
  set(to.reg.value, after);
}

void RegisterValues::compare(const Instruction& one) {
  compared_id_ = 0;
  Value what = source(one, one.operands[0]);
  const Value with = source(one, one.operands[1]);
  // What is compared is no constant, though it is one on this path: else there were nothing to compare.
  if (what.is == Value::Is::kConstant && is_register(one.operands[0])) {
    what = fresh();
    set(one.operands[0].reg.value, what);
  }
  if (what.is != Value::Is::kNumber || with.is != Value::Is::kConstant) return;
  compared_id_ = what.id;
  compared_with_ = with.at & all_ones(one.operands[0].size);
}

// The last comparison before a table is the one that was made for it; an earlier one may hold on this path only.
void RegisterValues::limit(std::uint32_t id, std::uint64_t most) {
  const auto apply = [&](Value& value) {
    if (value.id == id && value.is != Value::Is::kStack && value.is != Value::Is::kConstant) value.most = most;
  };
  for (Value& value : registers_) apply(value);
  for (Slot& one : slots_) apply(one.value);
  for (Seen& one : seen_) apply(one.value);
}

void RegisterValues::assume(const Instruction& jump, bool taken) {
  if (compared_id_ == 0) return;
  const auto holds = [&](ZydisMnemonic yes, ZydisMnemonic no) {
    return (taken && jump.is(yes)) || (!taken && jump.is(no));
  };
  if (holds(ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JNBE) || holds(ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_JNLE))
    limit(compared_id_, compared_with_);
  if ((holds(ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_JNB) || holds(ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_JNL)) &&
      compared_with_ != 0)
    limit(compared_id_, compared_with_ - 1);
}

// The registers that the ABI does not preserve, and memory.
void RegisterValues::call() {
  for (const std::size_t number : {0, 1, 2, 6, 7, 8, 9, 10, 11}) registers_.at(number) = fresh();
  seen_.clear();
}

void RegisterValues::push(const Value& value) {
  Value& stack = registers_.at(4);
  if (stack.is != Value::Is::kStack) return;
  stack.at -= 8;
  set_slot(stack, value);
}

void RegisterValues::follow(const Instruction& one) {
  const bool compares = one.is(ZYDIS_MNEMONIC_CMP) && one.decoded.operand_count >= 2;
  if (!compares && one.decoded.cpu_flags != nullptr &&
      (one.decoded.cpu_flags->modified | one.decoded.cpu_flags->undefined) != 0)
    compared_id_ = 0;
  if (compares) return compare(one);
  if (one.category() == ZYDIS_CATEGORY_CALL) return call();
  Value& stack = registers_.at(4);
  switch (one.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      return move(one);
    case ZYDIS_MNEMONIC_LEA:
      return set(one.operands[0].reg.value, address_of(one, one.operands[1]));
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
      return add(one);
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SHL:
      return shift_or_mask(one);
    case ZYDIS_MNEMONIC_CDQE:
      if (registers_[0].is == Value::Is::kEntry) registers_[0].is_signed = true;
      return;
    case ZYDIS_MNEMONIC_PUSH:
      return push(source(one, one.operands[0]));
    case ZYDIS_MNEMONIC_POP: {
      const Value value = stack.is == Value::Is::kStack ? slot(stack).value_or(fresh()) : fresh();
      if (stack.is == Value::Is::kStack) stack.at += 8;
      if (is_register(one.operands[0])) set(one.operands[0].reg.value, value);
      return;
    }
    case ZYDIS_MNEMONIC_LEAVE:
      stack = registers_.at(5);
      if (stack.is == Value::Is::kStack) {
        registers_.at(5) = slot(stack).value_or(fresh());
        stack.at += 8;
      }
      return;
    case ZYDIS_MNEMONIC_XOR:
      if (is_register(one.operands[0]) && is_register(one.operands[1]) &&
          one.operands[0].reg.value == one.operands[1].reg.value)
        return set(one.operands[0].reg.value, constant(0));
      return set_unknown(one);
    default:
      if (one.category() == ZYDIS_CATEGORY_SETCC && is_register(one.operands[0]))
        return set(one.operands[0].reg.value, fresh(1));
      set_unknown(one);
  }
}

}  // namespace uscope::symbolizer
