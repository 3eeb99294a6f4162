// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks again and again whether processes change code in which there are probes (tracer/scouts/code_look.h): all
// processes of this machine, one look after the other, with a hundred times as long between two as a look takes on a
// CPU.
//
// - A process that has changed a probed instruction in its memory, or can write around a breakpoint, executes the
//   file's instruction in its stead: the file's probes are removed. What a process changes and executes between two
//   looks is not prevented, nor can the byte be given back that a breakpoint was put over.
// - A traced process that has lost its breakpoints (a debugger wrote back what it had found, madvise) is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/model/task_table.h"
#include "tracer/scouts/code_look.h"

namespace uscope::tracer {

class CodeWatch {
 public:
  // A process and the loss that it is counted for; without one, a file whose probes were removed.
  using Tell = std::function<void(trace::ProcessId process, const SourceLoss& loss)>;

  // All must outlive this object.
  CodeWatch(Backend& backend, const TaskTable& tasks, Scouts* scouts)
      : backend_(backend), tasks_(tasks), scouts_(scouts) {}

  // To be called in each round: goes on without waiting.
  void work(std::uint64_t now_ns, const Tell& tell);

 private:
  void begin(std::uint64_t now_ns);
  void end(std::uint64_t now_ns, const Tell& tell);
  void remove_probes(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell);
  void count_unprobed(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell);

  Backend& backend_;
  const TaskTable& tasks_;
  Scouts* scouts_;
  // By path and file: after a file was replaced, both may have probes.
  using CodeKey = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  std::map<CodeKey, CodeFile> code_;
  std::vector<std::string> paths_;  // of the files of the look
  std::optional<CodeLook> look_;
  std::uint64_t next_ns_ = 0;
  std::set<std::pair<std::uint32_t, std::string>> unprobed_;  // processes and paths, as of the last look
  std::set<std::pair<trace::ProcessId, std::string>> counted_;
};

}  // namespace uscope::tracer
