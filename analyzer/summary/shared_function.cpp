// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/shared_function.h"

#include <algorithm>

#include "analyzer/read/query.h"

namespace uscope::analyzer {

Result<SharedFunctions> SharedFunctions::create(const store::Database& database) {
  auto modules = read_trigger_modules(database);
  if (!modules) return modules.error();
  std::unordered_map<ModuleRowId, std::string> paths;
  auto done = each_row(database, "SELECT id, path FROM module",
                       [&](const SqlRow& row) { paths[ModuleRowId(row.integer(0))] = text(row, 1); });
  if (!done) return done.error();
  auto ended = database.prepare("SELECT ended, managed FROM stack WHERE id = ?1");
  if (!ended) return ended.error();
  auto frames = database.prepare(
      "SELECT f.id, f.function, f.module_id, sf.inline_depth, f.file, f.line, f.origin FROM stack_frame sf "
      "JOIN frame f ON f.id = sf.frame_id WHERE sf.stack_id = ?1 AND sf.space = 'user' "
      "ORDER BY sf.position DESC, sf.inline_depth DESC");
  if (!frames) return frames.error();
  return SharedFunctions(std::move(*modules), std::move(paths), std::move(*ended), std::move(*frames));
}

Result<const SharedFunctions::Stack*> SharedFunctions::stack(StackRowId id) {
  const auto [at, is_new] = stacks_.try_emplace(id);
  Stack& stack = at->second;
  if (!is_new) return &stack;
  ended_.bind(1, id);
  auto done = each(ended_, [&](const SqlRow& row) {
    stack.whole = trace::stack_end(row.text(0)) == trace::StackEnd::kRoot;
    stack.managed = row.integer(1) != 0;
  });
  if (!done) return done.error();
  if (!stack.whole) return &stack;
  frames_.bind(1, id);
  done = each(frames_, [&](const SqlRow& row) {
    stack.frames.push_back({.id = FrameRowId(row.integer(0)),
                            .function = text(row, 1),
                            .module = ModuleRowId(row.integer(2)),
                            .origin = text(row, 6),
                            .calls_inlined = row.integer(3) != 0,
                            .place = row.is_null(4) ? "" : text(row, 4) + ":" + text(row, 5)});
  });
  if (!done) return done.error();
  return &stack;
}

// Whether two frames of one function have called the next one from the same place.
bool SharedFunctions::same_call(const Frame& a, const Frame& b) {
  if (a.id == b.id) return true;
  return a.calls_inlined && b.calls_inlined && !a.place.empty() && a.place == b.place;
}

std::optional<SharedFunction> SharedFunctions::innermost_of(const Stack& before, const Stack& after) const {
  if (!before.whole || !after.whole) return std::nullopt;
  std::vector<const Frame*> shared;
  for (std::size_t i = 0; i < std::min(before.frames.size(), after.frames.size()); i++) {
    const Frame& a = before.frames[i];
    const Frame& b = after.frames[i];
    if (a.id != b.id && (a.module != b.module || a.function != b.function)) break;
    shared.push_back(&a);
    if (!same_call(a, b)) break;
  }
  std::reverse(shared.begin(), shared.end());
  const auto frame_of = [&](const Frame* frame) { return trigger_frame(modules_, frame->module, frame->origin); };
  if (shared.empty()) return std::nullopt;
  auto found = trace::find_trigger(shared, frame_of, {trace::StackEnd::kRoot, after.managed});
  const bool entry = trace::ends_in_entry(shared, frame_of, trace::StackEnd::kRoot);
  if (found && entry && found->position + 1 == shared.size()) found.reset();
  // If only the run time and the entry point are shared, it is the innermost of their functions.
  const Frame& frame = *shared[found ? found->position : 0];
  const auto path = paths_.find(frame.module);
  return SharedFunction{.function = frame.function,
                        .module = path == paths_.end() ? "" : path->second,
                        .fallback = !found || found->kind != trace::TriggerKind::kApplication};
}

Result<std::optional<SharedFunction>> SharedFunctions::innermost(StackRowId before, StackRowId after) {
  const auto [at, is_new] = known_.try_emplace({before, after});
  if (!is_new) return at->second;
  auto first = stack(before);
  if (!first) return first.error();
  auto second = stack(after);
  if (!second) return second.error();
  at->second = innermost_of(**first, **second);
  return at->second;
}

}  // namespace uscope::analyzer
