// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a list of times says of a stack. Stacks that differ in kernel frames only are one: of a call, of the time that
// it spent off the CPU, and of a sample within it.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

struct TimeFunction {
  std::string function;  // empty: no stack, or none of user space
  std::string module;
  bool fallback = false;  // of a trigger: it is not part of the application
  auto operator<=>(const TimeFunction&) const = default;
};

class TimeStacks {
 public:
  struct Stack {
    StackRowId same;  // the first stack that was asked for with these frames of user space; none: no stack
    TimeFunction innermost;
    TimeFunction trigger;
  };

  [[nodiscard]] static Result<TimeStacks> create(const store::Database& database);

  // Of a stack, or of none. The pointer is valid as long as this object.
  Result<const Stack*> find(StackRowId id);
  // Functions of user space, root first, joined by `;`.
  Result<std::string> folded(StackRowId id);

 private:
  TimeStacks(store::Statement facts, store::Statement frames, store::Statement function)
      : facts_(std::move(facts)), frames_(std::move(frames)), function_(std::move(function)) {}
  Result<TimeFunction> function_of(FrameRowId id);

  store::Statement facts_;
  store::Statement frames_;
  store::Statement function_;
  std::map<std::vector<FrameRowId>, StackRowId> same_;
  std::unordered_map<StackRowId, Stack> stacks_;
  std::unordered_map<FrameRowId, TimeFunction> functions_;
};

}  // namespace uscope::analyzer
