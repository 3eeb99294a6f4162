// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks again and again whether processes change code in which there are probes (tracer/scouts/code_look.h): all
// processes of this machine, one look after the other, with a hundred times as long between two as a look takes on a
// CPU.
//
// - A process that has changed a probed instruction in its memory, or can write around a breakpoint, executes the
//   file's instruction in its stead: the file's probes are removed. What a process changes and executes between two
//   looks is not prevented, nor can the byte be given back that a breakpoint was put over.
// - A process that may be about to have breakpoints of its own in code that has probes: the kernel side says so before
//   that can be done (usc_code_doubt), and this waits for the answer where that code is, for some ms, but in no more
//   than a tenth of the time: the rings must be emptied, whatever anybody does to make doubts. A debugger has
//   attached, or opened the process's memory, and reads what stands there (some ms later, as measured of gdb): then the
//   file's probes are gone. A process that makes its own code writable goes on at once, so its breakpoint may have been
//   taken for the kernel's.
// - A process that translates the file's code instead of executing it: the same.
// - A traced process that has lost its breakpoints (a debugger wrote back what it had found, madvise) is counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/model/task_table.h"
#include "tracer/scouts/code_look.h"
#include "uscope/record.h"

namespace uscope::tracer {

class CodeWatch {
 public:
  // A process and the loss that it is counted for; without one, a file whose probes were removed.
  using Tell = std::function<void(trace::ProcessId process, const SourceLoss& loss)>;

  // All must outlive this object.
  CodeWatch(Backend& backend, const TaskTable& tasks, Scouts* scouts)
      : backend_(backend), tasks_(tasks), scouts_(scouts) {}

  void doubt(const usc_code_doubt& doubt);
  // To be called in each round: goes on without waiting, but where there is a doubt.
  void work(std::uint64_t now_ns, const Tell& tell);

 private:
  // Of which a look is under way: what the process does, for the user.
  struct Doubted {
    CodeDoubt doubt;
    std::string deed;
  };
  [[nodiscard]] std::vector<CodeFile> probed_code(std::vector<std::string>& paths);
  void take(const usc_code_doubt& told);
  void begin_doubt_look(std::uint64_t until_ns);
  void look_at_doubts(std::uint64_t now_ns, const Tell& tell);
  void begin(std::uint64_t now_ns);
  void end(std::uint64_t now_ns, const Tell& tell);
  void remove_probes(const CodeFinding& finding, const std::string& path, const std::string& deed, std::uint64_t now_ns,
                     const Tell& tell);
  void count_unprobed(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell);

  Backend& backend_;
  const TaskTable& tasks_;
  Scouts* scouts_;
  std::vector<std::string> paths_;  // of the files of the look
  std::optional<CodeLook> look_;
  std::deque<usc_code_doubt> told_;  // by the kernel side; nobody knows yet whom they are of
  std::int64_t time_left_ns_ = 0;    // for doubts, now; less than nothing: it took longer
  std::uint64_t time_given_ns_ = 0;  // when that was counted
  std::vector<Doubted> doubts_;      // that nobody looks at yet
  std::vector<Doubted> doubted_;     // of the look below
  std::vector<std::string> doubted_paths_;
  std::optional<CodeLook> doubt_look_;
  std::uint64_t next_ns_ = 0;
  std::set<std::pair<std::uint32_t, std::string>> unprobed_;  // processes and paths, as of the last look
  std::set<std::pair<trace::ProcessId, std::string>> counted_;
};

}  // namespace uscope::tracer
