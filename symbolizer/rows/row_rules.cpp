// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The forms of CFA and of saved registers that rows can express, and how a DWARF expression is recognised as one of
// them: it is run on symbols instead of numbers (a register plus a constant, the word at such an address plus a
// constant), so that the way in which a compiler or an assembler's author wrote it does not matter. Expressions that
// multiply, add two registers or read memory twice are not supported; occurrences are counted in RowStats.
#include "symbolizer/rows/row_rules.h"

#include <dwarf.h>

#include <cstring>
#include <optional>

#include "uscope/rows.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxExpressionStack = 16;
constexpr std::size_t kMaxExpressionBytes = 4096;
constexpr std::size_t kMaxRules = 1u << 20;  // far above any file's; further ones become unsupported rows
constexpr std::uint64_t kStackPointer = USC_REG_SP;
constexpr std::uint64_t kFramePointer = USC_REG_FP;

// A symbolic value: `offset`; base + offset; or *(base + inner) + offset.
struct Value {
  enum class Base : std::uint8_t { kNone, kRegister, kCfa };
  Base base = Base::kNone;
  bool dereferenced = false;
  std::uint64_t number = 0;  // of the register
  std::uint64_t inner = 0;
  std::uint64_t offset = 0;

  [[nodiscard]] bool is_register(std::uint64_t reg) const {
    return base == Base::kRegister && number == reg && !dereferenced;
  }
};

class Evaluator {
 public:
  explicit Evaluator(Bytes expression) : in_(expression) {}

  // Returns the value on top of the stack at the end; nullopt if the expression is not supported.
  std::optional<Value> run(std::optional<Value> initial) {
    if (in_.left() > kMaxExpressionBytes) return std::nullopt;
    if (initial) push(*initial);
    while (ok_ && in_.left() > 0) step(in_.fixed<std::uint8_t>());
    if (!ok_ || !in_.ok() || depth_ == 0) return std::nullopt;
    return stack_[depth_ - 1];
  }

 private:
  void push(const Value& value) {
    if (depth_ == kMaxExpressionStack)
      ok_ = false;
    else
      stack_[depth_++] = value;
  }

  Value pop() {
    if (depth_ == 0) {
      ok_ = false;
      return {};
    }
    return stack_[--depth_];
  }

  void push_constant(std::uint64_t constant) {
    Value value;
    value.offset = constant;
    push(value);
  }

  void push_register(std::uint64_t number, std::uint64_t offset) {
    Value value;
    value.base = Value::Base::kRegister;
    value.number = number;
    value.offset = offset;
    push(value);
  }

