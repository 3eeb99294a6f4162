// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/stack_identity.h"

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

std::string renamed(std::string_view path, const ModuleNames& names) {
  std::string name = module_identity(path);
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

}  // namespace

Result<std::vector<ModuleBuild>> read_modules(const store::Database& database, const ModuleNames& names) {
  std::vector<ModuleBuild> modules;
  auto done = each_row(database, "SELECT path, build_id FROM module WHERE class NOT IN ('jit', 'vdso')",
                       [&](const SqlRow& row) {
                         modules.push_back({renamed(row.text(0), names), text(row, 1)});
                       });
  if (!done) return done.error();
  return modules;
}

Result<void> StackIdentity::read_modules() {
  return each_row(database_, "SELECT id, path, class FROM module ORDER BY id", [&](const SqlRow& row) {
    const std::string kind = text(row, 2);
    modules_.append({ModuleRowId(row.integer(0)), renamed(row.text(1), names_), kind == "app", kind == "jit"});
  });
}

Caller StackIdentity::caller(std::string_view function, ModuleRowId module_id) {
  const Module* module = modules_.find(module_id);
  Caller caller{std::string(function), module ? module->name : ""};
  if (!is_nameless(function)) {
    caller.function = function_identity(function);
  } else if (!module || module->memory || !trust_.trusted(module->name)) {
    caller.function = kNameless;
    if (module && !module->memory) nameless_.insert(module->name);
  } else {
    caller.function = module->name + caller.function.substr(caller.function.rfind("+0x"));
  }
  return caller;
}

Result<void> StackIdentity::read_frames() {
  std::unordered_map<std::string, std::uint32_t> known;
  return each_row(database_, "SELECT id, function, module_id FROM frame ORDER BY id", [&](const SqlRow& row) {
    const ModuleRowId module_id(row.integer(2));
    const Caller found = caller(row.text(1), module_id);
    const auto [at, is_new] = known.try_emplace(found.function, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(found.function);
    frames_.append({FrameRowId(row.integer(0)), at->second, module_id});
  });
}

std::uint32_t StackIdentity::number_of(Caller caller) {
  const auto [at, is_new] = numbers_.try_emplace(caller.function + '\0' + caller.module, callers_.size());
  if (is_new) callers_.push_back(std::move(caller));
  return at->second;
}

const StackIdentity::Module* StackIdentity::module_of(FrameRowId frame_id) const {
  const Frame* frame = frames_.find(frame_id);
  return frame ? modules_.find(frame->module_id) : nullptr;
}

// The trigger, then the application's functions that called it.
std::uint32_t StackIdentity::by_depth(const Stack& stack, std::size_t depth) {
  Caller caller;
  std::size_t kept = 0;
  for (const StackFrame& at : stack.frames) {
    const Module* module = module_of(at.frame_id);
    if (!module || kept == depth || (kept == 0 ? !at.trigger : !module->app)) continue;
    if (kept++ == 0)
      caller.module = module->name;
    else
      caller.function += " < ";
    caller.function += texts_[frames_.find(at.frame_id)->text];
  }
  if (kept != 0) return number_of(std::move(caller));
  const Module* module = module_of(stack.trigger);
  return module ? number_of({texts_[frames_.find(stack.trigger)->text], module->name}) : 0;
}

std::uint32_t StackIdentity::by_path(const Stack& stack) {
  Caller caller;
  const std::string* last = nullptr;
  for (auto at = stack.frames.rbegin(); at != stack.frames.rend(); ++at) {
    const Module* module = module_of(at->frame_id);
    if (!module) continue;
    if (at->trigger) caller.module = module->name;
    if (last && *last == module->name) continue;
    if (last) caller.function += " > ";
    caller.function += module->name;
    last = &module->name;
  }
  return last ? number_of(std::move(caller)) : 0;
}

Result<std::unordered_map<StackRowId, std::uint32_t>> StackIdentity::by_trigger() {
  std::unordered_map<StackRowId, std::uint32_t> numbers;
  FrameRowId frame;
  std::uint32_t number = 0;
  auto done = each_row(database_,
                       "SELECT s.id, f.id, f.function, f.module_id FROM stack s JOIN frame f "
                       "ON f.id = s.trigger_frame_id ORDER BY f.id",
                       [&](const SqlRow& row) {
                         if (const FrameRowId next(row.integer(1)); next != frame) {
                           frame = next;
                           number = number_of(caller(row.text(2), ModuleRowId(row.integer(3))));
                         }
                         numbers[StackRowId(row.integer(0))] = number;
                       });
  if (!done) return done.error();
  return numbers;
}

Result<std::unordered_map<StackRowId, std::uint32_t>> StackIdentity::stacks(const MatrixBy& by) {
  if (by.space == MatrixBy::Space::kFunction) return by_trigger();
  if (auto done = read_frames(); !done) return done.error();
  std::unordered_map<StackRowId, std::uint32_t> numbers;
  auto done = each_frames([&](StackRowId id, const Stack& stack) {
    numbers[id] = by.space == MatrixBy::Space::kPath ? by_path(stack) : by_depth(stack, by.depth);
  });
  if (!done) return done.error();
  return numbers;
}

Result<void> StackIdentity::each_stack(const TakeStack& take) {
  if (auto done = read_frames(); !done) return done;
  constexpr std::uint32_t kNotYet = 0;  // of callers(): no frame is that one
  std::unordered_map<FrameRowId, std::uint32_t> callers;
  std::vector<std::uint32_t> frames;
  return each_frames([&](StackRowId id, const Stack& stack) {
    frames.clear();
    for (const StackFrame& at : stack.frames) {
      const Frame* frame = frames_.find(at.frame_id);
      if (!frame) continue;
      std::uint32_t& number = callers[at.frame_id];
      const Module* module = modules_.find(frame->module_id);
      if (number == kNotYet) number = number_of({texts_[frame->text], module ? module->name : ""});
      frames.push_back(number);
    }
    take(id, frames);
  });
}

// Calls `take` for each stack that has frames.
Result<void> StackIdentity::each_frames(const std::function<void(StackRowId, const Stack&)>& take) {
  Stack stack;
  StackRowId id;
  const auto finish = [&] {
    if (!stack.frames.empty()) take(id, stack);
    stack.frames.clear();
  };
  auto done = each_row(database_,
                       "SELECT sf.stack_id, sf.frame_id, s.trigger_frame_id FROM stack_frame sf "
                       "JOIN stack s ON s.id = sf.stack_id ORDER BY sf.stack_id, sf.position, sf.inline_depth",
                       [&](const SqlRow& row) {
                         const StackRowId next(row.integer(0));
                         if (next != id) finish();
                         id = next;
                         stack.trigger = FrameRowId(row.integer(2));
                         stack.frames.push_back({FrameRowId(row.integer(1)), row.integer(1) == row.integer(2)});
                       });
  if (!done) return done.error();
  finish();
  return {};
}

}  // namespace uscope::analyzer
