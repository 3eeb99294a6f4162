// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The proof follows the code from the entry, where rsp is 8 bytes below the CFA and all registers are the caller's, on
// all paths: behind each instruction, to the targets of jumps, to those of tables that are understood (code_walk.h),
// and behind calls. It keeps how far rsp is from the CFA, whether rbp is a frame pointer, and where the registers of
// the caller are saved. Where paths meet, what they do not agree on is unknown. Code that is not reached has no frame.
//
// Calls. A function is expected to return with rsp and the registers as they were. Behind a call of one whose code
// shows that it returns with another rsp, rsp is unknown until it is set from rbp; where rbp is the frame pointer, the
// frame follows from that. And behind a call that never returns stands other code, with another frame. So a path behind
// a call is certain only if the called function is known to return (it has a `ret`); other paths are weak: a certain
// path with another frame wins over them. In a function with jumps that are not understood, or whose end is not known,
// the code behind the call may be reached only in a way that the proof does not see. There a weak path is believed only
// as far as it is confirmed by its end. (If a function's end is a guess, every path is weak behind a call to where a
// function may begin; none goes on to where one is known to.)
//
// Confirmed. Wherever a `ret` stands, rsp is at the return address. So a path that leads to a `ret` tells the frame of
// all its instructions, whatever led to them, since the distance between the two is known. If the proof's distance is
// the same, and the registers of the caller are there again, then the frame is right; so it is then wherever such a
// path leads without a call that may not return. A jump to a function that returns counts as much as a `ret`, and
// so does one to an unknown place, if the function has begun by pushing a register of its caller. A call on
// the way that may not return must be one at which the stack is aligned to 16 bytes, as the ABI demands: else the `ret`
// may be that of a function which begins behind it.
//
// A start of which only an address is known (a table of functions, `lea`) may be a label in the middle of a function,
// or data. It is a function's start if it is confirmed, and no path that is certain says otherwise: none comes to bytes
// that are no instruction, to a `ret` with another distance or with registers of the caller lost, or in that state to
// another function. One that never leaves (it ends with calls that do not return) must begin by pushing a register of
// the caller, must call something, and must have the stack aligned at each call: in the middle of a function, the
// alignment would be the other one. Its weak paths are believed, but behind direct calls of functions that are not
// seen to return elsewhere: what stands there may be a part of another function (.cold). Whoever calls by a pointer
// does not know that the call does not return. A lone `ret` is no function: it may be the last byte of an instruction.
//
// The outermost function of a thread. Code that has taken its return address from the stack behind a system call (the
// child of clone, on a stack of its own) and that neither returns nor jumps elsewhere has no caller.
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

constexpr std::size_t kPlacesOfPage = 256;
constexpr std::size_t kMostVisits = 32;  // of an instruction, on average

bool is_aligned(const FrameState& state) {
  constexpr std::int32_t kAlignment = 16;
  return state.stack && *state.stack % kAlignment == 0;
}

bool is_jump(const FrameStep& step) {
  return step.kind == Kind::kJump || step.kind == Kind::kBranch;
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
  at_.resize(code.size() / kPlacesOfPage + 1);
  function_.range.high = function_.range.low + code.size();
  decode(code, {function_.range.low});
  follow_tables(code, tables);
}

const FrameStep* FrameProof::step_at(std::uint64_t address) const {
  if (!contains(address)) return nullptr;
  const std::uint64_t place = address - function_.range.low;
  const auto& page = at_[place / kPlacesOfPage];
  const std::uint32_t number = page.empty() ? 0 : page[place % kPlacesOfPage];
  return number == 0 ? nullptr : &steps_[number - 1];
}

void FrameProof::add_step(const FrameStep& step) {
  const std::uint64_t place = step.address - function_.range.low;
  auto& page = at_[place / kPlacesOfPage];
  if (page.empty()) page.resize(kPlacesOfPage);
  steps_.push_back(step);
  page[place % kPlacesOfPage] = static_cast<std::uint32_t>(steps_.size());
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
      add_step(step);
      if (step.target != 0 && contains(step.target)) from.push_back(step.target);
      if (step.kind == Kind::kCall && step.target != 0 && step.target != step.next() &&
          (!function_.end_is_known || !contains(step.target)))
        calls_.push_back(step.target);
      note_names(*one, step);
      if (!goes_on(step)) break;
      address = step.next();
    }
  }
}