  std::uint64_t signed_leb() { return static_cast<std::uint64_t>(in_.sleb()); }
  template <typename T>
  std::uint64_t fixed() {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(in_.fixed<T>()));
  }

  void dereference() {
    Value value = pop();
    if (value.base == Value::Base::kNone || value.dereferenced) ok_ = false;
    value.inner = value.offset;
    value.offset = 0;
    value.dereferenced = true;
    push(value);
  }

  void add(bool negate) {
    Value right = pop();
    Value left = pop();
    if (negate && right.base != Value::Base::kNone) ok_ = false;
    if (!negate && left.base == Value::Base::kNone) std::swap(left, right);
    if (right.base != Value::Base::kNone) ok_ = false;
    left.offset += negate ? 0 - right.offset : right.offset;
    push(left);
  }

  void step(std::uint8_t opcode) {
    if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31) return push_register(opcode - DW_OP_breg0, signed_leb());
    if (opcode >= DW_OP_lit0 && opcode <= DW_OP_lit31) return push_constant(opcode - DW_OP_lit0);
    switch (opcode) {
      case DW_OP_nop:
        return;
      case DW_OP_bregx: {
        const std::uint64_t number = in_.uleb();
        return push_register(number, signed_leb());
      }
      case DW_OP_const1u:
        return push_constant(fixed<std::uint8_t>());
      case DW_OP_const1s:
        return push_constant(fixed<std::int8_t>());
      case DW_OP_const2u:
        return push_constant(fixed<std::uint16_t>());
      case DW_OP_const2s:
        return push_constant(fixed<std::int16_t>());
      case DW_OP_const4u:
        return push_constant(fixed<std::uint32_t>());
      case DW_OP_const4s:
        return push_constant(fixed<std::int32_t>());
      case DW_OP_const8u:
      case DW_OP_const8s:
        return push_constant(fixed<std::int64_t>());
      case DW_OP_constu:
        return push_constant(in_.uleb());
      case DW_OP_consts:
        return push_constant(signed_leb());
      case DW_OP_plus_uconst: {
        Value value = pop();
        value.offset += in_.uleb();
        return push(value);
      }
      case DW_OP_plus:
        return add(false);
      case DW_OP_minus:
        return add(true);
      case DW_OP_deref:
        return dereference();
      case DW_OP_dup: {
        const Value value = pop();
        push(value);
        return push(value);
      }
      case DW_OP_drop:
        pop();
        return;
      default:
        ok_ = false;
    }
  }

  ByteReader in_;
  bool ok_ = true;  // what was read so far is supported
  std::size_t depth_ = 0;
  Value stack_[kMaxExpressionStack];
};

