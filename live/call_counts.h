// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `uscope top` counts while tracing: calls, errors and times, by call and trigger, and by thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "live/live_names.h"
#include "live/thread_counts.h"
#include "trace/ids.h"
#include "trace/latency.h"
#include "trace/own_libraries.h"
#include "trace/trigger.h"
#include "tracer/collect/observer.h"

namespace uscope::live {

struct CallLine {
  std::string call;
  std::string abi;
  std::string function;  // of the trigger; "" where no frame can be one
  std::string module;    // its path
  bool fallback = false;
  std::uint64_t calls = 0;  // that ended
  std::uint64_t errors = 0;
  trace::LatencySketch times;  // of those that were traced from entry to return
  bool waits = false;          // for others: syscalls/call_traits.h
  trace::StackId stack = {};   // of most of the calls; of equally many, any
  std::uint64_t stack_calls = 0;
  std::size_t stacks = 0;  // distinct ones
};

// A function in a stack. Without a name it is `module+0xADDRESS`.
struct StackFunction {
  std::string name;
  std::string module;  // its path
};

class CallCounts : public tracer::RecordObserver {
 public:
  // `names` must outlive this object. `with_runtime`: --app-runtime.
  explicit CallCounts(LiveNames& names, bool with_runtime = false) : names_(names), with_runtime_(with_runtime) {}

  void on_event(const usc_event& event, const tracer::TaskInfo& task) override;
  void on_task(const usc_task& task) override { threads_.start(task); }
  void on_stack(const usc_stack& stack) override;
  void on_image(const usc_exec& exec) override;
  void on_file(trace::FileId serial, const tracer::File& file) override;
  void on_jit_name(trace::MmId mm, const tracer::PerfMapEntry& name) override;

  // What was counted since the last take(), in no order that means anything; functions that have no name yet are
  // `module+0xADDRESS`, and the trigger of a stack is not certain before its functions have names.
  [[nodiscard]] std::vector<CallLine> lines();
  // Whether the last lines() were so for lack of names.
  [[nodiscard]] bool waits_for_names() const { return waits_for_names_; }
  // The functions of a stack, innermost first. Empty where the stack is empty, was not kept, or did not come yet.
  // `complete` becomes false while names are still being read.
  [[nodiscard]] std::vector<StackFunction> functions_of(trace::StackId stack, bool& complete);
  // The same calls by thread, in no order.
  [[nodiscard]] std::vector<ThreadLine> threads() const { return threads_.lines(); }
  void take();

 private:
  struct Key {
    std::uint32_t abi = 0;
    std::uint32_t nr = 0;
    trace::StackId stack = {};
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return ((std::uint64_t{key.stack.value()} << 20) ^ (std::uint64_t{key.nr} << 2) ^ key.abi) *
                 0x9e3779b97f4a7c15ULL >>
             8;
    }
  };
  struct Counts {
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    trace::LatencySketch times;
  };
  struct Stack {
    trace::MmId mm;
    trace::StackEnd end = trace::StackEnd::kOther;
    std::vector<std::uint64_t> frames;
    int looks = 0;                // pictures in which names of generated code could have changed its trigger
    std::uint64_t looked_at = 0;  // the last of them
  };
  // Of a stack: a function at a frame, inlined calls counted from 0.
  struct Place {
    std::uint64_t frame = 0;
    std::uint32_t depth = 0;
    trace::TriggerFrame facts;
  };
  struct Trigger {
    std::uint64_t frame = 0;
    std::uint32_t depth = 0;
    trace::MmId mm = {};  // where the frame is of memory without a file
    bool none = false;
    bool fallback = false;
    bool cut = false;
    auto operator<=>(const Trigger&) const = default;  // NOLINT(modernize-use-nullptr): of what the compiler makes
  };
  struct Module {
    std::string path;
    std::vector<usc_segment> segments;
    bool named = false;  // by --app-module
    bool holds_program = false;
    bool runtime = false;
    bool jit = false;
    bool machine = false;    // it runs code of a managed language
    std::size_t own_of = 0;  // how many executables and folders were known when `own` was asked
    bool own = false;        // an executable's own library
  };

  [[nodiscard]] Module& module(trace::FileId serial);
  void note_executable(trace::FileId serial);
  [[nodiscard]] trace::TriggerFrame frame_facts(std::uint64_t frame);
  [[nodiscard]] const LiveNames::Functions* functions_at(std::uint64_t frame);
  [[nodiscard]] bool is_managed(const Stack& stack);
  [[nodiscard]] bool find_program(const Stack& stack);
  [[nodiscard]] bool add_places(std::uint64_t frame, trace::MmId mm, bool is_managed, std::vector<Place>& places);
  [[nodiscard]] std::pair<Trigger, bool> find_trigger(Stack& stack);
  [[nodiscard]] std::optional<Trigger> trigger_of(trace::StackId stack, bool for_good);
  [[nodiscard]] std::string function_of(const Trigger& trigger);
  void keep(trace::StackId stack, Stack&& known);
  void add_functions(std::uint64_t frame, trace::MmId mm, std::vector<StackFunction>& to, bool& complete);

  LiveNames& names_;
  bool with_runtime_;
  bool waits_for_names_ = false;
  std::uint64_t picture_ = 1;  // how often lines() was asked for
  std::unordered_map<Key, Counts, KeyHash> counts_;
  ThreadCounts threads_;
  std::unordered_map<trace::StackId, Stack> fresh_;  // stacks whose trigger was not asked for yet
  std::unordered_map<trace::StackId, Stack> kept_;   // those whose trigger is known, for functions_of
  std::size_t kept_frames_ = 0;
  std::vector<std::uint32_t> trigger_of_;  // by stack: a number in triggers_ + 1; 0 = not known
  std::vector<Trigger> triggers_;
  std::map<Trigger, std::uint32_t> numbers_;
  std::unordered_map<trace::FileId, Module> modules_;
  std::unordered_set<trace::FileId> executed_;
  trace::OwnLibraries own_libraries_;
  std::map<std::pair<trace::MmId, std::uint64_t>, std::string> jit_names_;
  std::unordered_set<trace::MmId> managed_;  // with code of a managed language (trace/function_origin.h)
};

}  // namespace uscope::live