void FrameProof::note_names(const Instruction& one, const FrameStep& step) {
  constexpr unsigned kLeastBits = 32;  // of a constant that is an address
  if (is_jump(step) && !contains(step.target)) names_.push_back(step.target);
  for (const ZydisDecodedOperand& operand : one.all()) {
    ZyanU64 address = 0;
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN && operand.mem.base == ZYDIS_REGISTER_RIP &&
          ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&one.decoded, &operand, one.address, &address)))
        names_.push_back(address);
    } else if (function_.is_at_fixed_address && operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
               operand.imm.is_relative == 0 && one.decoded.raw.imm[0].size >= kLeastBits) {
      names_.push_back(operand.imm.value.u);
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

bool FrameProof::saves_register() const {
  const FrameStep* step = step_at(function_.range.low);
  while (step != nullptr && step->kind == Kind::kOther) step = step_at(step->next());
  return step != nullptr && step->kind == Kind::kPush && step->reg != FrameStep::kNoRegister;
}

bool FrameProof::restores_registers() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const FrameStep& step) {
    return step.kind == Kind::kPop && step.reg != FrameStep::kNoRegister;
  });
}

bool FrameProof::jumps_out() const {
  return has_open_jump_ || std::any_of(steps_.begin(), steps_.end(),
                                       [&](const FrameStep& step) { return is_jump(step) && !contains(step.target); });
}

