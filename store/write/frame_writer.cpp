// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Frames are first gathered and sorted by module, so that each binary's symbols are read once and few are in memory at
// a time; then each distinct (module, address, exact) is named and written, and stacks are put together from them.
//
// Limits: files without a build-id are one module for each serial. Frames in memory without a file have the names that
// were taken from a perf map while tracing, or else their address; each address space has a `[jit]` module for the ones
// and an `[anon]` module for the others.
#include "store/write/frame_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "support/text.h"
#include "trace/frame_address.h"
#include "trace/names.h"
#include "trace/runtime_modules.h"
#include "trace/trigger.h"

namespace uscope::store {

FrameWriter::FrameWriter(DatabaseWriter& database, const Definitions& definitions, symbolizer::FrameNamer& namer)
    : database_(database), definitions_(definitions), namer_(namer) {}

Result<void> FrameWriter::run(const std::function<void(double)>& progress) {
  const std::array<std::pair<std::optional<Statement>*, std::string_view>, 4> statements{{
      {&insert_module_, "INSERT INTO module VALUES(?1, ?2, ?3, ?4)"},
      {&insert_frame_, "INSERT INTO frame VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
      {&insert_stack_, "INSERT INTO stack VALUES(?1, ?2, ?3, ?4, ?5, ?6)"},
      {&insert_stack_frame_, "INSERT INTO stack_frame VALUES(?1, ?2, ?3, ?4, ?5)"},
  }};
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    statement->emplace(std::move(*prepared));
  }
  for (const auto& [serial, file] : definitions_.files)
    if (file.executed && !trace::is_runtime(file.path)) own_libraries_.add_executable(file.path);
  if (auto done = gather(); !done) return done;
  if (auto done = find_main_libraries(); !done) return done;
  if (auto done = name_all([&](double part) { progress(part * 0.9); }); !done) return done;
  triggers_.resize(definitions_.stacks.size() + definitions_.logged_stacks.size());
  for (std::uint32_t number = 1; number <= definitions_.stacks.size(); number++)
    if (auto done = write_stack(StackNumber(number)); !done) return done;
  for (std::uint32_t number = 1; number <= definitions_.logged_stacks.size(); number++)
    if (auto done = write_logged_stack(LoggedStackNumber(number)); !done) return done;
  // The last one of a place's rows is the function itself; those before are inlined there.
  for (const auto& [frame, mm] : definitions_.handlers)
    if (const Physical& place = *by_raw_.at(raw_frame(frame, mm)); place.rows != 0)
      handlers_[{frame, mm}] = FrameRowId(place.first_row.value() + place.rows - 1);
  // Only the triggers and handlers are asked for from now on.
  physical_.clear();
  by_raw_ = {};
  functions_ = {};
  for (const auto& [statement, sql] : statements) statement->reset();
  progress(1);
  return {};
}

FrameWriter::RawFrame FrameWriter::raw_frame(std::uint64_t frame, trace::MmId mm) {
  return {frame, trace::file_of(frame) == trace::kNoFile ? mm : trace::MmId()};
}

// What the perf map said of a frame without a file, null where it said nothing.
const JitName* FrameWriter::jit_name(trace::MmId mm, std::uint64_t pc, bool exact) const {
  const auto found = definitions_.jit_names.find({mm, pc - (exact ? 0 : 1)});
  return found == definitions_.jit_names.end() ? nullptr : &found->second;
}

symbolizer::ModuleRequest FrameWriter::request_for(trace::FileId serial, const std::string& path,
                                                   const FileFacts& file) {
  return {serial, path, {file.build_id, file.key, file.segments}};
}

Result<ModuleRowId> FrameWriter::module_of(const RawFrame& raw) {
  const trace::FileId serial = trace::file_of(raw.frame);
  const bool named = serial == trace::kNoFile &&
                     jit_name(raw.mm, USC_FRAME_OFFSET(raw.frame), (raw.frame & USC_FRAME_EXACT) != 0) != nullptr;
  ModuleRowId& id = module_ids_[{serial, raw.mm, named}];
  if (id) return id;
  const FileFacts& file = definitions_.file(serial);
  Module module;
  module.file = serial;
  module.path = file.path;
  module.runtime = serial == trace::kVdsoFile || trace::is_runtime(module.path);
  module.program = file.executed;
  module.app =
      file.executed || (file.classes & USC_CLASS_APP) != 0 || (!module.runtime && own_libraries_.owns(module.path));
  const char* kind = module.app ? "app" : "library";
  if (serial == trace::kNoFile) {
    module.path = named ? "[jit]" : "[anon]";
    module.mm = raw.mm;
    kind = "jit";
  } else if (serial == trace::kVdsoFile) {
    module.path = "[vdso]";
    kind = "vdso";
  } else if (module.path.empty()) {
    module.path = fmt::format("[file {}]", serial.value());
    if (!module.app) kind = "unknown";
  }
  module.library = std::string_view(kind) == "library";
  // A file that was changed under its build-id is not one with what it was before: its addresses mean something else.
  const bool changed = serial >= trace::kFirstFile &&
                       namer_.state_of(request_for(serial, module.path, file)) == symbolizer::ModuleState::kChanged;
  if (changed) changed_files_++;
  if (!file.build_id.empty()) {
    ModuleRowId& same = module_identities_[{module.path, file.build_id, changed}];
    if (same) {
      id = same;
      modules_[id.value() - 1].program |= module.program;
      if (module.app)
        if (auto done = make_app(id); !done) return done.error();
      return id;
    }
    same = ModuleRowId(static_cast<std::uint32_t>(modules_.size() + 1));
  }
  modules_.push_back(module);
  id = ModuleRowId(static_cast<std::uint32_t>(modules_.size()));
  const std::string build_id = hex_of(file.build_id);
  insert_module_->bind(1, id);
  insert_module_->bind(2, std::string_view(module.path));
  if (build_id.empty()) {
    insert_module_->bind_null(3);
  } else {
    insert_module_->bind(3, std::string_view(build_id));
  }
  insert_module_->bind(4, std::string_view(kind));
  if (auto done = insert_module_->execute(); !done) return done.error();
  return id;
}

Result<void> FrameWriter::make_app(ModuleRowId module) {
  Module& facts = modules_[module.value() - 1];
  if (facts.app) return {};
  facts.app = true;
  return execute(database_.handle(), fmt::format("UPDATE module SET class='app' WHERE id={}", module.value()));
}

// Libraries that hold the main() of an executable.
Result<void> FrameWriter::find_main_libraries() {
  for (std::uint32_t each = 1; each <= definitions_.stacks.size(); each++) {
    const StackNumber number(each);
    const StoredStack& stack = definitions_.stacks.stack(number);
    const auto frames = definitions_.stacks.frames(number);
    const auto physical = [&](std::uint64_t frame) -> const Physical& {
      return *by_raw_.at(raw_frame(frame, stack.mm));
    };
    const auto module = [&](std::uint64_t frame) { return trigger_module(physical(frame)); };
    const auto found = trace::main_library(frames, module, trace::stack_end(stack.ended));
    if (!found) continue;
    const ModuleRowId holder = physical(frames[*found]).module;
    if (!modules_[holder.value() - 1].library) continue;
    if (auto done = make_app(holder); !done) return done;
  }
  return {};
}

Result<void> FrameWriter::gather() {
  for (std::uint32_t each = 1; each <= definitions_.stacks.size(); each++) {
    const StackNumber number(each);
    const trace::MmId mm = definitions_.stacks.stack(number).mm;
    for (const std::uint64_t frame : definitions_.stacks.frames(number))
      if (auto done = gather_frame(frame, mm); !done) return done;
  }
  for (const auto& [frame, mm] : definitions_.handlers)
    if (auto done = gather_frame(frame, mm); !done) return done;
  return {};
}

Result<void> FrameWriter::gather_frame(std::uint64_t frame, trace::MmId mm) {
  const RawFrame raw = raw_frame(frame, mm);
  const Physical*& known = by_raw_[raw];
  if (known) return {};
  auto module = module_of(raw);
  if (!module) return module.error();
  const bool exact = (frame & USC_FRAME_EXACT) != 0;
  const auto& segments = definitions_.file(trace::file_of(frame)).segments;
  const std::uint64_t address = trace::elf_address(segments, USC_FRAME_OFFSET(frame), exact);
  Physical& physical = physical_[{*module, address, exact}];
  physical.module = *module;
  known = &physical;
  return {};
}

FrameRowId FrameWriter::handler(std::uint64_t frame, trace::MmId mm) const {
  const auto found = handlers_.find(handler_key(frame, mm));
  return found == handlers_.end() ? FrameRowId() : found->second;
}

Result<void> FrameWriter::name_all(const std::function<void(double)>& progress) {
  std::size_t done_count = 0;
  for (auto& [key, physical] : physical_) {
    const auto& [module, address, exact] = key;
    physical.first_row = FrameRowId(static_cast<std::uint32_t>(functions_.size() + 1));
    if (auto done = write_frame(module, address, exact); !done) return done;
    physical.rows = static_cast<std::uint32_t>(functions_.size() + 1) - physical.first_row.value();
    if (++done_count % 1024 == 0) progress(static_cast<double>(done_count) / static_cast<double>(physical_.size()));
  }
  return {};
}

Result<void> FrameWriter::write_frame(ModuleRowId module, std::uint64_t rel_pc, bool exact) {
  const Module& facts = modules_[module.value() - 1];
  std::vector<symbolizer::NamedFrame> names;
  if (facts.file == trace::kNoFile) {
    if (const JitName* jit = jit_name(facts.mm, rel_pc, exact))
      names.push_back({jit->name, rel_pc - jit->start, "", 0, false});
    else
      names.push_back({"[anon]+" + hex_number(rel_pc), std::nullopt, "", 0, false});
  } else {
    const FileFacts& file = definitions_.file(facts.file);
    names = namer_.name(request_for(facts.file, facts.path, file), rel_pc, exact);
  }
  for (const symbolizer::NamedFrame& name : names) {
    functions_.push_back(to_utf8(name.function));
    Statement& insert = *insert_frame_;
    insert.bind(1, functions_.size());
    insert.bind(2, module);
    insert.bind(3, rel_pc);
    insert.bind(4, std::string_view(functions_.back()));
    insert.bind(5,
                name.function_offset ? std::optional(static_cast<std::int64_t>(*name.function_offset)) : std::nullopt);
    if (name.file.empty()) {
      insert.bind_null(6);
    } else {
      insert.bind(6, std::string_view(to_utf8(name.file)));
    }
    insert.bind(7, name.line ? std::optional(std::int64_t{name.line}) : std::nullopt);
    insert.bind(8, name.inlined);
    if (auto done = insert.execute(); !done) return done;
  }
  return {};
}

std::vector<FrameWriter::Physical> FrameWriter::frames_of(StackNumber number) const {
  std::vector<Physical> frames;
  const trace::MmId mm = definitions_.stacks.stack(number).mm;
  for (const std::uint64_t frame : definitions_.stacks.frames(number))
    frames.push_back(*by_raw_.at(raw_frame(frame, mm)));
  return frames;
}

Result<void> FrameWriter::write_stack(StackNumber number) {
  const StoredStack& stack = definitions_.stacks.stack(number);
  const std::vector<Physical> frames = frames_of(number);
  auto found = find_trigger(frames, stack.ended);
  if (!found) return found.error();
  const auto [trigger, fallback] = *found;
  const StackRowId row = row_of(number);
  triggers_[row.value() - 1] = trigger;
  if (auto done = insert_stack_->run(row, stack.depth, std::string_view(trace::ended_name(stack.ended)),
                                     maybe_id(trigger), fallback, std::string_view(folded(frames)));
      !done)
    return done;
  return write_user_frames(row, 0, frames);
}

// From position `first` on.
Result<void> FrameWriter::write_user_frames(StackRowId row, std::uint32_t first, const std::vector<Physical>& frames) {
  for (std::uint32_t at = 0; at < frames.size(); at++)
    for (std::uint32_t depth = 0; depth < frames[at].rows; depth++)
      if (auto done = insert_stack_frame_->run(row, first + at, depth, frames[at].first_row.value() + depth,
                                               std::string_view("user"));
          !done)
        return done;
  return {};
}

trace::TriggerModule FrameWriter::trigger_module(const Physical& frame) const {
  const Module& module = modules_[frame.module.value() - 1];
  return {module.app, module.runtime, module.program};
}

// The trigger, which may be none, and whether it is outside of the application, or cut.
Result<std::pair<FrameRowId, bool>> FrameWriter::find_trigger(const std::vector<Physical>& frames, std::uint8_t ended) {
  const auto module = [&](const Physical& each) { return trigger_module(each); };
  const auto trigger = trace::find_trigger(frames, module, trace::stack_end(ended));
  if (!trigger) return std::pair(FrameRowId(), false);
  const Physical& frame = frames[trigger->position];
  if (trigger->kind != trace::TriggerKind::kCut)
    return std::pair(frame.first_row, trigger->kind == trace::TriggerKind::kFallback);
  auto cut = cut_frame(frame.module);
  if (!cut) return cut.error();
  return std::pair(*cut, true);
}

// A row that is in no stack: it stands for the functions of the application that the budget cut off where a module was
// the innermost one that is left.
Result<FrameRowId> FrameWriter::cut_frame(ModuleRowId module) {
  FrameRowId& row = modules_[module.value() - 1].cut;
  if (row) return row;
  functions_.emplace_back(trace::kCutName);
  const FrameRowId next(static_cast<std::uint32_t>(functions_.size()));
  auto done = insert_frame_->run(next, module, 0, std::string_view(trace::kCutName), std::nullopt, std::nullopt,
                                 std::nullopt, false);
  if (!done) return done.error();
  row = next;
  return row;
}

// Root first. A `;` inside a name would be read as the end of a frame: it becomes a `:`.
std::string FrameWriter::folded(const std::vector<Physical>& frames) const {
  std::string text;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    for (std::uint32_t depth = frame->rows; depth > 0; depth--) {
      if (!text.empty()) text += ';';
      const std::size_t start = text.size();
      text += functions_[frame->first_row.value() + depth - 2];
      std::replace(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), ';', ':');
    }
  }
  return text;
}

}  // namespace uscope::store
