// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/call_counts.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "support/text.h"
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
  module.app = (file.classes & USC_CLASS_APP) != 0;
  module.runtime = serial == trace::kVdsoFile || trace::is_runtime(file.path);
  module.jit = tracer::is_jit(serial, &file);
  for (const symbolizer::Segment& segment : file.facts.exec_segments)
    module.segments.push_back({segment.offset, segment.size, segment.address});
  symbolizer::ModuleRequest request;
  request.file = serial;
  request.path = file.path;
  request.traced.build_id = file.facts.build_id;
  request.traced.key = file.key;
  symbolizer::HeldModule held;
  if (file.fd) held = {UniqueFd(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0)), file.copied};
  names_.add_file(request, std::move(held));
  note_executable(serial);
}

void CallCounts::on_jit_name(trace::MmId mm, const tracer::PerfMapEntry& name) {
  constexpr std::size_t kMostNames = 100000;  // compilers that make code for days
  if (jit_names_.size() >= kMostNames) jit_names_.clear();
  jit_names_[{mm, name.address}] = trace_text(name.name);
}

CallCounts::Module& CallCounts::module(trace::FileId serial) {
  Module& module = modules_[serial];
  if (serial == trace::kNoFile) module.jit = true;
  if (module.path.empty()) module.path = module.jit ? "[jit]" : fmt::format("[file {}]", serial.value());
  return module;
}

trace::TriggerModule CallCounts::trigger_module(std::uint64_t frame) {
  const trace::FileId serial = trace::file_of(frame);
  Module& of = module(serial);
  if (of.own_of != own_libraries_.size()) {
    of.own = !of.runtime && own_libraries_.owns(of.path);
    of.own_of = own_libraries_.size();
  }
  const bool program = executed_.contains(serial);
  return {of.app || of.own || program, of.runtime, program};
}

// Looks at the stacks whose triggers were not asked for yet. What one of them shows of a module holds for all stacks.
void CallCounts::find_main_libraries() {
  const auto modules = [&](std::uint64_t frame) { return trigger_module(frame); };
  for (const auto& [id, stack] : fresh_)
    if (const auto found = trace::main_library(stack.frames, modules, stack.end))
      if (Module& of = module(trace::file_of(stack.frames[*found])); !of.jit) of.app = true;
}

CallCounts::Trigger CallCounts::find_trigger(const Stack& stack) {
  const auto modules = [&](std::uint64_t frame) { return trigger_module(frame); };
  const auto trigger = trace::find_trigger(stack.frames, modules, stack.end);
  Trigger found;
  found.none = !trigger;
  if (!trigger) return found;
  found.frame = stack.frames[trigger->position];
  found.mm = module(trace::file_of(found.frame)).jit ? stack.mm : trace::MmId();
  found.fallback = trigger->kind != trace::TriggerKind::kApplication;
  found.cut = trigger->kind == trace::TriggerKind::kCut;
  return found;
}

const CallCounts::Trigger* CallCounts::trigger_of(trace::StackId stack) {
  const std::size_t place = stack.value();
  if (const auto fresh = fresh_.find(stack); fresh != fresh_.end()) {
    const auto [at, is_new] =
        numbers_.try_emplace(find_trigger(fresh->second), static_cast<std::uint32_t>(triggers_.size()) + 1);
    if (is_new) triggers_.push_back(at->first);
    if (trigger_of_.size() <= place) trigger_of_.resize(place + 1);
    trigger_of_[place] = at->second;
    fresh_.erase(fresh);
  }
  if (place >= trigger_of_.size() || trigger_of_[place] == 0) return nullptr;
  return &triggers_[trigger_of_[place] - 1];
}

std::string CallCounts::function_of(const Trigger& trigger) {
  if (trigger.cut) return trace::kCutName;
  const trace::FileId serial = trace::file_of(trigger.frame);
  const bool exact = (trigger.frame & USC_FRAME_EXACT) != 0;
  const std::uint64_t offset = USC_FRAME_OFFSET(trigger.frame);
  const Module& of = module(serial);
  if (of.jit) {
    const auto found = jit_names_.find({trigger.mm, offset - (exact ? 0 : 1)});
    return found == jit_names_.end() ? in_module(of.path, offset) : found->second;
  }
  const std::uint64_t address = trace::elf_address(of.segments, offset, exact);
  return names_.ask(serial, address, exact).value_or(in_module(of.path, address));
}

std::vector<CallLine> CallCounts::lines() {
  find_main_libraries();
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string, std::string>, CallLine> merged;
  for (const auto& [key, counts] : counts_) {
    const Trigger* trigger = trigger_of(key.stack);
    const bool named = trigger != nullptr && !trigger->none;
    const std::string function = named ? function_of(*trigger) : "";
    const std::string path = named ? module(trace::file_of(trigger->frame)).path : "";
    CallLine& line = merged[{key.abi, key.nr, function, path}];
    if (line.calls == 0) {
      line.call = syscalls::syscall_name(static_cast<usc_abi>(key.abi), key.nr);
      line.abi = trace::abi_name(key.abi);
      line.function = function;
      line.module = trace_text(path);
      line.fallback = named && trigger->fallback;
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
  find_main_libraries();
  std::vector<trace::StackId> all;
  for (const auto& [stack, kept] : fresh_) all.push_back(stack);
  for (const trace::StackId stack : all) (void)trigger_of(stack);
}

}  // namespace uscope::live
