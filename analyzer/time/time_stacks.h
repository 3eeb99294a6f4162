// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a list of times says of a stack. Stacks with the same functions of user space are one, whatever the kernel's
// are, and wherever in a function a sample met it.
#pragma once

#include <compare>
#include <string>
#include <unordered_map>

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
    StackRowId same;  // the first stack that was asked for with these functions of user space; none: there are none
    TimeFunction innermost;
    TimeFunction trigger;
  };

  [[nodiscard]] static Result<TimeStacks> create(const store::Database& database);

  // Of a stack, or of none. The pointer is valid as long as this object.
  Result<const Stack*> find(StackRowId id);
  // Functions of user space, root first, joined by `;`.
  Result<std::string> folded(StackRowId id);

 private:
  TimeStacks(store::Statement facts, store::Statement innermost, store::Statement function)
      : facts_(std::move(facts)), innermost_(std::move(innermost)), function_(std::move(function)) {}
  Result<TimeFunction> function_of(FrameRowId id);

  store::Statement facts_;
  store::Statement innermost_;
  store::Statement function_;
  std::unordered_map<std::string, StackRowId> same_;  // by folded functions of user space
  std::unordered_map<StackRowId, Stack> stacks_;
  std::unordered_map<FrameRowId, TimeFunction> functions_;
};

}  // namespace uscope::analyzer
