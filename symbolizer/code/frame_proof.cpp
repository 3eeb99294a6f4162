// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The proof follows the code from the entry, where rsp is 8 bytes below the CFA and all registers are the caller's, on
// all paths: behind each instruction, to the targets of jumps, to those of tables that are understood (code_walk.h),
// and behind calls. It keeps how far rsp is from the CFA, whether rbp is a frame pointer, and where the registers of
// the caller are saved. Where paths meet, what they do not agree on is unknown. Code that is not reached has no frame.
//
// Calls. A function is expected to return with rsp and the registers as they were. But behind a call that never returns
// stands other code, with another frame. So a path behind a call is certain only if the called function is known to
// return (it has a `ret`); other paths are weak: a certain path with another frame wins over them, and they say nothing
// in a function with jumps that are not understood, or whose end is not known, since there the code behind the call may
// be reached only in a way that the proof does not see. (In the latter, no path goes on behind a call to where a
// function may begin.)
//
// Never a wrong frame. Nothing is said of a function that returns with rsp elsewhere. One that takes its return address
// from the stack (vfork, clone's child) has frames only up to its first system call, and none if it does so before
// that. A slot below rsp is forgotten, and so is one that is written over by way of rsp or rbp. Memory that is written
// by another pointer is taken not to be a saved register, as all compilers do.
#include "symbolizer/code/frame_proof.h"

#include <algorithm>
#include <utility>

