// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Counts for `uscope top --by thread`. An event costs a comparison if it is of the same thread as the one before, and a
// look into a hash table otherwise. A thread that gets another name, or executes a program, has a line for each name:
// its calls are those of the name that it had when they ended. Counting begins anew for each display, so threads that
// have ended disappear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"
#include "tracer/model/task_table.h"
#include "uscope/record.h"

namespace uscope::live {

struct ThreadLine {
  std::uint32_t pid = 0;  // 0 where the thread's start has not come yet
  std::uint32_t tid = 0;
  std::string name;
  std::uint64_t calls = 0;  // that ended
  std::uint64_t errors = 0;
  std::uint64_t time_ns = 0;  // of those that were traced from entry to return
  std::string call;           // the most frequent one
  std::string abi;            // of that call
  bool others = false;        // all threads for which there was no room, together; they have no pid, tid and name
  std::string last_call{};
  trace::StackId stack{};  // of its last call
};

class ThreadCounts {
 public:
  static constexpr std::size_t kMostThreads = 1U << 16;
  // Names of a thread that have a line each. With more of them, the last line is that of all others, under the latest
  // name.
  static constexpr std::size_t kMostNames = 8;
  // Kinds of calls of a thread. With more of them, a call that is more than one of kMostKinds is still found.
  static constexpr std::size_t kMostKinds = 32;

  // A call that ended. `time_ns` is 0 where it was not traced from its entry.
  void add(const usc_event& event, const tracer::TaskInfo& task, bool error, std::uint64_t time_ns);

  // A thread's start, which may come later than its calls: another processor made the thread.
  void start(const usc_task& task);

  // What was counted since the last take(), in no order.
  [[nodiscard]] std::vector<ThreadLine> lines() const;
  void take();

 private:
  struct Kind {
    std::uint32_t abi = 0;
    std::uint32_t nr = 0;
    std::uint64_t calls = 0;
  };
  struct Counts {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::string name;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::uint64_t time_ns = 0;
    std::vector<Kind> kinds;
    Kind last;
    trace::StackId stack = {};  // of the last call
  };

  Counts& counts_of(trace::TaskId serial, const tracer::TaskInfo& task);
  static void add_kind(std::vector<Kind>& kinds, std::uint32_t abi, std::uint32_t nr);
  static ThreadLine line(const Counts& counts);

  std::unordered_map<trace::TaskId, std::vector<Counts>> threads_;  // by the names that each had
  Counts others_;                                                   // of threads beyond kMostThreads
  trace::TaskId last_{};
  Counts* last_counts_ = nullptr;  // those of last_; null after take()
};

}  // namespace uscope::live
