// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What walks of this process's own stacks need: its files with their rows, its mappings, and a task.
#pragma once

#include "tests/unit/tracer/own_process.h"
#include "tracer/walk/walk_inputs.h"

namespace uscope::tracer {

struct OwnWalks {
  static constexpr std::uint32_t kTask = 8;
  static constexpr std::uint32_t kOfProcess = 6;

  OwnWalks() {
    usc_task task{};
    task.head.task = kTask;
    task.process = kOfProcess;
    task.pid = 4711;
    task.flags = USC_TASK_PROCESS;
    tasks.start(task);
  }
  void map_all() {
    for (const usc_map& map : process.maps()) mappings.add(map);
    for (const auto& [serial, mapping] : process.files()) (void)announce(files, serial, mapping);
    (void)maker.hand_over();
  }
  [[nodiscard]] static OwnSample sample(std::uint32_t stack) {
    OwnSample taken = take_sample();
    taken.record().head.task = kTask;
    taken.record().head.cpu = 1;
    taken.record().head.seq = 40 + stack;
    taken.record().stack = stack;
    return taken;
  }

  FakeBackend backend;
  symbolizer::RowCache cache{""};
  RowBuildQueue maker{cache, 0};
  FileTable files{backend, maker, {}};
  WalkTables rows{files, maker};
  MappingTimeline mappings;
  TaskTable tasks;
  OwnProcess process;
  WalkInputs inputs{mappings, files, rows, tasks, {USC_MODE_ALL_ALL, 256}};
};

}  // namespace uscope::tracer