namespace uscope::symbolizer {
namespace {

using Kind = FrameStep::Kind;

constexpr std::int32_t kWord = 8;
constexpr std::int32_t kMostStack = std::int32_t{1} << 29;
constexpr std::size_t kRbp = 1;          // in USC_SAVED_REG's order
constexpr std::size_t kMostVisits = 32;  // of an instruction, on average

void forget_below(FrameState& state) {
  for (auto& saved : state.saved)
    if (state.stack && saved.slot > *state.stack) saved.slot = 0;
}

void move_stack(FrameState& state, std::int64_t by) {
  if (!state.stack) return;
  const std::int64_t stack = *state.stack - by;
  state.stack =
      stack > -kMostStack && stack < kMostStack ? std::optional(static_cast<std::int32_t>(stack)) : std::nullopt;
  forget_below(state);
}

// CFA - the place.
std::optional<std::int32_t> place_of(const FrameStep& step, const FrameState& state) {
  if (step.base == FrameStep::Base::kStack && state.stack) return *state.stack - step.place;
  if (step.base == FrameStep::Base::kFrame && state.frame) return *state.frame - step.place;
  return std::nullopt;
}

void write_over(FrameState& state, std::int32_t place, std::int32_t bytes) {
  for (auto& saved : state.saved)
    if (saved.slot != 0 && saved.slot > place - bytes && saved.slot - kWord < place) saved.slot = 0;
}

// The register is written; from its slot, it is the caller's again.
void restore(FrameState& state, std::uint8_t reg, std::optional<std::int32_t> from) {
  if (reg == FrameStep::kNoRegister) return;
  auto& saved = state.saved.at(reg);
  saved.kept = from && *from != 0 && saved.slot == *from;
  if (reg == kRbp) state.frame.reset();
}

void save(FrameState& state, std::uint8_t reg, std::int32_t place) {
  if (reg == FrameStep::kNoRegister) return;
  auto& saved = state.saved.at(reg);
  if (saved.kept && saved.slot == 0 && place > kWord && state.stack && place <= *state.stack) saved.slot = place;
}

void access_memory(const FrameStep& step, FrameState& state) {
  const auto place = place_of(step, state);
  if (!step.stores || !place) return;
  write_over(state, *place, step.bytes);
  if (step.bytes == kWord) save(state, step.reg, *place);
}

void write_registers(const FrameStep& step, FrameState& state) {
  const bool loads = step.base != FrameStep::Base::kNone && !step.stores && step.bytes == kWord;
  const auto from = loads ? place_of(step, state) : std::nullopt;
  for (std::uint8_t i = 0; i < USC_SAVED_REGS; i++)
    if ((step.writes >> i & 1u) != 0) restore(state, i, loads && step.reg == i ? from : std::nullopt);
}

void set_stack_from_frame(FrameState& state, std::int32_t value) {
  state.stack = state.frame ? std::optional(*state.frame - value) : std::nullopt;
  forget_below(state);
}

void pop(FrameState& state, std::uint8_t reg) {
  restore(state, reg, state.stack);
  move_stack(state, kWord);
}

// The frame behind the instruction, if the processor goes on there.
void apply_step(const FrameStep& step, FrameState& state) {
  switch (step.kind) {
    case Kind::kPush:
      move_stack(state, -kWord);
      if (state.stack) {
        write_over(state, *state.stack, kWord);
        save(state, step.reg, *state.stack);
      }
      break;
    case Kind::kPop:
      pop(state, step.reg);
      break;
    case Kind::kLeave:
      set_stack_from_frame(state, 0);
      pop(state, kRbp);
      break;
    case Kind::kMoveStackPointer:
      move_stack(state, step.value);
      break;
    case Kind::kStackFromFrame:
      set_stack_from_frame(state, step.value);
      break;
    case Kind::kStackUnknown:
      write_registers(step, state);
      state.stack.reset();
      break;
    case Kind::kFrameFromStack:
      restore(state, kRbp, std::nullopt);
      if (state.stack) state.frame = *state.stack - step.value;
      break;
    case Kind::kOther:
      access_memory(step, state);
      write_registers(step, state);
      break;
    default:
      break;
  }
}

// What both know.
void meet(FrameState& into, const FrameState& other) {
  if (into.stack != other.stack) into.stack.reset();
  if (into.frame != other.frame) into.frame.reset();
  for (std::size_t i = 0; i < into.saved.size(); i++) {
    into.saved.at(i).kept = into.saved.at(i).kept && other.saved.at(i).kept;
    if (into.saved.at(i).slot != other.saved.at(i).slot) into.saved.at(i).slot = 0;
  }
}

FrameState at_entry() {
  FrameState state;
  state.stack = kWord;
  return state;
}

bool goes_on(const FrameStep& step) {
  return step.kind != Kind::kReturn && step.kind != Kind::kJump && step.kind != Kind::kIndirect &&
         step.kind != Kind::kEnd;
}

// A call to the next instruction only pushes its address.
bool is_push_of_place(const FrameStep& step) {
  return step.kind == Kind::kCall && step.target == step.next();
}

}  // namespace

FrameProof::FrameProof(const ProvenFunction& function, std::span<const std::byte> code, const Tables& tables)
    : function_(function) {
  at_.resize(code.size());
  function_.range.high = function_.range.low + code.size();
  decode(code, {function_.range.low});
  follow_tables(code, tables);
}

const FrameStep* FrameProof::step_at(std::uint64_t address) const {
  if (!contains(address)) return nullptr;
  const std::uint32_t number = at_[address - function_.range.low];
  return number == 0 ? nullptr : &steps_[number - 1];
}

std::size_t FrameProof::step_number(const FrameStep& step) const {
  return static_cast<std::size_t>(&step - steps_.data());
}

// Whether another function may begin behind the call, if this one's end is a guess: the call may not return although
// the function that it calls returns to others (error()).
bool FrameProof::may_end_behind(const FrameStep& call) const {
  constexpr std::uint64_t kAlignment = 16;
  if (function_.end_is_known) return false;
  std::uint64_t next = call.next();
  for (const FrameStep* step = step_at(next); step != nullptr && step->is_nop; step = step_at(next))
    next = step->next();
  return next % kAlignment == 0;
}

const std::vector<std::uint64_t>* FrameProof::table_of(std::uint64_t jump) const {
  for (const IndirectJump& known : tables_)
    if (known.address == jump && known.stays) return &known.targets;
  return nullptr;
}

void FrameProof::decode(std::span<const std::byte> code, std::vector<std::uint64_t> from) {
  const InstructionDecoder decoder;
  while (!from.empty()) {
    std::uint64_t address = from.back();
    from.pop_back();
    while (contains(address) && step_at(address) == nullptr) {
      const auto one = decoder.decode(code.subspan(address - function_.range.low), address);
      if (!one) break;
      const FrameStep step = frame_step(*one);
      steps_.push_back(step);
      at_[address - function_.range.low] = static_cast<std::uint32_t>(steps_.size());
      if (step.target != 0 && contains(step.target)) from.push_back(step.target);
      if (step.kind == Kind::kCall && step.target != 0 && !contains(step.target)) calls_.push_back(step.target);
      if (!goes_on(step)) break;
      address = step.next();
    }
  }
}

void FrameProof::follow_tables(std::span<const std::byte> code, const Tables& tables) {
  const auto is_indirect = [](const FrameStep& step) { return step.kind == Kind::kIndirect; };
  if (std::none_of(steps_.begin(), steps_.end(), is_indirect)) return;
  tables_ = tables(function_.range);
  for (const IndirectJump& jump : tables_)
    if (jump.stays) decode(code, jump.targets);
  has_open_jump_ = std::any_of(steps_.begin(), steps_.end(), [&](const FrameStep& step) {
    return is_indirect(step) && table_of(step.address) == nullptr;
  });
}

bool FrameProof::has_return() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const FrameStep& step) { return step.kind == Kind::kReturn; });
}

