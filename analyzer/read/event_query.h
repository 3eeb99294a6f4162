// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads single events, filtered, in order of time, one by one: memory does not grow with their number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"
#include "trace/hit.h"
#include "trace/signal_info.h"

namespace uscope::analyzer {

// An event must match every member that is set; values of one list are alternatives. GLOBs are SQLite's: * ? [a-z],
// case-sensitive.
struct EventFilter {
  std::vector<std::int64_t> pids{};  // of the initial namespace
  std::vector<std::int64_t> tids{};
  std::vector<std::string> processes{};             // GLOB on any name of the image
  std::optional<std::vector<std::string>> calls{};  // names of calls and signals; an empty list matches nothing
  std::vector<std::string> targets{};               // with `calls`, also these: a class, or class:GLOB of names in it
  bool failed = false;                              // only events whose result is an error number
  std::vector<std::int64_t> errors{};               // errno, positive
  std::optional<std::int64_t> slower_ns{};          // least duration; calls that never returned have none
  std::vector<std::string> hows{};                  // "open", "killed", …
  std::vector<std::string> paths{};                 // GLOB on an argument's text, or what a descriptor refers to
  std::vector<std::string> triggers{};              // GLOB on the trigger's function
  std::vector<std::string> functions{};             // GLOB on any function of the stack
  std::optional<std::int64_t> since_ns{};           // entry time, since the trace's start
  std::optional<std::int64_t> until_ns{};
  std::optional<std::uint64_t> limit{};  // only this many events, from the first on
};

struct Catalog;
struct Kind;

struct EventString {
  enum class Source { kProgram, kKernel, kDescriptor };  // kDescriptor: the object that it stands for
  int arg = 0;                                           // the argument that points to the data
  std::string value;
  bool late = false;  // read after the call's entry: as event_string.late in docs/schema.md
  Source source = Source::kProgram;
};

// What a call carried, or a structure that it was given.
struct EventContent {
  enum class Holds { kData, kStructure };
  int arg = 0;  // the argument that points to it
  Holds holds = Holds::kData;
  EventString::Source source = EventString::Source::kProgram;
  std::optional<std::string> bytes;  // nullopt: redacted
  bool late = false;                 // as in EventString
  bool cut = false;                  // there was more
};

// What is known of a signal that was sent or delivered.
struct EventSignal {
  int number = 0;
  int code = 0;  // si_code
  trace::SignalInfo info;
  bool delivered = false;  // else it was sent
  // Of a signal that was sent.
  std::string result;  // "queued", … (include/uscope/lists/signal_result.def)
  bool blocked = false;
  std::optional<std::int64_t> sender_pid;  // nullopt: the kernel sent it
  std::int64_t sender_tid = 0;
  std::string sender;  // name of the thread
  std::int64_t receiver_pid = 0;
  std::optional<std::int64_t> receiver_tid;  // nullopt: to the whole process
  std::string receiver;
  // Of one that was delivered.
  std::int64_t handler = 0;      // its address; 0: the default action, 1: ignored
  std::string handler_function;  // empty: not known
};

struct EventRow {
  EventRowId id;
  std::int64_t ts_ns = 0;  // since the trace's start
  std::optional<std::int64_t> dur_ns;
  std::string how;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;  // name of the image
  std::string thread;
  std::string call;
  std::string source;  // kind.class: "syscall", …; empty if unknown
  std::string abi;
  std::int64_t nr = 0;
  std::optional<std::int64_t> result;
  std::string error;  // "ENOENT"; empty if the result is not an error
  std::array<std::optional<std::int64_t>, 6> args;
  std::vector<trace::KindArgument> arguments;  // of a probe: names and types of the first of them
  std::vector<EventString> strings;            // by argument
  std::vector<EventContent> contents;          // by argument
  std::optional<EventSignal> signal;
  std::optional<StackRowId> stack_id;
  std::int64_t depth = 0;
  std::string ended;
  std::string trigger;
  std::string trigger_module;
  bool trigger_fallback = false;
  bool guessed = false;  // the walk continued from code without unwind data: callers may be missing
};

struct StackFrame {
  std::int64_t position = 0;  // 0 = innermost
  std::int64_t inline_depth = 0;
  bool kernel = false;
  bool inlined = false;
  std::string module;  // path
  std::string function;
  std::int64_t function_offset = 0;
  std::int64_t rel_pc = 0;
  std::string file;
  std::int64_t line = 0;  // 0 = unknown
};

// Reads stacks by id and caches the most used ones.
class StackReader {
 public:
  static Result<StackReader> create(const store::Database& database);
  StackReader(StackReader&&) noexcept;
  StackReader& operator=(StackReader&&) noexcept;
  ~StackReader();

  // Innermost first. The pointer is valid until the next call.
  [[nodiscard]] Result<const std::vector<StackFrame>*> frames(StackRowId stack_id);

 private:
  struct State;
  explicit StackReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether a kind is one of a filter's targets.
[[nodiscard]] bool is_target(const std::vector<std::string>& targets, const Kind& kind);

// Calls `row` for each event that matches the filter, by entry time; stops when it returns false.
[[nodiscard]] Result<void> for_each_event(const store::Database& database, const Catalog& catalog,
                                          const EventFilter& filter, const std::function<bool(const EventRow&)>& row);
[[nodiscard]] Result<void> for_each_event(const store::Database& database, const EventFilter& filter,
                                          const std::function<bool(const EventRow&)>& row);

// The same for one event with `around` events of its thread before it, and as many after it. An error if the store has
// no such event.
[[nodiscard]] Result<void> for_event_and_neighbours(const store::Database& database, const Catalog& catalog,
                                                    EventRowId id, std::size_t around,
                                                    const std::function<bool(const EventRow&)>& row);

// Prepares `head` ("SELECT columns"), FROM event e WHERE the filter's conditions, and `tail` (GROUP BY …). The filter's
// limit is ignored, and the order is any.
[[nodiscard]] Result<store::Statement> select_events(const store::Database& database, const Catalog& catalog,
                                                     const EventFilter& filter, const std::string& head,
                                                     const std::string& tail);

}  // namespace uscope::analyzer
