// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What every walk in user space looks things up in.
#pragma once

#include "tracer/files/file_table.h"
#include "tracer/files/walk_tables.h"
#include "tracer/model/mapping_timeline.h"
#include "tracer/model/task_table.h"
#include "tracer/walk/jit_code.h"
#include "uscope/scope.h"

namespace uscope::tracer {

// All must outlive the walks.
struct WalkInputs {
  const MappingTimeline& mappings;
  FileTable& files;
  WalkTables& rows;
  const TaskTable& tasks;
  usc_scope scope{};
  JitCode* code = nullptr;  // null: nobody reads it
};

}  // namespace uscope::tracer
