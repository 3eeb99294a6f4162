// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks with kernel frames above the user's: what was logged by another module.
#include <fmt/core.h>

#include <optional>
#include <string>

#include "store/write/frame_writer.h"
#include "trace/names.h"

namespace uscope::store {

Result<ModuleRowId> FrameWriter::kernel_module(const std::string& name) {
  ModuleRowId& id = kernel_modules_[name];
  if (id) return id;
  Module module;
  module.path = name.empty() ? "[kernel: made at run time]" : "[" + name + "]";
  modules_.push_back(module);
  id = ModuleRowId(static_cast<std::uint32_t>(modules_.size()));
  auto done = module_rows_->add(id, module.path, std::nullopt, LastingText{"kernel"});
  if (!done) return done.error();
  return id;
}

// One address may have been announced as two places.
Result<FrameRowId> FrameWriter::kernel_frame(trace::PlaceId place) {
  FrameRowId& row = kernel_frames_[place];
  if (row) return row;
  static const KernelPlace kUnknown{.module = "", .offset = 0, .function = "[unknown]", .function_offset = {}};
  const KernelPlace* known = definitions_.logged_stacks.place(place);
  const KernelPlace& facts = known != nullptr ? *known : kUnknown;
  const std::string text =
      fmt::format("{}+{} {}+{}", facts.module, facts.offset, facts.function, facts.function_offset.value_or(0));
  FrameRowId& same = kernel_frame_places_[text];
  if (!same) {
    auto module = kernel_module(facts.module);
    if (!module) return module.error();
    functions_.push_back({facts.function});
    same = FrameRowId(static_cast<std::uint32_t>(functions_.size()));
    auto done = frame_rows_->add(*module, facts.offset, facts.function, facts.function_offset, std::nullopt,
                                 std::nullopt, false, LastingText{trace::origin_name(trace::FunctionOrigin::kOwn)});
    if (!done) return done.error();
  }
  row = same;
  return row;
}

// Depth, end and trigger are the user stack's.
Result<void> FrameWriter::write_logged_stack(LoggedStackNumber number) {
  const LoggedStack& stack = definitions_.logged_stacks.stack(number);
  const StackRowId row = row_of(number);
  static const std::vector<Physical> kNone;
  const std::vector<Physical>& frames = stack.user ? frames_of(stack.user) : kNone;
  const std::uint8_t ended = stack.user ? definitions_.stacks.stack(stack.user).ended : std::uint8_t{USC_ENDED_SCOPE};
  const bool managed = stack.user && is_managed(stack.user);
  auto found = find_trigger(frames, {trace::stack_end(ended), managed});
  if (!found) return found.error();
  const auto [trigger, fallback] = *found;
  triggers_[row.value() - 1] = trigger;
  std::vector<FrameRowId> kernel;
  for (const trace::PlaceId place : stack.places) {
    auto frame = kernel_frame(place);
    if (!frame) return frame.error();
    kernel.push_back(*frame);
  }
  std::string text = folded(frames);
  for (auto frame = kernel.rbegin(); frame != kernel.rend(); ++frame)
    text += (text.empty() ? "" : ";") + functions_[frame->value() - 1].name + "_[k]";
  const std::string ended_text = stack.user ? trace::ended_name(ended) : "kernel";
  if (auto done = stack_rows_->add(frames.size(), ended_text, maybe_id(trigger), fallback, text, managed); !done)
    return done;
  for (std::uint32_t position = 0; position < kernel.size(); position++)
    if (auto done = stack_frame_rows_->add(row, position, 0, kernel[position], LastingText{"kernel"}); !done)
      return done;
  return write_user_frames(row, static_cast<std::uint32_t>(kernel.size()), frames);
}

}  // namespace uscope::store