bool FrameProof::restores_registers() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const FrameStep& step) {
    return step.kind == Kind::kPop && step.reg != FrameStep::kNoRegister;
  });
}

bool FrameProof::jumps_out() const {
  return has_open_jump_ || std::any_of(steps_.begin(), steps_.end(), [&](const FrameStep& step) {
           return (step.kind == Kind::kJump || step.kind == Kind::kBranch) && !contains(step.target);
         });
}

Returns FrameProof::returns(const ReturnsOf& returns_of) const {
  std::vector<bool> seen(steps_.size());
  std::vector<std::uint64_t> from = {function_.range.low};
  // A jump that is not understood may be a tail call, or what longjmp ends with.
  Returns found = has_open_jump_ ? Returns::kUnknown : Returns::kNever;
  while (!from.empty()) {
    const FrameStep* step = step_at(from.back());
    // It runs on into what is not known.
    if (step == nullptr) found = Returns::kUnknown;
    from.pop_back();
    if (step == nullptr || seen[step_number(*step)]) continue;
    seen[step_number(*step)] = true;
    if (step->kind == Kind::kReturn) return Returns::kYes;
    if (const auto* table = step->kind == Kind::kIndirect ? table_of(step->address) : nullptr)
      from.insert(from.end(), table->begin(), table->end());
    if (step->kind == Kind::kJump || step->kind == Kind::kBranch) {
      const Returns other = contains(step->target) ? Returns::kNever : returns_of(step->target);
      if (contains(step->target)) from.push_back(step->target);
      if (other == Returns::kYes) return other;
      if (other == Returns::kUnknown) found = other;
    }
    if (!goes_on(*step)) continue;
    if (step->kind == Kind::kCall && !is_push_of_place(*step)) {
      const Returns called = step->target == 0 ? Returns::kUnknown : returns_of(step->target);
      if (called == Returns::kNever) continue;
      if ((called == Returns::kUnknown && !function_.end_is_known) || may_end_behind(*step)) {
        found = Returns::kUnknown;
        continue;
      }
      // The last instruction of a function may be a call that never returns.
      if (called == Returns::kUnknown && step_at(step->next()) == nullptr) {
        found = Returns::kUnknown;
        continue;
      }
    }
    from.push_back(step->next());
  }
  return found;
}

// One run over the code, until nothing changes.
class FrameProof::Run {
 public:
  Run(const FrameProof& proof, const ReturnsOf& returns_of, const Entered& entered)
      : proof_(proof), returns_of_(returns_of), entered_(entered), nodes_(proof.steps_.size()) {}

  std::vector<ProvenFrame> frames() {
    arrive(proof_.function_.range.low, at_entry(), false);
    for (std::size_t visits = 0; !pending_.empty(); visits++) {
      if (visits > nodes_.size() * kMostVisits) return {};
      const std::size_t number = pending_.back();
      pending_.pop_back();
      nodes_[number].is_pending = false;
      leave(proof_.steps_[number], nodes_[number]);
    }
    check_ends();
    return is_wrong_ ? std::vector<ProvenFrame>() : collect();
  }

 private:
  struct Node {
    FrameState state;
    bool is_reached = false;
    bool is_weak = false;
    bool is_pending = false;
  };

