// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The interface of whoever observes a trace while it is made: live counts, printed calls.
#pragma once

#include "trace/ids.h"
#include "uscope/query_rows.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct File;          // tracer/files/file.h
struct PerfMapEntry;  // tracer/jit/perf_map.h
struct TaskInfo;      // tracer/model/task_table.h
class TaskTable;

// Sees records as they pass; nothing may be kept of what is handed in.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void on_event(const usc_event& event, const TaskInfo& task) = 0;
  // Tracing begins: the time from which the trace counts, before anything else is seen.
  virtual void on_start(std::uint64_t /*start_ns*/) {}
  // A call that has not returned yet. If it does while tracing, its event follows.
  virtual void on_open_call(const usc_event& /*event*/) {}
  // A signal was sent or delivered.
  virtual void on_signal(const usc_signal& /*signal*/) {}
  // A probe was hit; its kernel frames are addresses.
  virtual void on_hit(const usc_hit& /*hit*/) {}
  // Whatever was sent before this time has been seen; at the end of tracing, ~0. Tasks are known that have ended
  // lately.
  virtual void on_round(std::uint64_t /*before_ns*/, const TaskTable& /*tasks*/) {}
  // Definitions, which may come later than what refers to them.
  virtual void on_task(const usc_task& /*task*/) {}
  virtual void on_kind(const usc_kind& /*kind*/) {}
  virtual void on_stack(const usc_stack& /*stack*/) {}
  virtual void on_image(const usc_exec& /*exec*/) {}       // as it is written: texts to be hidden are hidden
  virtual void on_string(const usc_string& /*string*/) {}  // most often before its call's event
  virtual void on_file(trace::FileId /*serial*/, const File& /*file*/) {}
  // What a question (usc_config) has summed of some events: keys may come several times. Where the row stands for a
  // group of steps (uscope/query_rows.h), `steps` says which; else it is nullptr.
  virtual void on_sums(const usc_query_row& /*row*/, const usc_query_steps* /*steps*/) {}
  virtual void on_jit_name(trace::MmId /*mm*/, const PerfMapEntry& /*name*/) {}
};

}  // namespace uscope::tracer
