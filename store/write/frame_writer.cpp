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
#include <cstdlib>
#include <string_view>

#include "support/text.h"
#include "trace/frame_address.h"
#include "trace/names.h"
#include "trace/runtime_modules.h"
#include "trace/trigger.h"

namespace uscope::store {

FrameWriter::FrameWriter(DatabaseWriter& database, const Definitions& definitions, symbolizer::FrameNamer& namer,
                         bool app_runtime)
    : database_(database), definitions_(definitions), namer_(namer), app_runtime_(app_runtime) {}

Result<void> FrameWriter::run(const std::function<void(double)>& progress) {
  const std::array<std::tuple<std::unique_ptr<TableRows>*, std::string_view, std::size_t>, 5> tables{
      {{&module_rows_, "module", 4},
       {&frame_rows_, "frame(module_id, rel_pc, function, function_offset, file, line, inlined, origin)", 8},
       {&frame_lock_rows_, "frame_lock", 2},
       {&stack_rows_, "stack(depth, ended, trigger_frame_id, trigger_fallback, folded, managed)", 6},
       {&stack_frame_rows_, "stack_frame", 5}}};
  for (const auto& [rows, table, columns] : tables) {
    auto prepared = database_.rows(table, columns);
    if (!prepared) return prepared.error();
    *rows = std::move(*prepared);
  }
  for (const auto& [serial, file] : definitions_.files)
    if (file.executed && !trace::is_runtime(file.path)) own_libraries_.add_executable(file.path);
  if (const auto mode = definitions_.meta.find("mode"); mode != definitions_.meta.end())
    mode_ = static_cast<std::uint32_t>(std::strtoul(mode->second.c_str(), nullptr, 10));
  find_managed();
  if (auto done = gather(); !done) return done;
  if (auto done = name_all([&](double part) { progress(part * 0.9); }); !done) return done;
  if (auto done = database_.inserter().settle(); !done) return done;
  if (auto done = find_programs(); !done) return done;
  if (auto done = find_main_libraries(); !done) return done;
  find_machines();
  database_.inserter().start_thread();  // not before: the namer may fork a process that asks servers
  triggers_.resize(definitions_.stacks.size() + definitions_.logged_stacks.size());
  for (std::uint32_t number = 1; number <= definitions_.stacks.size(); number++)
    if (auto done = write_stack(StackNumber(number)); !done) return done;
  for (std::uint32_t number = 1; number <= definitions_.logged_stacks.size(); number++)
    if (auto done = write_logged_stack(LoggedStackNumber(number)); !done) return done;
  // The last one of a place's rows is the function itself; those before are inlined there.
  for (const auto& [key, place] : handler_places_)
    if (place->rows != 0) handlers_[key] = FrameRowId(place->first_row.value() + place->rows - 1);
  if (auto done = database_.inserter().settle(); !done) return done;
  // Only the triggers and handlers are asked for from now on.
  handler_places_.clear();
  physical_.clear();
  decltype(by_number_)().swap(by_number_);
  decltype(anonymous_)().swap(anonymous_);
  decltype(functions_)().swap(functions_);
  for (const auto& [rows, table, columns] : tables) rows->reset();
  progress(1);
  return {};
}

// The place for what is known of a frame. `mm`: of its stack.
const FrameWriter::Physical*& FrameWriter::physical_of(FrameNumber number, trace::MmId mm) {
  const std::uint64_t frame = definitions_.stacks.frame(number);
  return trace::file_of(frame) == trace::kNoFile ? anonymous_[{frame, mm}] : by_number_[number.value() - 1];
}

// What the perf map said of a frame without a file, null where it said nothing.
const JitName* FrameWriter::jit_name(trace::MmId mm, std::uint64_t pc, bool exact) const {
  const auto found = definitions_.jit_names.find({mm, pc - (exact ? 0 : 1)});
  return found == definitions_.jit_names.end() ? nullptr : &found->second;
}

symbolizer::ModuleRequest FrameWriter::request_for(trace::FileId serial, const std::string& path,
                                                   const FileFacts& file) {
  return {serial, bytes_of(path), {file.build_id, file.key, file.segments}};
}

Result<ModuleRowId> FrameWriter::module_of(const RawFrame& raw) {
  const trace::FileId serial = trace::file_of(raw.frame);
  const bool named = serial == trace::kNoFile &&
                     jit_name(raw.mm, usc_frame_place(raw.frame), usc_frame_is_exact(raw.frame) != 0) != nullptr;
  ModuleRowId& id = module_ids_[{serial, raw.mm, named}];
  if (id) return id;
  const FileFacts& file = definitions_.file(serial);
  Module module;
  module.file = serial;
  module.path = file.path;
  module.mixed = (file.classes & USC_CLASS_MIXED) != 0;
  trace::TriggerFrame& facts = module.facts;
  facts.runtime = serial == trace::kVdsoFile || trace::is_runtime(module.path);
  facts.program = file.executed;
  facts.named = (file.classes & USC_CLASS_APP) != 0;
  facts.app = file.executed || facts.named || (!facts.runtime && own_libraries_.owns(module.path));
  const char* kind = facts.app ? "app" : "library";
  if (serial == trace::kNoFile) {
    module.path = named ? "[jit]" : "[anon]";
    module.mm = raw.mm;
    facts.generated = named;
    kind = "jit";
  } else if (serial == trace::kVdsoFile) {
    module.path = "[vdso]";
    kind = "vdso";
  } else if (module.path.empty()) {
    module.path = fmt::format("[file {}]", serial.value());
    if (!facts.app) kind = "unknown";
  }
  module.library = std::string_view(kind) == "library";
  // A file that was changed under its build-id is not one with what it was before: its addresses mean something else.
  using State = symbolizer::ModuleState;
  const State state =
      serial >= trace::kFirstFile ? namer_.state_of(request_for(serial, module.path, file)) : State::kUsable;
  const bool changed = state == State::kChanged || state == State::kLost;
  if (changed) changed_files_++;
  if (!file.build_id.empty()) {
    ModuleRowId& same = module_identities_[{module.path, file.build_id, changed}];
    if (same) {
      id = same;
      modules_[id.value() - 1].facts.program |= facts.program;
      modules_[id.value() - 1].facts.named |= facts.named;
      if (facts.app)
        if (auto done = make_app(id); !done) return done.error();
      return id;
    }
    same = ModuleRowId(static_cast<std::uint32_t>(modules_.size() + 1));
  }
  modules_.push_back(module);
  id = ModuleRowId(static_cast<std::uint32_t>(modules_.size()));
  const std::string build_id = hex_of(file.build_id);
  auto done = module_rows_->add(id, module.path, build_id.empty() ? std::nullopt : std::optional(build_id), kind);
  if (!done) return done.error();
  return id;
}

Result<void> FrameWriter::make_app(ModuleRowId module) {
  trace::TriggerFrame& facts = modules_[module.value() - 1].facts;
  if (facts.app) return {};
  facts.app = true;
  return execute(database_.handle(), fmt::format("UPDATE module SET class='app' WHERE id={}", module.value()));
}

void FrameWriter::find_managed() {
  for (const auto& [place, name] : definitions_.jit_names)
    if (!managed_.contains(place.first) && trace::generated_function(name.name).managed) managed_.insert(place.first);
}

// A physical frame's: of the function itself, in which others may be inlined.
trace::TriggerFrame FrameWriter::physical_frame(FrameNumber number, trace::MmId mm) {
  const Physical& of = *physical_of(number, mm);
  return trigger_frame({FrameRowId(of.first_row.value() + of.rows - 1), of.module});
}

// Programs that the loader was told to run.
Result<void> FrameWriter::find_programs() {
  for (std::uint32_t each = 1; each <= definitions_.stacks.size(); each++) {
    const StackNumber number(each);
    const StoredStack& stack = definitions_.stacks.stack(number);
    const auto frames = definitions_.stacks.frames(number);
    const auto function = [&](FrameNumber frame) { return physical_frame(frame, stack.mm); };
    if (!trace::ends_in_other_program(frames, function, trace::stack_end(stack.ended))) continue;
    if (auto done = make_program(physical_of(frames[frames.size() - 1], stack.mm)->module); !done) return done;
  }
  return {};
}

Result<void> FrameWriter::make_program(ModuleRowId module) {
  modules_[module.value() - 1].facts.program = true;
  own_libraries_.add_executable(modules_[module.value() - 1].path);
  for (std::uint32_t each = 1; each <= modules_.size(); each++) {
    const Module& one = modules_[each - 1];
    if (each != module.value() && (!one.library || one.facts.runtime || !own_libraries_.owns(one.path))) continue;
    if (auto done = make_app(ModuleRowId(each)); !done) return done;
  }
  return {};
}

// The application's modules in stacks with managed code. Other stacks do not say of which address space they are.
void FrameWriter::find_machines() {
  for (std::uint32_t each = 1; each <= definitions_.stacks.size() && !managed_.empty(); each++) {
    const StackNumber number(each);
    const trace::MmId mm = definitions_.stacks.stack(number).mm;
    if (!managed_.contains(mm)) continue;
    for (const FrameNumber frame : definitions_.stacks.frames(number)) {
      Module& module = modules_[physical_of(frame, mm)->module.value() - 1];
      module.machine = module.facts.app && !module.facts.named && !module.facts.runtime;
    }
  }
}

// Libraries that hold the program of an executable.
Result<void> FrameWriter::find_main_libraries() {
  for (std::uint32_t each = 1; each <= definitions_.stacks.size(); each++) {
    const StackNumber number(each);
    const StoredStack& stack = definitions_.stacks.stack(number);
    const auto frames = definitions_.stacks.frames(number);
    const auto function = [&](FrameNumber frame) { return physical_frame(frame, stack.mm); };
    const auto found = trace::main_library(frames, function, trace::stack_end(stack.ended));
    if (!found) continue;
    const ModuleRowId holder = physical_of(frames[*found], stack.mm)->module;
    if (!modules_[holder.value() - 1].library) continue;
    if (auto done = make_app(holder); !done) return done;
  }
  return {};
}

Result<void> FrameWriter::gather() {
  by_number_.resize(definitions_.stacks.distinct_frames());
  for (std::uint32_t each = 1; each <= definitions_.stacks.size(); each++) {
    const StackNumber number(each);
    const trace::MmId mm = definitions_.stacks.stack(number).mm;
    for (const FrameNumber of_stack : definitions_.stacks.frames(number)) {
      const Physical*& known = physical_of(of_stack, mm);
      if (known) continue;
      auto place = place_of(definitions_.stacks.frame(of_stack), mm);
      if (!place) return place.error();
      known = *place;
    }
  }
  for (const auto& [frame, mm] : definitions_.handlers) {
    auto place = place_of(frame, mm);
    if (!place) return place.error();
    handler_places_[handler_key(frame, mm)] = *place;
  }
  return {};
}

// The place of a frame, which is gathered with this.
Result<const FrameWriter::Physical*> FrameWriter::place_of(std::uint64_t frame, trace::MmId mm) {
  const trace::FileId file = trace::file_of(frame);
  auto module = module_of({frame, file == trace::kNoFile ? mm : trace::MmId()});
  if (!module) return module.error();
  const bool exact = usc_frame_is_exact(frame) != 0;
  const std::uint64_t address = trace::elf_address(definitions_.file(file).segments, usc_frame_place(frame), exact);
  Physical& physical = physical_[{*module, address, exact}];
  physical.module = *module;
  return &physical;
}

FrameRowId FrameWriter::handler(std::uint64_t frame, trace::MmId mm) const {
  const auto found = handlers_.find(handler_key(frame, mm));
  return found == handlers_.end() ? FrameRowId() : found->second;
}

Result<void> FrameWriter::name_all(const std::function<void(double)>& progress) {
  std::size_t done_count = 0;
  ModuleRowId last;
  for (auto& [key, physical] : physical_) {
    const auto& [module, address, exact] = key;
    if (module != last) note_debug_trouble(std::exchange(last, module));
    physical.first_row = FrameRowId(static_cast<std::uint32_t>(functions_.size() + 1));
    if (auto done = write_frame(module, address, exact); !done) return done;
    physical.rows = static_cast<std::uint32_t>(functions_.size() + 1) - physical.first_row.value();
    if (++done_count % 1024 == 0) progress(static_cast<double>(done_count) / static_cast<double>(physical_.size()));
  }
  note_debug_trouble(last);
  return {};
}

// The frames of a module come one behind the other: these are all named.
void FrameWriter::note_debug_trouble(ModuleRowId module) {
  constexpr std::size_t kMostTroubles = 1000;
  if (!module || debug_troubles_.size() >= kMostTroubles) return;
  const Module& facts = modules_[module.value() - 1];
  if (facts.file == trace::kNoFile) return;
  std::string why = namer_.debug_trouble(request_for(facts.file, facts.path, definitions_.file(facts.file)));
  if (!why.empty()) debug_troubles_.push_back({facts.path, std::move(why)});
}

Result<void> FrameWriter::write_frame(ModuleRowId module, std::uint64_t rel_pc, bool exact) {
  const Module& facts = modules_[module.value() - 1];
  std::vector<symbolizer::NamedFrame> names;
  if (facts.file == trace::kNoFile) {
    if (const JitName* jit = jit_name(facts.mm, rel_pc, exact)) {
      const auto [origin, managed] = trace::generated_function(jit->name);
      // Beside code of a managed language, what has another form of name is its machine's.
      const bool own = managed || !managed_.contains(facts.mm);
      names.push_back({jit->name, rel_pc - jit->start, "", 0, false, own ? origin : trace::FunctionOrigin::kRuntime});
    } else {
      names.push_back({"[anon]+" + hex_number(rel_pc), std::nullopt, "", 0, false});
    }
  } else {
    const FileFacts& file = definitions_.file(facts.file);
    names = namer_.name(request_for(facts.file, facts.path, file), rel_pc, exact);
  }
  for (const symbolizer::NamedFrame& name : names) {
    functions_.push_back({to_utf8(name.function), name.origin, name.role});
    std::string& function = functions_.back().name;
    auto done = frame_rows_->add(
        module, rel_pc, function,
        name.function_offset ? std::optional(static_cast<std::int64_t>(*name.function_offset)) : std::nullopt,
        name.file.empty() ? std::nullopt : std::optional(to_utf8(name.file)),
        name.line ? std::optional(std::int64_t{name.line}) : std::nullopt, name.inlined,
        LastingText{trace::origin_name(name.origin)});
    const FrameRowId row(static_cast<std::uint32_t>(functions_.size()));
    for (const std::uint64_t word : name.locks)
      if (done) done = frame_lock_rows_->add(row, word);
    if (!done) return done;
    // Inside of a folded stack, a `;` would be read as the end of a frame.
    std::replace(function.begin(), function.end(), ';', ':');
  }
  return {};
}

const std::vector<FrameWriter::Physical>& FrameWriter::frames_of(StackNumber number) {
  frames_.clear();
  const trace::MmId mm = definitions_.stacks.stack(number).mm;
  for (const FrameNumber frame : definitions_.stacks.frames(number)) frames_.push_back(*physical_of(frame, mm));
  return frames_;
}

Result<void> FrameWriter::write_stack(StackNumber number) {
  const StoredStack& stack = definitions_.stacks.stack(number);
  const std::vector<Physical>& frames = frames_of(number);
  const bool managed = is_managed(number);
  trace::TriggerStack facts{trace::stack_end(stack.ended), managed, app_runtime_};
  auto found = find_trigger(frames, facts);
  if (!found) return found.error();
  const auto [trigger, fallback] = *found;
  const StackRowId row = row_of(number);
  triggers_[row.value() - 1] = trigger;
  if (keep_own(trigger, facts)) scoped_.insert(number);
  facts.with_runtime = true;
  auto with_runtime = find_trigger(frames, facts);
  if (!with_runtime) return with_runtime.error();
  if (with_runtime->first != trigger) runtime_triggers_.emplace(row, with_runtime->first);
  if (auto done = stack_rows_->add(frames.size(), trace::ended_name(ended(number)), maybe_id(trigger), fallback,
                                   folded(frames), managed);
      !done)
    return done;
  return write_user_frames(row, 0, frames);
}

bool FrameWriter::is_own(const Physical& frame, const trace::TriggerStack& stack) const {
  for (std::uint32_t depth = 0; depth < frame.rows; depth++)
    if (trace::rank_of(trigger_frame({FrameRowId(frame.first_row.value() + depth), frame.module}), stack) ==
        trace::TriggerRank::kApplication)
      return true;
  return false;
}

// Leaves the modes' frames in frames_, where functions of one file are told apart: of app-last the trigger, of app-all
// the application's functions. A stack without one keeps what it has: of app-last, the innermost frame. Returns whether
// the trigger alone is left.
bool FrameWriter::keep_own(FrameRowId trigger, const trace::TriggerStack& stack) {
  const auto is_mixed = [&](const Physical& frame) { return modules_[frame.module.value() - 1].mixed; };
  if (mode_ != USC_MODE_APP_LAST && mode_ != USC_MODE_APP_ALL) return false;
  if (std::none_of(frames_.begin(), frames_.end(), is_mixed)) return false;
  const auto is_kept = [&](const Physical& frame) { return is_own(frame, stack); };
  const bool any = std::any_of(frames_.begin(), frames_.end(), is_kept);
  if (mode_ == USC_MODE_APP_ALL) {
    if (any) std::erase_if(frames_, [&](const Physical& frame) { return is_mixed(frame) && !is_kept(frame); });
    return false;
  }
  const auto found = std::find_if(frames_.begin(), frames_.end(), [&](const Physical& frame) {
    return trigger.value() - frame.first_row.value() < frame.rows;
  });
  const Physical kept = found == frames_.end() ? frames_.front() : *found;
  frames_ = {kept};
  return any;
}

// From position `first` on.
Result<void> FrameWriter::write_user_frames(StackRowId row, std::uint32_t first, const std::vector<Physical>& frames) {
  for (std::uint32_t at = 0; at < frames.size(); at++)
    for (std::uint32_t depth = 0; depth < frames[at].rows; depth++)
      if (auto done =
              stack_frame_rows_->add(row, first + at, depth, frames[at].first_row.value() + depth, LastingText{"user"});
          !done)
        return done;
  return {};
}

bool FrameWriter::is_managed(StackNumber number) {
  const trace::MmId mm = definitions_.stacks.stack(number).mm;
  if (managed_.contains(mm)) return true;
  const auto frames = definitions_.stacks.frames(number);
  return !managed_.empty() && std::any_of(frames.begin(), frames.end(), [&](FrameNumber frame) {
    return modules_[physical_of(frame, mm)->module.value() - 1].machine;
  });
}

trace::TriggerFrame FrameWriter::trigger_frame(const Place& place) const {
  trace::TriggerFrame frame = modules_[place.module.value() - 1].facts;
  const Function& function = functions_[place.row.value() - 1];
  frame.origin = function.origin;
  frame.role = function.role;
  return frame;
}

// The trigger, which may be none, and whether it is outside of the application, or cut.
Result<std::pair<FrameRowId, bool>> FrameWriter::find_trigger(const std::vector<Physical>& frames,
                                                              const trace::TriggerStack& stack) {
  places_.clear();
  for (const Physical& frame : frames)
    for (std::uint32_t depth = 0; depth < frame.rows; depth++)
      places_.push_back({FrameRowId(frame.first_row.value() + depth), frame.module});
  const auto trigger = trace::find_trigger(
      places_, [&](const Place& place) { return trigger_frame(place); }, stack);
  if (!trigger) return std::pair(FrameRowId(), false);
  const Place& place = places_[trigger->position];
  if (trigger->kind != trace::TriggerKind::kCut)
    return std::pair(place.row, trigger->kind == trace::TriggerKind::kFallback);
  auto cut = cut_frame(place.module);
  if (!cut) return cut.error();
  return std::pair(*cut, true);
}

// A row that is in no stack: it stands for the functions of the application that the budget cut off where a module was
// the innermost one that is left.
Result<FrameRowId> FrameWriter::cut_frame(ModuleRowId module) {
  FrameRowId& row = modules_[module.value() - 1].cut;
  if (row) return row;
  functions_.push_back({trace::kCutName});
  const FrameRowId next(static_cast<std::uint32_t>(functions_.size()));
  auto done = frame_rows_->add(module, 0, LastingText{trace::kCutName}, std::nullopt, std::nullopt, std::nullopt, false,
                               LastingText{trace::origin_name(trace::FunctionOrigin::kOwn)});
  if (!done) return done.error();
  row = next;
  return row;
}

// Root first.
const std::string& FrameWriter::folded(const std::vector<Physical>& frames) {
  text_.clear();
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    for (std::uint32_t depth = frame->rows; depth > 0; depth--) {
      if (!text_.empty()) text_ += ';';
      text_ += functions_[frame->first_row.value() + depth - 2].name;
    }
  }
  return text_;
}

}  // namespace uscope::store
