// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/call_counts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "support/text.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "syscalls/syscall_table.h"
#include "trace/frame_address.h"
#include "trace/names.h"
#include "trace/runtime_modules.h"
#include "tracer/files/file.h"
#include "tracer/jit/perf_map.h"

namespace uscope::live {
namespace {

constexpr std::uint32_t kMostStacks = 1U << 26;
constexpr std::size_t kMostKeptFrames = std::size_t{1} << 22;  // 32 MiB: some 100,000 stacks

std::string in_module(const std::string& path, std::uint64_t address) {
  return trace_text(base_name(path)) + "+" + hex_number(address);
}

}  // namespace

void CallCounts::on_event(const usc_event& event, const tracer::TaskInfo& task) {
  if (event.source != USC_SOURCE_SYSCALL) return;
  if (event.how != USC_HOW_RETURNED && event.how != USC_HOW_NO_ENTRY) return;
  Counts& counts = counts_[{event.abi, event.kind, trace::StackId(event.stack)}];
  counts.calls++;
  const bool error = (event.flags & USC_EVENT_NO_RESULT) == 0 && syscalls::is_error(event.result);
  if (error) counts.errors++;
  std::uint64_t time_ns = 0;
  if (event.how == USC_HOW_RETURNED && (event.flags & USC_EVENT_ATTACHED) == 0) {
    time_ns = event.head.time - std::min(event.head.time, event.entry_ns);
    counts.times.add(time_ns);
  }
  threads_.add(event, task, error, time_ns);
}

void CallCounts::on_stack(const usc_stack& stack) {
  if (stack.stack >= kMostStacks || (stack.head.size - sizeof(stack)) / sizeof(std::uint64_t) < stack.depth) return;
  Stack& kept = fresh_[trace::StackId(stack.stack)];
  kept.mm = trace::MmId(stack.mm);
  kept.end = trace::stack_end(stack.ended);
  kept.frames.resize(stack.depth);
  if (stack.depth != 0)
    std::memcpy(kept.frames.data(), reinterpret_cast<const char*>(&stack) + sizeof(stack),
                stack.depth * sizeof(std::uint64_t));
}

void CallCounts::on_image(const usc_exec& exec) {
  if (const trace::FileId file(exec.exe_file); file != trace::kNoFile) {
    executed_.insert(file);
    note_executable(file);
  }
}

// An image and what its file is may come in any order.
void CallCounts::note_executable(trace::FileId serial) {
  const auto known = modules_.find(serial);
  if (known == modules_.end() || known->second.runtime || !executed_.contains(serial)) return;
  own_libraries_.add_executable(known->second.path);
}

void CallCounts::on_file(trace::FileId serial, const tracer::File& file) {
  Module& module = modules_[serial];
  module.path = file.path;
  module.named = (file.classes & USC_CLASS_APP) != 0;
  module.runtime = serial == trace::kVdsoFile || trace::is_runtime(file.path);
  module.jit = tracer::is_jit(serial, &file);
  for (const symbolizer::Segment& segment : file.facts.exec_segments)
    module.segments.push_back({segment.offset, segment.size, segment.address});
  symbolizer::ModuleRequest request;
  request.file = serial;
  request.path = file.path;
  request.traced.build_id = file.facts.build_id;
  request.traced.key = file.key;
  names_.add_file(request, {file.kept, file.place});
  note_executable(serial);
}

void CallCounts::on_jit_name(trace::MmId mm, const tracer::PerfMapEntry& name) {
  constexpr std::size_t kMostNames = 100000;  // compilers that make code for days
  if (jit_names_.size() >= kMostNames) jit_names_.clear();
  jit_names_[{mm, name.address}] = trace_text(name.name);
  if (!managed_.contains(mm) && trace::generated_function(name.name).managed) managed_.insert(mm);
}

CallCounts::Module& CallCounts::module(trace::FileId serial) {
  Module& module = modules_[serial];
  if (serial == trace::kNoFile) module.jit = true;
  if (module.path.empty()) module.path = module.jit ? "[jit]" : fmt::format("[file {}]", serial.value());
  return module;
}

trace::TriggerFrame CallCounts::frame_facts(std::uint64_t frame) {
  const trace::FileId serial = trace::file_of(frame);
  Module& of = module(serial);
  if (of.own_of != own_libraries_.size()) {
    of.own = !of.runtime && own_libraries_.owns(of.path);
    of.own_of = own_libraries_.size();
  }
  const bool program = executed_.contains(serial);
  return {.app = of.named || of.holds_program || of.own || program,
          .named = of.named,
          .runtime = of.runtime,
          .program = program};
}

// Of a file; null while they are not known.
const LiveNames::Functions* CallCounts::functions_at(std::uint64_t frame) {
  const bool exact = usc_frame_is_exact(frame) != 0;
  const trace::FileId serial = trace::file_of(frame);
  return names_.ask(serial, trace::elf_address(module(serial).segments, usc_frame_place(frame), exact), exact);
}

// What one stack shows of a module holds for all stacks. False: the names do not tell yet.
bool CallCounts::find_program(const Stack& stack) {
  if (stack.end != trace::StackEnd::kRoot || stack.frames.empty()) return true;
  bool known = true;
  const auto function = [&](std::uint64_t frame) {
    trace::TriggerFrame facts = frame_facts(frame);
    if (facts.runtime || module(trace::file_of(frame)).jit) return facts;
    const LiveNames::Functions* functions = functions_at(frame);
    if (functions != nullptr)
      facts.role = functions->back().role;
    else
      known = false;
    return facts;
  };
  const trace::FileId outermost = trace::file_of(stack.frames.back());
  if (trace::ends_in_other_program(stack.frames, function, stack.end) && !module(outermost).jit) {
    executed_.insert(outermost);
    note_executable(outermost);
  }
  if (const auto found = trace::main_library(stack.frames, function, stack.end))
    if (Module& of = module(trace::file_of(stack.frames[*found])); !of.jit) of.holds_program = true;
  return known;
}

// Learns from stacks with managed code which modules run it.
bool CallCounts::is_managed(const Stack& stack) {
  if (managed_.empty()) return false;
  const bool shows_it = managed_.contains(stack.mm);
  bool managed = shows_it;
  for (const std::uint64_t frame : stack.frames) {
    Module& of = module(trace::file_of(frame));
    const trace::TriggerFrame facts = frame_facts(frame);
    if (shows_it) of.machine = of.machine || (facts.app && !facts.named && !facts.runtime);
    managed = managed || of.machine;
  }
  return managed;
}

// The functions at a frame. False: they are not known yet, and one that stands for them is added.
bool CallCounts::add_places(std::uint64_t frame, trace::MmId mm, bool is_managed, std::vector<Place>& places) {
  trace::TriggerFrame facts = frame_facts(frame);
  if (module(trace::file_of(frame)).jit) {
    const std::uint64_t pc = usc_frame_place(frame) - (usc_frame_is_exact(frame) != 0 ? 0 : 1);
    const auto name = jit_names_.find({mm, pc});
    facts.generated = name != jit_names_.end();
    if (facts.generated) {
      const auto [origin, managed] = trace::generated_function(name->second);
      facts.origin = managed || !is_managed ? origin : trace::FunctionOrigin::kRuntime;
    }
    places.push_back({frame, 0, facts});
    return facts.generated;
  }
  if (!facts.app || facts.runtime) {
    places.push_back({frame, 0, facts});
    return true;
  }
  const LiveNames::Functions* functions = functions_at(frame);
  if (functions == nullptr) {
    places.push_back({frame, 0, facts});
    return false;
  }
  for (std::uint32_t depth = 0; depth < functions->size(); depth++) {
    facts.origin = (*functions)[depth].origin;
    places.push_back({frame, depth, facts});
  }
  return true;
}

// The trigger, and whether it is certain.
std::pair<CallCounts::Trigger, bool> CallCounts::find_trigger(Stack& stack) {
  constexpr int kMostLooks = 3;
  const trace::TriggerStack facts{stack.end, is_managed(stack), with_runtime_};
  bool has_names = find_program(stack);
  bool has_generated_names = true;
  bool found_one = false;
  std::vector<Place> places;
  for (const std::uint64_t frame : stack.frames) {
    const std::size_t before = places.size();
    if (found_one) {  // what is outside of it changes nothing
      places.push_back({frame, 0, frame_facts(frame)});
      continue;
    }
    if (!add_places(frame, stack.mm, facts.managed, places))
      (module(trace::file_of(frame)).jit ? has_generated_names : has_names) = false;
    for (std::size_t at = before; at < places.size(); at++)
      found_one = found_one || trace::rank_of(places[at].facts, facts) == trace::TriggerRank::kApplication;
  }
  const auto trigger_if = [&](const trace::TriggerStack& stack_facts) {
    return trace::find_trigger(
        places, [](const Place& place) { return place.facts; }, stack_facts);
  };
  const auto trigger = trigger_if(facts);
  // That a program runs managed code may be seen in later stacks only.
  if (!facts.managed) {
    const auto managed = trigger_if({stack.end, true, with_runtime_});
    const auto place_of = [](const auto& found) { return found ? std::optional(found->position) : std::nullopt; };
    has_generated_names = has_generated_names && place_of(managed) == place_of(trigger);
  }
  if (!has_generated_names && stack.looked_at != picture_) {
    stack.looked_at = picture_;
    stack.looks++;
  }
  waits_for_names_ = waits_for_names_ || (!has_names && names_.is_running());
  Trigger found;
  found.none = !trigger;
  if (trigger) {
    const Place& place = places[trigger->position];
    found.frame = place.frame;
    found.depth = place.depth;
    found.mm = module(trace::file_of(found.frame)).jit ? stack.mm : trace::MmId();
    found.fallback = trigger->kind != trace::TriggerKind::kApplication;
    found.cut = trigger->kind == trace::TriggerKind::kCut;
  }
  return {found, (has_names || !names_.is_running()) && (has_generated_names || stack.looks >= kMostLooks)};
}

// `for_good`: also if it is not certain.
std::optional<CallCounts::Trigger> CallCounts::trigger_of(trace::StackId stack, bool for_good) {
  const std::size_t place = stack.value();
  if (const auto fresh = fresh_.find(stack); fresh != fresh_.end()) {
    const auto [trigger, is_certain] = find_trigger(fresh->second);
    if (!is_certain && !for_good) return trigger;
    const auto [at, is_new] = numbers_.try_emplace(trigger, static_cast<std::uint32_t>(triggers_.size()) + 1);
    if (is_new) triggers_.push_back(at->first);
    if (trigger_of_.size() <= place) trigger_of_.resize(place + 1);
    trigger_of_[place] = at->second;
    keep(stack, std::move(fresh->second));
    fresh_.erase(fresh);
  }
  if (place >= trigger_of_.size() || trigger_of_[place] == 0) return std::nullopt;
  return triggers_[trigger_of_[place] - 1];
}

void CallCounts::keep(trace::StackId stack, Stack&& known) {
  if (known.frames.size() > kMostKeptFrames - kept_frames_) return;
  kept_frames_ += known.frames.size();
  known.frames.shrink_to_fit();
  kept_.insert_or_assign(stack, std::move(known));
}

void CallCounts::add_functions(std::uint64_t frame, trace::MmId mm, std::vector<StackFunction>& to, bool& complete) {
  const Module& of = module(trace::file_of(frame));
  const bool exact = usc_frame_is_exact(frame) != 0;
  const std::uint64_t offset = usc_frame_place(frame);
  if (of.jit) {
    const auto found = jit_names_.find({mm, offset - (exact ? 0 : 1)});
    to.push_back({found == jit_names_.end() ? in_module(of.path, offset) : found->second, of.path});
    return;
  }
  const LiveNames::Functions* functions = functions_at(frame);
  if (functions == nullptr) {
    complete = complete && !names_.is_running();
    to.push_back({in_module(of.path, trace::elf_address(of.segments, offset, exact)), trace_text(of.path)});
    return;
  }
  for (const LiveFunction& function : *functions) to.push_back({function.name, trace_text(of.path)});
}

std::vector<StackFunction> CallCounts::functions_of(trace::StackId stack, bool& complete) {
  std::vector<StackFunction> functions;
  const auto fresh = fresh_.find(stack);
  const auto kept = kept_.find(stack);
  if (fresh == fresh_.end() && kept == kept_.end()) {
    complete = stack == trace::StackId();
    return functions;
  }
  const Stack& found = fresh != fresh_.end() ? fresh->second : kept->second;
  for (const std::uint64_t frame : found.frames) add_functions(frame, found.mm, functions, complete);
  return functions;
}

std::string CallCounts::function_of(const Trigger& trigger) {
  if (trigger.cut) return trace::kCutName;
  const bool exact = usc_frame_is_exact(trigger.frame) != 0;
  const std::uint64_t offset = usc_frame_place(trigger.frame);
  const Module& of = module(trace::file_of(trigger.frame));
  if (of.jit) {
    const auto found = jit_names_.find({trigger.mm, offset - (exact ? 0 : 1)});
    return found == jit_names_.end() ? in_module(of.path, offset) : found->second;
  }
  if (const LiveNames::Functions* functions = functions_at(trigger.frame); functions != nullptr)
    return (*functions)[std::min<std::size_t>(trigger.depth, functions->size() - 1)].name;
  return in_module(of.path, trace::elf_address(of.segments, offset, exact));
}

std::vector<CallLine> CallCounts::lines() {
  waits_for_names_ = false;
  picture_++;
  for (const auto& [id, stack] : fresh_) {
    (void)is_managed(stack);
    if (!find_program(stack)) waits_for_names_ = names_.is_running();
  }
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string, std::string>, CallLine> merged;
  for (const auto& [key, counts] : counts_) {
    const std::optional<Trigger> trigger = trigger_of(key.stack, false);
    const bool named = trigger && !trigger->none;
    const std::string function = named ? function_of(*trigger) : "";
    const std::string path = named ? module(trace::file_of(trigger->frame)).path : "";
    CallLine& line = merged[{key.abi, key.nr, function, path}];
    if (line.calls == 0) {
      line.call = syscalls::syscall_name(static_cast<usc_abi>(key.abi), key.nr);
      line.abi = trace::abi_name(key.abi);
      line.function = function;
      line.module = trace_text(path);
      line.fallback = named && trigger->fallback;
      line.waits = syscalls::waits(line.call);
    }
    line.stacks++;
    if (counts.calls > line.stack_calls) {
      line.stack = key.stack;
      line.stack_calls = counts.calls;
    }
    line.calls += counts.calls;
    line.errors += counts.errors;
    line.times.add(counts.times);
  }
  std::vector<CallLine> lines;
  lines.reserve(merged.size());
  for (auto& [key, line] : merged) lines.push_back(std::move(line));
  return lines;
}

// Stacks that nobody referred to are kept for one more time: their events may still come.
void CallCounts::take() {
  counts_.clear();
  threads_.take();
  constexpr std::size_t kMostFresh = 100000;
  if (fresh_.size() <= kMostFresh) return;
  std::vector<trace::StackId> all;
  for (const auto& [stack, kept] : fresh_) all.push_back(stack);
  for (const trace::StackId stack : all) (void)trigger_of(stack, true);
}

}  // namespace uscope::live
