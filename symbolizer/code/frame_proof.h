// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the caller's frame is at each instruction of a function, proven by the function's code alone: for functions
// without call frame information. frame_proof.cpp says what counts as a proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "symbolizer/code/frame_state.h"
#include "symbolizer/code/frame_steps.h"
#include "symbolizer/code/function_ends.h"

namespace uscope::symbolizer {

struct ProvenFrame {
  CodeRange range;  // of one instruction
  FrameState state;
};

// A function whose end is a guess (the next start that is known) may run into another one behind a call.
struct ProvenFunction {
  CodeRange range;
  bool end_is_known = true;
  bool is_at_fixed_address = false;  // constants in instructions may be addresses
};

// Whether a function returns. kNoFunction: none is known to begin there. kSometimes: other calls of it return, or
// it ends with a tail call. kElsewhere: with another rsp than functions return with.
enum class Returns : std::uint8_t { kNoFunction, kUnknown, kSometimes, kYes, kElsewhere, kNever };

class FrameProof {
 public:
  // The targets of an indirect jump if all of them are known; else nothing.
  using Tables = std::function<std::vector<IndirectJump>(const CodeRange& function)>;

  // Decodes what can be reached. `code`: the whole function's.
  FrameProof(const ProvenFunction& function, std::span<const std::byte> code, const Tables& tables);

  [[nodiscard]] const ProvenFunction& function() const { return function_; }
  // Of direct calls that leave the function; if its end is a guess, also of those within it.
  [[nodiscard]] const std::vector<std::uint64_t>& calls() const { return calls_; }
  // What the code names without calling it: constants that may be addresses, and where its direct jumps lead that leave
  // the function.
  [[nodiscard]] const std::vector<std::uint64_t>& names() const { return names_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  [[nodiscard]] bool has_return() const;
  [[nodiscard]] bool restores_registers() const;
  [[nodiscard]] bool jumps_out() const;

  using ReturnsOf = std::function<Returns(std::uint64_t address)>;
  // Whether the function may return, as far as is known of those that it calls.
  [[nodiscard]] Returns returns(const ReturnsOf& returns_of) const;

  // Whether its code shows that it returns with another rsp: it takes arguments from the stack (`ret 16`), or is a
  // helper that saves registers or makes room for its caller.
  [[nodiscard]] bool returns_elsewhere(const ReturnsOf& returns_of) const;

  // Functions of which it is not known whether they return, but that the code goes on behind calls of them.
  [[nodiscard]] std::vector<std::uint64_t> seen_to_return(const ReturnsOf& returns_of) const;

  // Whether the code itself shows that a function begins there, of which nothing but an address is known.
  [[nodiscard]] bool begins_function(const ReturnsOf& returns_of) const;

  // Whether it begins by pushing a register of its caller, and calls something, always with an aligned stack.
  [[nodiscard]] bool keeps_abi(const ReturnsOf& returns_of) const;

  // Jumps of another function that are no calls: what is known of the frame where they lead.
  using Entered = std::function<void(std::uint64_t address, const FrameState& state)>;
  // The frames, ascending and disjoint.
  [[nodiscard]] std::vector<ProvenFrame> prove(const ReturnsOf& returns_of, const Entered& entered) const;

 private:
  class Run;
  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= function_.range.low && address < function_.range.high;
  }
  [[nodiscard]] const FrameStep* step_at(std::uint64_t address) const;
  void add_step(const FrameStep& step);
  [[nodiscard]] std::size_t step_number(const FrameStep& step) const;
  [[nodiscard]] const std::vector<std::uint64_t>* table_of(std::uint64_t jump) const;
  [[nodiscard]] bool saves_register() const;
  [[nodiscard]] bool may_end_behind(const FrameStep& call) const;
  [[nodiscard]] Returns returns_by_paths(const ReturnsOf& returns_of) const;
  void note_names(const Instruction& one, const FrameStep& step);
  void decode(std::span<const std::byte> code, std::vector<std::uint64_t> from);
  void follow_tables(std::span<const std::byte> code, const Tables& tables);

  ProvenFunction function_;
  std::vector<FrameStep> steps_;
  // For each byte: 1 more than the number of the step that begins there; in pages, empty where none does.
  std::vector<std::vector<std::uint32_t>> at_;
  std::vector<std::uint64_t> calls_;
  std::vector<std::uint64_t> names_;
  std::vector<IndirectJump> tables_;
  bool has_open_jump_ = false;
};

}  // namespace uscope::symbolizer
