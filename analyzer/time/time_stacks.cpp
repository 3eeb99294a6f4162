// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/time/time_stacks.h"

#include <string_view>
#include <utility>

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

// A folded stack without the kernel's functions, which are the innermost ones.
std::string of_user_space(std::string folded) {
  constexpr std::string_view kKernel = "_[k]";
  while (folded.ends_with(kKernel)) {
    const std::size_t before = folded.rfind(';');
    folded.resize(before == std::string::npos ? 0 : before);
  }
  return folded;
}

}  // namespace

Result<TimeStacks> TimeStacks::create(const store::Database& database) {
  auto facts = database.prepare("SELECT trigger_frame_id, trigger_fallback, folded FROM stack WHERE id = ?1");
  if (!facts) return facts.error();
  auto innermost = database.prepare(
      "SELECT frame_id FROM stack_frame WHERE stack_id = ?1 AND space = 'user' ORDER BY position, inline_depth LIMIT "
      "1");
  if (!innermost) return innermost.error();
  auto function = database.prepare(
      "SELECT f.function, m.path FROM frame f LEFT JOIN module m ON m.id = f.module_id WHERE f.id = ?1");
  if (!function) return function.error();
  return TimeStacks(std::move(*facts), std::move(*innermost), std::move(*function));
}

Result<TimeFunction> TimeStacks::function_of(FrameRowId id) {
  if (!id) return TimeFunction();
  const auto known = functions_.find(id);
  if (known != functions_.end()) return known->second;
  TimeFunction found;
  function_.bind(1, id);
  auto done = each(function_, [&](const SqlRow& row) {
    found.function = text(row, 0);
    found.module = text(row, 1);
  });
  if (!done) return done.error();
  functions_[id] = found;
  return found;
}

Result<const TimeStacks::Stack*> TimeStacks::find(StackRowId id) {
  const auto known = stacks_.find(id);
  if (known != stacks_.end()) return &known->second;
  Stack stack;
  FrameRowId trigger;
  FrameRowId innermost;
  std::string folded;
  if (id) {
    facts_.bind(1, id);
    auto done = each(facts_, [&](const SqlRow& row) {
      trigger = FrameRowId(row.integer(0));
      stack.trigger.fallback = row.integer(1) != 0;
      folded = of_user_space(text(row, 2));
    });
    if (!done) return done.error();
    innermost_.bind(1, id);
    done = each(innermost_, [&](const SqlRow& row) { innermost = FrameRowId(row.integer(0)); });
    if (!done) return done.error();
  }
  auto found = function_of(innermost);
  if (!found) return found.error();
  stack.innermost = std::move(*found);
  found = function_of(trigger);
  if (!found) return found.error();
  const bool fallback = stack.trigger.fallback && !found->function.empty();
  stack.trigger = std::move(*found);
  stack.trigger.fallback = fallback;
  if (innermost) stack.same = same_.try_emplace(std::move(folded), id).first->second;
  return &stacks_.emplace(id, std::move(stack)).first->second;
}

Result<std::string> TimeStacks::folded(StackRowId id) {
  std::string folded;
  facts_.bind(1, id);
  auto done = each(facts_, [&](const SqlRow& row) { folded = of_user_space(text(row, 2)); });
  if (!done) return done.error();
  return folded;
}

}  // namespace uscope::analyzer
