// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who sees a trace while it is made: live counts, printed calls.
#pragma once

#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct File;          // tracer/files/file.h
struct PerfMapEntry;  // tracer/jit/perf_map.h
struct TaskInfo;      // tracer/model/task_table.h

// Sees records as they pass; nothing may be kept of what is handed in.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  virtual void on_event(const usc_event& event, const TaskInfo& task) = 0;
  // Definitions, which may come later than what refers to them.
  virtual void on_task(const usc_task& /*task*/) {}
  virtual void on_stack(const usc_stack& /*stack*/) {}
  virtual void on_image(const usc_exec& /*exec*/) {}
  virtual void on_string(const usc_string& /*string*/) {}  // most often before its call's event
  virtual void on_file(trace::FileId /*serial*/, const File& /*file*/) {}
  virtual void on_jit_name(trace::MmId /*mm*/, const PerfMapEntry& /*name*/) {}
};

}  // namespace uscope::tracer
