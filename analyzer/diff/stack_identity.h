// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The second dimension of the matrix, read from a store: frames and stacks as texts that hold across runs.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/diff/matrix.h"
#include "analyzer/read/ordered.h"

namespace uscope::analyzer {

struct Caller {
  std::string function;
  std::string module;
};

class StackIdentity {
 public:
  // All arguments refer to objects that must outlive this one.
  StackIdentity(const store::Database& database, const ModuleNames& names, const OffsetTrust& trust)
      : database_(database), names_(names), trust_(trust) {}

  Result<void> read_modules();

  // A frame's function and module. Records the modules whose nameless functions became one.
  Caller caller(std::string_view function, ModuleRowId module_id);

  // For each stack of the store, the index of its caller in callers(); index 0 means no caller.
  Result<std::unordered_map<StackRowId, std::uint32_t>> stacks(const MatrixBy& by);
  [[nodiscard]] const std::vector<Caller>& callers() const { return callers_; }

  // Calls `take` for each stack that has frames, with its frames as indexes in callers(), innermost first.
  using TakeStack = std::function<void(StackRowId, const std::vector<std::uint32_t>&)>;
  Result<void> each_stack(const TakeStack& take);

  [[nodiscard]] const std::set<std::string>& nameless() const { return nameless_; }

 private:
  struct Module {
    ModuleRowId id;
    std::string name;
    bool app = false;
    bool memory = false;  // code without a file: its addresses mean nothing in another run
  };
  struct Frame {
    FrameRowId id;
    std::uint32_t text = 0;  // in texts_
    ModuleRowId module_id;
  };
  struct StackFrame {
    FrameRowId frame_id;
    bool trigger = false;
  };
  struct Stack {
    std::vector<StackFrame> frames;
    FrameRowId trigger;  // may be none, or in no stack: one that was cut
  };

  Result<void> read_frames();
  Result<void> each_frames(const std::function<void(StackRowId, const Stack&)>& take);
  std::uint32_t number_of(Caller caller);
  Result<std::unordered_map<StackRowId, std::uint32_t>> by_trigger();
  std::uint32_t by_depth(const Stack& stack, std::size_t depth);
  std::uint32_t by_path(const Stack& stack);
  [[nodiscard]] const Module* module_of(FrameRowId frame_id) const;

  const store::Database& database_;
  const ModuleNames& names_;
  const OffsetTrust& trust_;
  Ordered<Module> modules_;
  Ordered<Frame> frames_;
  std::vector<std::string> texts_;
  std::vector<Caller> callers_{Caller{}};
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::set<std::string> nameless_;
};

}  // namespace uscope::analyzer