  void arrive(std::uint64_t address, const FrameState& state, bool weak) {
    const FrameStep* step = proof_.step_at(address);
    if (step == nullptr) return;
    const std::size_t number = proof_.step_number(*step);
    Node& node = nodes_[number];
    const Node before = node;
    if (!node.is_reached || (node.is_weak && !weak)) {
      node.state = state;
      node.is_weak = weak;
    } else if (node.is_weak == weak) {
      meet(node.state, state);
    }
    node.is_reached = true;
    if (before.is_reached && before.is_weak == node.is_weak && before.state == node.state) return;
    if (!node.is_pending) pending_.push_back(number);
    node.is_pending = true;
  }

  void go_to(std::uint64_t target, const Node& node) {
    if (proof_.contains(target)) arrive(target, node.state, node.is_weak);
  }

  void leave(const FrameStep& step, const Node& from) {
    const Node node = from;
    if (step.kind == Kind::kJump || step.kind == Kind::kBranch) go_to(step.target, node);
    if (step.kind == Kind::kIndirect)
      if (const auto* table = proof_.table_of(step.address))
        for (const std::uint64_t target : *table) go_to(target, node);
    if (!goes_on(step)) return;
    FrameState state = node.state;
    bool weak = node.is_weak;
    if (is_push_of_place(step)) {
      move_stack(state, -kWord);
    } else if (step.kind == Kind::kCall) {
      // A subroutine of the function's own has a frame of its own.
      const bool is_own = step.target != 0 && proof_.contains(step.target);
      if (is_own) arrive(step.target, at_entry(), false);
      const Returns returns = step.target == 0 || is_own ? Returns::kUnknown : returns_of_(step.target);
      if (returns == Returns::kNever || proof_.may_end_behind(step)) return;
      weak = weak || returns == Returns::kUnknown;
    } else {
      apply_step(step, state);
    }
    if (state.stack && *state.stack < kWord) {
      takes_return_address_ = std::min(takes_return_address_, step.address);
      return;
    }
    arrive(step.next(), state, weak);
  }

  // What the ends of the function say of the proof, once nothing changes any more.
  void check_ends() {
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached) continue;
      if (step.is_system_call) first_system_call_ = std::min(first_system_call_, step.next());
      const bool is_elsewhere = node.state.stack && *node.state.stack != kWord;
      if (step.kind == Kind::kReturn && is_elsewhere && !node.is_weak) is_wrong_ = true;
      if ((step.kind == Kind::kJump || step.kind == Kind::kBranch) && !proof_.contains(step.target))
        entered_(step.target, node.state);
      if (goes_on(step) && step.kind != Kind::kCall && !proof_.contains(step.next())) {
        FrameState state = node.state;
        apply_step(step, state);
        entered_(step.next(), state);
      }
    }
    if (takes_return_address_ == UINT64_MAX) return;
    limit_ = first_system_call_;
    if (takes_return_address_ < limit_ || limit_ == UINT64_MAX) is_wrong_ = true;
  }

  [[nodiscard]] std::vector<ProvenFrame> collect() const {
    const bool weak_ones = proof_.function_.end_is_known && !proof_.has_open_jump_;
    std::vector<ProvenFrame> found;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached || step.next() > limit_ || (node.is_weak && !weak_ones) || !node.state.has_cfa()) continue;
      found.push_back({{step.address, step.next()}, node.state});
    }
    std::sort(found.begin(), found.end(),
              [](const ProvenFrame& a, const ProvenFrame& b) { return a.range.low < b.range.low; });
    // A jump behind a lock prefix; anything else that overlaps is not what it seems.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < found.size(); i++) {
      if (kept > 0 && found[i].range.low < found[kept - 1].range.high) {
        if (found[i].state != found[kept - 1].state || found[i].range.high != found[kept - 1].range.high) return {};
        continue;
      }
      found[kept++] = found[i];
    }
    found.resize(kept);
    return found;
  }

  const FrameProof& proof_;
  const ReturnsOf& returns_of_;
  const Entered& entered_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> pending_;
  std::uint64_t takes_return_address_ = UINT64_MAX;
  std::uint64_t first_system_call_ = UINT64_MAX;  // its end
  std::uint64_t limit_ = UINT64_MAX;
  bool is_wrong_ = false;
};

std::vector<ProvenFrame> FrameProof::prove(const ReturnsOf& returns_of, const Entered& entered) const {
  return Run(*this, returns_of, entered).frames();
}

}  // namespace uscope::symbolizer
