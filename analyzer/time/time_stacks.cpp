// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/time/time_stacks.h"

#include <string_view>
#include <utility>

#include "analyzer/read/query.h"

namespace uscope::analyzer {

Result<TimeStacks> TimeStacks::create(const store::Database& database) {
  auto facts = database.prepare("SELECT trigger_frame_id, trigger_fallback, folded FROM stack WHERE id = ?1");
  if (!facts) return facts.error();
  auto frames = database.prepare(
      "SELECT frame_id FROM stack_frame WHERE stack_id = ?1 AND space = 'user' ORDER BY position, inline_depth");
  if (!frames) return frames.error();
  auto function = database.prepare(
      "SELECT f.function, m.path FROM frame f LEFT JOIN module m ON m.id = f.module_id WHERE f.id = ?1");
  if (!function) return function.error();
  return TimeStacks(std::move(*facts), std::move(*frames), std::move(*function));
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
  bool fallback = false;
  std::vector<FrameRowId> frames;
  if (id) {
    facts_.bind(1, id);
    auto done = each(facts_, [&](const SqlRow& row) {
      trigger = FrameRowId(row.integer(0));
      fallback = row.integer(1) != 0;
    });
    if (!done) return done.error();
    frames_.bind(1, id);
    done = each(frames_, [&](const SqlRow& row) { frames.emplace_back(row.integer(0)); });
    if (!done) return done.error();
  }
  auto innermost = function_of(frames.empty() ? FrameRowId() : frames.front());
  if (!innermost) return innermost.error();
  stack.innermost = std::move(*innermost);
  auto asked = function_of(trigger);
  if (!asked) return asked.error();
  stack.trigger = std::move(*asked);
  stack.trigger.fallback = fallback && !stack.trigger.function.empty();
  if (!frames.empty()) stack.same = same_.try_emplace(std::move(frames), id).first->second;
  return &stacks_.emplace(id, std::move(stack)).first->second;
}

Result<std::string> TimeStacks::folded(StackRowId id) {
  std::string folded;
  facts_.bind(1, id);
  auto done = each(facts_, [&](const SqlRow& row) { folded = text(row, 2); });
  if (!done) return done.error();
  constexpr std::string_view kKernel = "_[k]";
  while (folded.ends_with(kKernel)) {
    const std::size_t before = folded.rfind(';');
    folded.resize(before == std::string::npos ? 0 : before);
  }
  return folded;
}

}  // namespace uscope::analyzer