std::optional<std::int32_t> as_s32(std::uint64_t value) {
  const auto wide = static_cast<std::int64_t>(value);
  if (wide < INT32_MIN || wide > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(wide);
}

// Recognises the expression of GNU ld and lld for a lazy .plt: 8 + sp + ((pc & 15) >= N) * 8. Returns N, or nullopt.
std::optional<std::int32_t> plt_threshold(Bytes expression) {
  constexpr std::uint8_t kHead[] = {DW_OP_breg0 + USC_REG_SP, 8, DW_OP_breg0 + USC_REG_PC, 0, DW_OP_lit15, DW_OP_and};
  constexpr std::uint8_t kTail[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
  if (expression.size() != sizeof(kHead) + 1 + sizeof(kTail) ||
      std::memcmp(expression.data(), kHead, sizeof(kHead)) != 0 ||
      std::memcmp(expression.data() + sizeof(kHead) + 1, kTail, sizeof(kTail)) != 0)
    return std::nullopt;
  const std::uint8_t literal = expression[sizeof(kHead)];
  if (literal < DW_OP_lit0 || literal > DW_OP_lit31) return std::nullopt;
  return literal - DW_OP_lit0;
}

// The address at which a register is saved.
std::optional<Value> saved_at(const RegisterRule& rule) {
  Value cfa;
  cfa.base = Value::Base::kCfa;
  if (rule.where == Where::kAtExpression) return Evaluator(rule.expression).run(cfa);
  if (rule.where != Where::kAtCfa) return std::nullopt;
  cfa.offset = static_cast<std::uint64_t>(rule.value);
  return cfa;
}

bool is_at(const RegisterRule& rule, std::uint64_t stack_offset) {
  const auto at = saved_at(rule);
  return at && at->is_register(kStackPointer) && at->offset == stack_offset;
}

// The offset from the stack pointer of a sigcontext's first register, if the state restores every register from one;
// else nullopt. The CFA may define the stack pointer instead.
std::optional<std::int32_t> sigcontext_offset(const CfiState& state) {
  const auto first = saved_at(state.registers[USC_SIGCONTEXT_REG(0U)]);
  if (!first || !first->is_register(kStackPointer)) return std::nullopt;
  for (std::uint64_t i = 0; i < USC_SIGCONTEXT_REGS; i++) {
    const std::uint32_t reg = USC_SIGCONTEXT_REG(static_cast<std::uint32_t>(i));
    const RegisterRule& rule = state.registers[reg];
    if (reg == kStackPointer && rule.where == Where::kUnset) continue;
    if (!is_at(rule, first->offset + i * 8)) return std::nullopt;
  }
  if (!is_at(state.registers[kReturnAddress], first->offset + std::uint64_t{USC_SIGCONTEXT_REGS} * 8))
    return std::nullopt;
  if (state.cfa != CfiState::Cfa::kExpression) return std::nullopt;
  const auto cfa = Evaluator(state.cfa_expression).run(std::nullopt);
  constexpr std::uint64_t kStackPointerWord = 15;
  if (!cfa || cfa->base != Value::Base::kRegister || cfa->number != kStackPointer || !cfa->dereferenced ||
      cfa->offset != 0 || cfa->inner != first->offset + kStackPointerWord * 8)
    return std::nullopt;
  return as_s32(first->offset);
}

bool is_kept(const RegisterRule& rule) {
  return rule.where == Where::kUnset || rule.where == Where::kSame;
}

// Whether the CFA is the caller's stack pointer, as rows assume unless the program says otherwise.
bool stack_pointer_is_cfa(const RegisterRule& rule) {
  return rule.where == Where::kUnset || (rule.where == Where::kCfaPlus && rule.value == 0);
}

// The compact rule of a state; USC_RULE_NONE if it needs a shared one. Compact rows cover no other saved register than
// the frame pointer.
std::uint32_t compact_rule(const CfiState& state) {
  if (state.cfa != CfiState::Cfa::kRegister) return USC_RULE_NONE;
  const bool by_stack = state.cfa_register == kStackPointer;
  if (!by_stack && state.cfa_register != kFramePointer) return USC_RULE_NONE;
  if (state.cfa_offset <= 0 || state.cfa_offset % 8 != 0 || state.cfa_offset / 8 > USC_RULE_MAX_CFA_WORDS)
    return USC_RULE_NONE;
  const RegisterRule& ra = state.registers[kReturnAddress];
  if (ra.where != Where::kAtCfa || ra.value != -8) return USC_RULE_NONE;
  const RegisterRule& fp = state.registers[kFramePointer];
  std::int64_t fp_words = 0;
  if (!is_kept(fp)) {
    if (fp.where != Where::kAtCfa || fp.value >= 0 || fp.value % 8 != 0) return USC_RULE_NONE;
    fp_words = -(fp.value / 8);
    if (fp_words > USC_RULE_MAX_FP_WORDS) return USC_RULE_NONE;
  }
  return USC_RULE_COMPACT(by_stack ? USC_RULE_SP : USC_RULE_FP, state.cfa_offset / 8, fp_words);
}

}  // namespace

std::uint32_t RuleTable::rule_for(const CfiState& state, bool signal_frame, Extra extra) {
  if (state.registers[kReturnAddress].where == Where::kUndefined) return USC_RULE_ROOT;
  usc_rule rule{};
  if (signal_frame) {
    const auto offset = sigcontext_offset(state);
    if (!offset) return unsupported(stats_.bad_signal_frame);
    rule.cfa_kind = USC_CFA_SIGNAL;
    rule.cfa_reg = USC_REG_SP;
    rule.cfa_off = *offset;
    return intern(rule);
  }
  if (!stack_pointer_is_cfa(state.registers[kStackPointer])) return unsupported(stats_.bad_stack_pointer);
  if (detail_ == RowDetail::kStack && !extra.other_stack && !extra.exact_ra)
    if (const std::uint32_t compact = compact_rule(state); compact != USC_RULE_NONE) return compact;
  if (!fill_cfa(state, rule))
    return unsupported(state.cfa == CfiState::Cfa::kExpression ? stats_.bad_cfa_expression : stats_.bad_cfa);
  if (!fill_return_address(state.registers[kReturnAddress], rule)) return unsupported(stats_.bad_return_address);
  fill_saved(state, rule);
  rule.other_stack = extra.other_stack ? 1 : 0;
  rule.exact_ra = extra.exact_ra ? 1 : 0;
  return intern(rule);
}

bool RuleTable::fill_cfa(const CfiState& state, usc_rule& rule) {
  if (state.cfa == CfiState::Cfa::kUnset) return false;
  if (state.cfa == CfiState::Cfa::kRegister) {
    const auto offset = as_s32(static_cast<std::uint64_t>(state.cfa_offset));
    if (state.cfa_register > 15 || !offset) return false;
    rule.cfa_kind = USC_CFA_REG;
    rule.cfa_reg = static_cast<std::uint8_t>(state.cfa_register);
    rule.cfa_off = *offset;
    return true;
  }
  if (const auto threshold = plt_threshold(state.cfa_expression)) {
    rule.cfa_kind = USC_CFA_PLT;
    rule.cfa_reg = USC_REG_SP;
    rule.cfa_off = *threshold;
    return true;
  }
  const auto value = Evaluator(state.cfa_expression).run(std::nullopt);
  if (!value || value->base != Value::Base::kRegister || value->number > 15) return false;
  const auto offset = as_s32(value->dereferenced ? value->inner : value->offset);
  const auto add = as_s32(value->dereferenced ? value->offset : 0);
  if (!offset || !add) return false;
  rule.cfa_kind = value->dereferenced ? USC_CFA_DEREF : USC_CFA_REG;
  rule.cfa_reg = static_cast<std::uint8_t>(value->number);
  rule.cfa_off = *offset;
  rule.cfa_add = *add;
  return true;
}

bool RuleTable::fill_return_address(const RegisterRule& from, usc_rule& rule) {
  if (from.where == Where::kRegister && from.value >= 0 && from.value <= 15) {
    rule.ra_kind = USC_RA_REG;
    rule.ra_reg = static_cast<std::uint8_t>(from.value);
    return true;
  }
  const auto at = saved_at(from);
  if (!at || at->base != Value::Base::kCfa || at->dereferenced) return false;
  const auto offset = as_s32(at->offset);
  if (!offset) return false;
  rule.ra_kind = USC_RA_CFA;
  rule.ra_off = *offset;
  return true;
}

void RuleTable::fill_saved(const CfiState& state, usc_rule& rule) {
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) {
    const RegisterRule& from = state.registers[USC_SAVED_REG(i)];
    rule.save_kind[i] = USC_SAVE_SAME;
    if (is_kept(from)) continue;
    rule.save_kind[i] = USC_SAVE_UNKNOWN;
    if (from.where == Where::kUndefined) continue;
    const auto at = saved_at(from);
    const auto offset = at ? as_s32(at->offset) : std::nullopt;
    const bool plain = offset && !at->dereferenced;
    if (plain && at->base == Value::Base::kCfa) {
      rule.save_kind[i] = USC_SAVE_CFA;
      rule.save_off[i] = *offset;
    } else if (plain && at->is_register(kFramePointer)) {
      rule.save_kind[i] = USC_SAVE_DEREF;
      rule.save_off[i] = *offset;
    } else {
      stats_.unknown_registers++;
    }
  }
}

std::uint32_t RuleTable::intern(const usc_rule& rule) {
  const std::string key(reinterpret_cast<const char*>(&rule), sizeof(rule));
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) return USC_RULE_SHARED_NUMBER(known->second);
  const auto number = static_cast<std::uint32_t>(rules_.size());
  if (number >= kMaxRules) return USC_RULE_NONE;
  rules_.push_back(rule);
  numbers_.emplace(key, number);
  return USC_RULE_SHARED_NUMBER(number);
}

std::uint32_t RuleTable::unsupported(std::uint64_t& counter) {
  counter++;
  usc_rule rule{};
  rule.cfa_kind = kUnsupportedCfa;
  rule.cfa_reg = USC_REG_SP;  // always known, so that the step returns BAD_RULE and not REGISTER
  return intern(rule);
}

}  // namespace uscope::symbolizer
