// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the caller's frame is at each instruction of a function, proven by the function's code alone: for functions
// without call frame information. frame_proof.cpp says what counts as a proof.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "symbolizer/code/frame_steps.h"
#include "symbolizer/code/function_ends.h"

namespace uscope::symbolizer {

struct FrameState {
  // Where the caller's value of a register is. `slot`: saved at CFA - slot; 0: not saved.
  struct Saved {
    bool kept = true;
    std::int32_t slot = 0;
    bool operator==(const Saved&) const = default;
  };
  std::optional<std::int32_t> stack;  // CFA - rsp
  std::optional<std::int32_t> frame;  // CFA - rbp, where rbp is a frame pointer
  std::array<Saved, USC_SAVED_REGS> saved{};
  bool operator==(const FrameState&) const = default;

  [[nodiscard]] bool has_cfa() const { return stack || frame; }
};

struct ProvenFrame {
  CodeRange range;  // of one instruction
  FrameState state;
};

// A function whose end is a guess (the next start that is known) may run into another one behind a call.
struct ProvenFunction {
  CodeRange range;
  bool end_is_known = true;
};

enum class Returns : std::uint8_t { kUnknown, kYes, kNever };

class FrameProof {
 public:
  // The targets of an indirect jump if all of them are known; else nothing.
  using Tables = std::function<std::vector<IndirectJump>(const CodeRange& function)>;

  // Decodes what can be reached. `code`: the whole function's.
  FrameProof(const ProvenFunction& function, std::span<const std::byte> code, const Tables& tables);

  [[nodiscard]] const ProvenFunction& function() const { return function_; }
  // Of direct calls and jumps that leave the function.
  [[nodiscard]] const std::vector<std::uint64_t>& calls() const { return calls_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  [[nodiscard]] bool has_return() const;
  [[nodiscard]] bool restores_registers() const;
  [[nodiscard]] bool jumps_out() const;

  using ReturnsOf = std::function<Returns(std::uint64_t address)>;
  // Whether the function may return, as far as is known of those that it calls.
  [[nodiscard]] Returns returns(const ReturnsOf& returns_of) const;

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
  [[nodiscard]] std::size_t step_number(const FrameStep& step) const;
  [[nodiscard]] const std::vector<std::uint64_t>* table_of(std::uint64_t jump) const;
  [[nodiscard]] bool may_end_behind(const FrameStep& call) const;
  void decode(std::span<const std::byte> code, std::vector<std::uint64_t> from);
  void follow_tables(std::span<const std::byte> code, const Tables& tables);

  ProvenFunction function_;
  std::vector<FrameStep> steps_;
  std::vector<std::uint32_t> at_;  // for each byte: 1 more than the number of the step that begins there
  std::vector<std::uint64_t> calls_;
  std::vector<IndirectJump> tables_;
  bool has_open_jump_ = false;
};

}  // namespace uscope::symbolizer
