// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All instructions of a function that a walk from its entry reaches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/code/function_ends.h"
#include "symbolizer/code/instruction.h"
#include "symbolizer/code/register_values.h"

namespace uscope::symbolizer {

class CodeWalk {
 public:
  // `entry`: where a probe of the function's entry stands, in front of which nothing but it leads; 0: where it begins.
  CodeWalk(const CodeSource& source, const CodeRange& function, std::uint64_t entry = 0)
      : source_(source), function_(function), entry_(std::max(entry, function.low)) {}

  // Once. An error says in `what` why the code cannot be known.
  Result<void> run();

  // Whether an instruction begins there that the walk has reached.
  [[nodiscard]] bool has_reached(std::uint64_t address) const;
  // Whether an instruction that the walk has reached begins before it, and ends behind it.
  [[nodiscard]] bool is_inside_instruction(std::uint64_t address) const;
  // Whether it has indirect jumps whose targets are not known.
  [[nodiscard]] bool has_open_ends() const;
  // Whether its code refers to bytes of its own as data.
  [[nodiscard]] bool refers_to_itself() const { return refers_to_itself_; }
  [[nodiscard]] FunctionEnds take_ends() { return std::move(ends_); }

 private:
  // kDead: only a trap, or a call that never returns, leads there.
  enum class Mark : std::uint8_t { kNone, kStart, kInside, kDead };
  struct Part {
    CodeRange range;
    std::vector<std::byte> code;
    std::vector<Mark> marks;
  };
  struct Path {
    std::uint64_t address = 0;
    RegisterValues values;
    bool after_call = false;                           // only nops since a call
    bool pushed = false;                               // the last instruction has put on the stack where a `ret` leads
    std::optional<Instruction> before = std::nullopt;  // a `pop`, if that was the last instruction
  };
  // A table whose length no comparison tells.
  struct OpenTable {
    Value entry;
    std::uint64_t read = 0;  // entries
  };

  Result<void> add_part(const CodeRange& range);
  Result<void> follow_all();
  Result<void> follow(Path path);
  Result<bool> step(const Instruction& one, Path& path);
  Result<void> mark(Part& part, const Instruction& one);
  Result<void> end(const Instruction& one, const Path& path);
  Result<void> jump_indirectly(const Instruction& one, const Path& path);
  Result<void> go_to(const Instruction& one, std::uint64_t target, const RegisterValues& values, bool taken);
  Result<void> leave(const Instruction& one, std::uint64_t target);
  Result<void> add_jump(const Instruction& one, bool again);
  void look_for_data(const Instruction& one, const RegisterValues& values);
  void look_at_constant(std::uint64_t address, bool is_read);
  bool follow_table(const Value& entry, const RegisterValues& values, std::vector<std::uint64_t>& targets);
  Result<void> follow_open_tables();
  Result<void> follow_labels();
  [[nodiscard]] std::optional<std::uint64_t> label_at(std::uint64_t place) const;
  void note_table(std::uint64_t address);
  void follow_dead_code();
  [[nodiscard]] std::optional<std::uint64_t> table_entry(const Value& entry, std::uint64_t number) const;
  [[nodiscard]] bool begins_thunk(std::uint64_t address) const;
  [[nodiscard]] std::vector<std::uint64_t> unreached() const;
  void doubt(const std::string& why);
  [[nodiscard]] Part* part_of(std::uint64_t address);
  [[nodiscard]] const Part* part_of(std::uint64_t address) const;
  [[nodiscard]] bool overlaps(const CodeRange& part) const;

  const CodeSource& source_;
  CodeRange function_;
  std::uint64_t entry_;
  InstructionDecoder decoder_;
  std::vector<Part> parts_;
  std::vector<Path> paths_;
  std::vector<OpenTable> open_tables_;
  std::vector<std::uint64_t> named_;             // addresses of data whose address the code takes
  std::vector<std::uint64_t> behind_last_ones_;  // behind traps, and calls that never return
  std::uint64_t read_ = 0;
  std::uint64_t entries_ = 0;  // of tables, that were read
  bool refers_to_itself_ = false;
  FunctionEnds ends_;
};

}  // namespace uscope::symbolizer