Returns FrameProof::returns_by_paths(const ReturnsOf& returns_of) const {
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
    if (is_jump(*step)) {
      const Returns other = contains(step->target) ? Returns::kNever : returns_of(step->target);
      if (contains(step->target)) from.push_back(step->target);
      if (other == Returns::kYes) return other;
      if (other != Returns::kNever) found = Returns::kUnknown;
    }
    if (!goes_on(*step)) continue;
    if (step->kind == Kind::kCall && !is_push_of_place(*step)) {
      const Returns called = step->target == 0 ? Returns::kUnknown : returns_of(step->target);
      if (called == Returns::kNever) continue;
      if ((called != Returns::kYes && !function_.end_is_known) || may_end_behind(*step)) {
        found = Returns::kUnknown;
        continue;
      }
      // The last instruction of a function may be a call that never returns.
      if (called != Returns::kYes && step_at(step->next()) == nullptr) {
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
  // Which ends confirm a frame: those by which the function returns, or also what can only be a tail call.
  // Or direct jumps to what may not return: compilers make no tail calls of functions that never do.
  enum class Ends : std::uint8_t { kReturns, kAll, kJumps };

  Run(const FrameProof& proof, const ReturnsOf& returns_of)
      : proof_(proof), returns_of_(returns_of), nodes_(proof.steps_.size()) {}

  // False: there is no proof.
  bool follow() {
    arrive(proof_.function_.range.low, state_at_entry(), Path::kCertain);
    for (std::size_t visits = 0; !pending_.empty(); visits++) {
      if (visits > nodes_.size() * kMostVisits) return false;
      const std::size_t number = pending_.back();
      pending_.pop_back();
      nodes_[number].is_pending = false;
      leave(proof_.steps_[number], nodes_[number]);
    }
    check_ends();
    return !is_wrong_;
  }

  // After follow().
  [[nodiscard]] std::vector<ProvenFrame> collect(const Entered& entered) const {
    const bool weak_ones = proof_.function_.end_is_known && !proof_.has_open_jump_;
    const bool stays = !weak_ones && never_leaves();
    const bool has_weak = std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.is_weak(); });
    const std::vector<bool> confirmed = has_weak && !weak_ones ? confirm(Ends::kAll) : std::vector<bool>(nodes_.size());
    std::vector<ProvenFrame> found;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached) continue;
      const bool is_believed = !node.is_weak() || weak_ones || confirmed[i] || (stays && node.path == Path::kWeak);
      // Behind its end, a function whose end is a guess would jump with the frame of another one.
      if (is_believed || proof_.function_.end_is_known) enter_others(step, node.state, entered);
      if (!is_believed) continue;
      if (node.state.is_root ? is_outermost_ && !node.is_weak() : node.state.has_cfa() && step.next() <= limit_)
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

  // After follow(). Whether an end confirms the frame at the function's start.
  [[nodiscard]] bool is_confirmed(Ends ends) const {
    const FrameStep* start = proof_.step_at(proof_.function_.range.low);
    return start != nullptr && confirm(ends)[proof_.step_number(*start)];
  }

  // After follow(). Of direct calls, those behind which the code is confirmed.
  [[nodiscard]] std::vector<std::uint64_t> seen_to_return() const {
    std::vector<std::uint64_t> found;
    const std::vector<bool> confirmed = confirm(Ends::kReturns);
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const FrameStep* next = step.kind == Kind::kCall ? proof_.step_at(step.next()) : nullptr;
      if (next == nullptr || !confirmed[i] || step.target == 0 || is_own(step) || is_push_of_place(step)) continue;
      const FrameState& there = nodes_[proof_.step_number(*next)].state;
      const bool same = nodes_[i].state.stack && nodes_[i].state.stack == there.stack;
      if (same && is_aligned(there) && confirmed[proof_.step_number(*next)] &&
          (returns_of_(step.target) == Returns::kNoFunction || returns_of_(step.target) == Returns::kUnknown))
        found.push_back(step.target);
    }
    return found;
  }

  // After follow(). Whether a path that is certain says that no function begins where this one does.
  [[nodiscard]] bool is_contradicted() const {
    if (comes_to_no_code_ || takes_return_address_ != UINT64_MAX) return true;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached || node.is_weak() || is_as_at_entry(node.state)) continue;
      if (step.kind == Kind::kReturn) return true;
      if (jumps_out(step) && returns_of_(step.target) != Returns::kNoFunction) return true;
      if (runs_out(step)) return true;
    }
    return false;
  }

  // After follow(), which may have found no proof.
  [[nodiscard]] bool returns_elsewhere() const {
    bool reads_return_address = false;
    for (std::size_t i = 0; i < nodes_.size(); i++)
      reads_return_address =
          reads_return_address || (nodes_[i].is_reached && reads_it(proof_.steps_[i], nodes_[i].state));
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const FrameState& state = nodes_[i].state;
      if (!nodes_[i].is_reached || nodes_[i].is_weak()) continue;
      const bool is_moved = state.is_root || (state.stack && *state.stack != kFrameWord);
      if (step.kind == Kind::kReturn && (is_moved || step.value != 0)) return true;
      if (is_open(step) && is_moved && (state.is_root || reads_return_address)) return true;
      if (jumps_out(step) && is_as_at_entry(state) && returns_of_(step.target) == Returns::kElsewhere) return true;
    }
    return false;
  }

  // After follow(). Whether the code begins by pushing a register of its caller, calls something, and has the stack
  // aligned at each call.
  [[nodiscard]] bool keeps_abi() const {
    if (!proof_.saves_register()) return false;
    bool calls = false;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const FrameState& state = nodes_[i].state;
      if (!nodes_[i].is_reached || step.kind != Kind::kCall || is_push_of_place(step)) continue;
      if (state.stack && !is_aligned(state)) return false;
      calls = calls || is_aligned(state);
    }
    return calls;
  }

  // The same of a function that never leaves.
  [[nodiscard]] bool never_leaves() const {
    const auto leaves = [&](const FrameStep& step) {
      return step.kind == Kind::kReturn || jumps_out(step) || is_open(step) || runs_out(step);
    };
    for (std::size_t i = 0; i < nodes_.size(); i++)
      if (nodes_[i].is_reached && leaves(proof_.steps_[i])) return false;
    return keeps_abi();
  }

 private:
  // How the processor comes there. kDoubtful: weak, behind a direct call of a function of which nothing is known.
  enum class Path : std::uint8_t { kCertain, kWeak, kDoubtful };
  struct Node {
    FrameState state;
    bool is_reached = false;
    Path path = Path::kCertain;
    bool is_pending = false;

    [[nodiscard]] bool is_weak() const { return path != Path::kCertain; }
  };

  void arrive(std::uint64_t address, const FrameState& state, Path path) {
    const FrameStep* step = proof_.step_at(address);
    if (step == nullptr) {
      comes_to_no_code_ = comes_to_no_code_ || (path == Path::kCertain && proof_.contains(address));
      return;
    }
    const std::size_t number = proof_.step_number(*step);
    Node& node = nodes_[number];
    const Node before = node;
    if (!node.is_reached || path < node.path) {
      node.state = state;
      node.path = path;
    } else if (node.path == path) {
      meet(node.state, state);
    }
    node.is_reached = true;
    if (before.is_reached && before.path == node.path && before.state == node.state) return;
    if (!node.is_pending) pending_.push_back(number);
    node.is_pending = true;
  }

  [[nodiscard]] bool jumps_out(const FrameStep& step) const { return is_jump(step) && !proof_.contains(step.target); }
  // Whether it loads the function's return address.
  [[nodiscard]] static bool reads_it(const FrameStep& step, const FrameState& state) {
    if (step.stores || step.bytes != kFrameWord || step.kind != Kind::kOther) return false;
    const auto& base = step.base == FrameStep::Base::kStack ? state.stack : state.frame;
    return step.base != FrameStep::Base::kNone && base && *base - step.place == kFrameWord;
  }
  [[nodiscard]] bool runs_out(const FrameStep& step) const {
    return goes_on(step) && step.kind != Kind::kCall && !proof_.contains(step.next());
  }
  [[nodiscard]] bool is_open(const FrameStep& step) const {
    return step.kind == Kind::kIndirect && proof_.table_of(step.address) == nullptr;
  }

  // A subroutine of the function's own has a frame of its own.
  [[nodiscard]] bool is_own(const FrameStep& call) const {
    return call.target != 0 && call.target != proof_.function_.range.low && proof_.contains(call.target);
  }

  [[nodiscard]] Returns returns_behind(const FrameStep& call) const {
    if (call.target == 0 || is_own(call)) return Returns::kUnknown;
    const Returns returns = returns_of_(call.target);
    const bool is_unknown =
        returns == Returns::kNoFunction || returns == Returns::kSometimes || proof_.may_end_behind(call);
    return is_unknown && returns != Returns::kNever ? Returns::kUnknown : returns;
  }

  // Whether the call is by a pointer, or of a function that returns, to others at least.
  [[nodiscard]] bool is_known_or_pointer(const FrameStep& call) const {
    if (call.target == 0 || is_own(call)) return true;
    const Returns returns = returns_of_(call.target);
    return returns == Returns::kYes || returns == Returns::kElsewhere || returns == Returns::kSometimes;
  }

  // Calls go(target, state, path) for each place in the function where the processor may go on.
  template <typename Go>
  void for_each_way(const FrameStep& step, const Node& node, const Go& go) const {
    if (is_jump(step) && proof_.contains(step.target)) go(step.target, node.state, node.path);
    if (step.kind == Kind::kIndirect)
      if (const auto* table = proof_.table_of(step.address))
        for (const std::uint64_t target : *table)
          if (proof_.contains(target)) go(target, node.state, node.path);
    if (!goes_on(step)) return;
    FrameState state = node.state;
    Path path = node.path;
    if (is_push_of_place(step)) {
      move_stack(state, -kFrameWord);
    } else if (step.kind == Kind::kCall) {
      const Returns returns = returns_behind(step);
      if (step.target != 0 && returns_of_(step.target) == Returns::kElsewhere) state.stack.reset();
      const bool ends = returns == Returns::kUnknown && returns_of_(step.next()) != Returns::kNoFunction;
      if (returns == Returns::kNever || ends) return;
      if (returns == Returns::kUnknown)
        path = std::max(path, is_known_or_pointer(step) ? Path::kWeak : Path::kDoubtful);
    } else {
      apply_step(step, state);
    }
    if (proof_.contains(step.next())) go(step.next(), state, path);
  }

  void leave(const FrameStep& step, const Node& from) {
    const Node node = from;
    if (step.kind == Kind::kCall && is_own(step) && !is_push_of_place(step))
      arrive(step.target, state_at_entry(), Path::kCertain);
    for_each_way(step, node, [&](std::uint64_t target, FrameState state, Path path) {
      if (state.stack && *state.stack < kFrameWord) {
        takes_return_address_ = std::min(takes_return_address_, step.address);
        state = nothing_known();
        state.is_root = true;
      }
      arrive(target, state, path);
    });
  }

  void enter_others(const FrameStep& step, FrameState state, const Entered& entered) const {
    if (jumps_out(step)) entered(step.target, state);
    if (!runs_out(step)) return;
    apply_step(step, state);
    entered(step.next(), state);
  }

  // What the ends of the function say of the proof, once nothing changes any more.
  void check_ends() {
    bool root_ends = false;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached) continue;
      if (step.is_system_call) first_system_call_ = std::min(first_system_call_, step.next());
      const bool is_elsewhere = node.state.stack && *node.state.stack != kFrameWord;
      if (step.kind == Kind::kReturn && is_elsewhere && !node.is_weak()) is_wrong_ = true;
      root_ends = root_ends || (node.state.is_root &&
                                (jumps_out(step) || runs_out(step) || is_open(step) || step.kind == Kind::kReturn));
    }
    if (takes_return_address_ == UINT64_MAX) return;
    limit_ = first_system_call_;
    if (takes_return_address_ < limit_ || limit_ == UINT64_MAX) is_wrong_ = true;
    is_outermost_ = !root_ends;
  }

  [[nodiscard]] bool ends_well(const FrameStep& step, const FrameState& state, Ends ends) const {
    if (!is_as_at_entry(state)) return false;
    if (ends == Ends::kJumps && jumps_out(step)) return true;
    if (is_open(step)) return ends == Ends::kAll && proof_.saves_register();
    return step.kind == Kind::kReturn || (jumps_out(step) && returns_of_(step.target) == Returns::kYes);
  }

  // For each node whether its frame is confirmed: by an end that it leads to, or by another one from which the
  // processor comes there without a call that may not return.
  [[nodiscard]] std::vector<bool> confirm(Ends ends) const {
    std::vector<std::vector<std::size_t>> confirms(nodes_.size());
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const FrameStep& step = proof_.steps_[i];
      const Node& node = nodes_[i];
      if (!node.is_reached || !node.state.has_cfa()) continue;
      if (ends_well(step, node.state, ends)) found.push_back(i);
      const bool may_not_return =
          step.kind == Kind::kCall && !is_push_of_place(step) && returns_behind(step) == Returns::kUnknown;
      if (may_not_return && node.state.stack && !is_aligned(node.state)) continue;
      for_each_way(step, node, [&](std::uint64_t target, const FrameState& state, Path) {
        const FrameStep* next = proof_.step_at(target);
        if (next == nullptr) return;
        const std::size_t number = proof_.step_number(*next);
        const FrameState& there = nodes_[number].state;
        const bool same = (state.stack && state.stack == there.stack) || (state.frame && state.frame == there.frame);
        if (!same || !nodes_[number].is_reached) return;
        confirms[number].push_back(i);
        if (!may_not_return) confirms[i].push_back(number);
      });
    }
    std::vector<bool> confirmed(nodes_.size());
    while (!found.empty()) {
      const std::size_t number = found.back();
      found.pop_back();
      if (confirmed[number]) continue;
      confirmed[number] = true;
      found.insert(found.end(), confirms[number].begin(), confirms[number].end());
    }
    return confirmed;
  }

  const FrameProof& proof_;
  const ReturnsOf& returns_of_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> pending_;
  std::uint64_t takes_return_address_ = UINT64_MAX;
  std::uint64_t first_system_call_ = UINT64_MAX;  // its end
  std::uint64_t limit_ = UINT64_MAX;
  bool is_wrong_ = false;
  bool comes_to_no_code_ = false;
  bool is_outermost_ = false;  // what has taken its return address
};

