// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events summed by what a profile tells apart: the stack, and the levels around it. The common part of all formats that
// hold no single events.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

// What stands around a stack, in this order: program, pid and thread before it, the call behind it.
struct Levels {
  bool process = true;  // the program's name
  bool pid = false;     // `pid 123`
  bool thread = false;  // `worker/124`: the name that it had, and tid
  bool call = false;    // the system call as the innermost frame; of a probe its kind, with its class before it
};

// What a time is the time of. Each event's is of one.
enum class TimeOf : std::uint8_t { kCalls, kFunctions, kRunning, kOffCpu };
constexpr std::size_t kTimes = 4;

// Events of one stack that are alike in the levels that were asked for; what was not asked for is 0.
struct StackGroup {
  analyzer::ImageRowId image;
  analyzer::ThreadRowId thread;
  analyzer::KindRowId kind;
  std::string thread_name;  // when the events began
  std::optional<analyzer::StackRowId> stack;
  std::string ended;   // as stack.ended; empty: no stack
  std::string folded;  // as stack.folded
  std::uint64_t events = 0;
  std::uint64_t timed = 0;     // that have a time
  std::uint64_t total_ns = 0;  // all times: those in calls and functions, off the CPU, or that a sample stands for
  std::array<std::uint64_t, kTimes> time_ns{};  // the same, by TimeOf

  // What stands outside of the frames, or for them: "[broken:no_rows]" of a stack that does not reach its root because
  // the walk could not go on, "[no stack]" of events without one, "[no frames]" where the scope admits none. Of all
  // others empty.
  [[nodiscard]] std::string mark() const;
};

// Names of levels as a trace's text, for one group.
class LevelNames {
 public:
  explicit LevelNames(const analyzer::Catalog& catalog) : catalog_(catalog) {}

  // Outermost first: those of `levels` that stand before the stack. `use` is called with the level's name, "process",
  // "pid" or "thread", and its text.
  void before(const StackGroup& group, const Levels& levels,
              const std::function<void(const char*, const std::string&)>& use) const;
  // The level behind the stack; empty if it is not asked for.
  [[nodiscard]] std::string behind(const StackGroup& group, const Levels& levels) const;

 private:
  const analyzer::Catalog& catalog_;
};

// Of which times the trace's kinds are.
[[nodiscard]] std::vector<TimeOf> times_of(const analyzer::Catalog& catalog);

// Calls `use` for each group, in any order. Memory does not grow with the number of groups. The filter's limit is
// ignored.
[[nodiscard]] Result<void> for_each_group(const store::Database& database, const analyzer::Catalog& catalog,
                                          const analyzer::EventFilter& filter, const Levels& levels,
                                          const std::function<Result<void>(const StackGroup&)>& use);

}  // namespace uscope::exporters