Returns FrameProof::returns(const ReturnsOf& returns_of) const {
  const Returns found = returns_by_paths(returns_of);
  if (found != Returns::kUnknown || function_.end_is_known) return found;
  Run run(*this, returns_of);
  if (!run.follow()) return found;
  if (run.is_confirmed(Run::Ends::kReturns)) return Returns::kYes;
  return run.is_confirmed(Run::Ends::kJumps) ? Returns::kSometimes : found;
}

bool FrameProof::returns_elsewhere(const ReturnsOf& returns_of) const {
  Run run(*this, returns_of);
  run.follow();
  return run.returns_elsewhere();
}

std::vector<std::uint64_t> FrameProof::seen_to_return(const ReturnsOf& returns_of) const {
  Run run(*this, returns_of);
  return run.follow() ? run.seen_to_return() : std::vector<std::uint64_t>();
}

bool FrameProof::begins_function(const ReturnsOf& returns_of) const {
  if (steps_.size() < 2) return false;
  Run run(*this, returns_of);
  return run.follow() && !run.is_contradicted() && (run.is_confirmed(Run::Ends::kAll) || run.never_leaves());
}

bool FrameProof::keeps_abi(const ReturnsOf& returns_of) const {
  Run run(*this, returns_of);
  return saves_register() && run.follow() && run.keeps_abi();
}

std::vector<ProvenFrame> FrameProof::prove(const ReturnsOf& returns_of, const Entered& entered) const {
  Run run(*this, returns_of);
  const bool is_sound = run.follow();
  std::vector<ProvenFrame> found = run.collect(entered);
  return is_sound ? found : std::vector<ProvenFrame>();
}

}  // namespace uscope::symbolizer
