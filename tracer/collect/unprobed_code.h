// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which traced processes have code of a target in memory that has no probes: probes are in files, by inode. The kernel
// side tells of every executable mapping; each is held against the files in which there are probes:
//
// - A mapping of a probed place that is shared, or writable when it is made, gets no breakpoints: the process is
//   counted (`probe_not_there`).
// - A file that a target means and that has no probes (a program was replaced, a library came late) is read for the
//   target, in another process, and probed. Who has mapped it before is counted: it may have called what was not probed
//   yet. A file in the place of a probed one that has no such function is said, and counted. A target means a file by
//   the path that the process sees, or because the path that was asked for leads to it now: a mapping may show another
//   one of its paths (a link, another mount of its folder, another root). That is looked up after each mapping of a
//   file that nobody seems to mean. Not seen: a path that led to it for less than a tenth of a second.
//
// - A copy of a probed file in a file that exists only in memory (memfd_create: runc starts itself from one) has no
//   probes: a process that maps it is counted. Copies are known by their code at the probes' places.
//
// Not seen: a copy that a process makes of its code where no mapping says so, in anonymous memory elsewhere; nor a copy
// on a disk, which is another program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/result.h"
#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/files/file_table.h"
#include "tracer/model/task_table.h"
#include "tracer/probes/file_targets.h"
#include "tracer/scouts/code_look.h"
#include "tracer/scouts/path_look.h"
#include "uscope/record.h"

namespace uscope::tracer {

class UnprobedCode {
 public:
  static constexpr std::size_t kMostFiles = 512;  // that are read for targets while tracing
  // A process and the loss that it is counted for, or (without one) a file that was probed.
  using Tell = std::function<void(trace::ProcessId process, const SourceLoss& loss)>;
  // New kinds of events, before the first of them.
  using TellKinds = std::function<void(const std::vector<Probe>& probes)>;

  // All must outlive this object. `targets`: null: no file is read, and whoever maps one that was replaced is counted.
  // `scouts`: who look whether code of a file that is met was changed; null: the caller's thread does.
  UnprobedCode(Backend& backend, FileTable& files, const TaskTable& tasks, FileTargets* targets, Scouts* scouts);

  void add(const usc_map& map);
  void add(const usc_blind_map& map);
  // Judges the mappings whose files are known, and goes on with files that are read. To be called in each round.
  Result<void> work(std::uint64_t now_ns, const Tell& tell, const TellKinds& tell_kinds);
  // A probed file has lost its probes. If it has been changed, it is a file like others that a target means;
  // `for_good`: for what processes do with its code, so it is not probed again.
  void forget(const std::string& path, std::uint64_t time_ns, bool for_good);
  // Whether a process has been counted, for any file.
  [[nodiscard]] bool has_counted(trace::ProcessId process) const;
  // Nothing is probed any more; what waits to be read is read, so that it is known who had probes missing.
  void close(std::uint64_t now_ns);
  [[nodiscard]] bool is_reading() const {
    return !unsure_.empty() || (targets_ != nullptr && (reading_ || !queue_.empty()));
  }

 private:
  struct Probed {
    std::string path;
    usc_file_key key{};
    std::vector<std::uint64_t> places;
    bool active = true;
    std::uint64_t since_ns = 0;  // of a file that was met while tracing
    std::uint64_t until_ns = 0;  // if it is not active
    bool for_good = false;       // it is not probed again
  };
  struct Mapping {
    trace::TaskId task;
    trace::FileId file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time = 0;
    bool blind = false;

    [[nodiscard]] bool holds_one_of(const std::vector<std::uint64_t>& places) const {
      return std::any_of(places.begin(), places.end(), [this](std::uint64_t place) { return place - offset < bytes; });
    }
  };
  // Of files that exist only in memory: kCopy has the code of a probed one; kUnread was gone before it could be read.
  // kGivenUp is not probed again.
  enum class Role : std::uint8_t { kNone, kProbed, kCopy, kUnread, kReplaced, kMeant, kGivenUp };
  // A file that a target means and that has no probes.
  enum class Reading : std::uint8_t { kWaits, kRuns, kProbed, kEmpty };
  // The file to which a path led at the last look.
  struct Asked {
    std::optional<usc_file_key> key;
  };
  struct Met {
    UniqueFd fd;  // until it has probes
    Role role = Role::kMeant;
    std::string path;
    Reading reading = Reading::kWaits;
    std::vector<std::pair<trace::ProcessId, std::uint64_t>> processes;  // that have mapped it, and when
  };

  struct Judged {
    Role role = Role::kNone;
    std::size_t probed = 0;
    std::optional<std::size_t> asked = {};  // the path that was asked for and leads to it, if that is not its own
    std::uint64_t until_ns = 0;             // until then its file had probes
  };
  template <typename Record>
  void add(const Record& map, bool blind);
  const Judged& role_of(trace::FileId serial, const File& file);
  [[nodiscard]] Judged memory_role(const File& file);
  void judge(const Mapping& mapping, const File& file, const Tell& tell);
  void look_at_paths(std::uint64_t now_ns, const Tell& tell);
  void judge_by_paths(const Tell& tell);
  void ask_for(const std::string& path);
  void judge_memory(const Mapping& mapping, const File& file, const Judged& judged, const Tell& tell);
  void meet(const Mapping& mapping, const File& file, const Judged& judged);
  void count(trace::ProcessId process, trace::FileId file, std::uint64_t from_ns, std::string what, const Tell& tell);
  void count(const Mapping& mapping, const std::string& deed, const Tell& tell);
  Result<void> read_next();
  Result<void> take_answer(const Tell& tell, const TellKinds& tell_kinds);
  [[nodiscard]] bool is_answer_there(const Met& met);
  [[nodiscard]] std::string take_changed();
  void settle(trace::FileId serial, Met& met, Reading reading, const std::string& what, const Tell& tell);

  Backend& backend_;
  FileTable& files_;
  const TaskTable& tasks_;
  FileTargets* targets_;
  Scouts* scouts_;
  std::vector<Probed> probed_;
  std::deque<Mapping> waiting_;
  std::unordered_map<trace::FileId, Met> met_;
  std::deque<trace::FileId> queue_;
  trace::FileId reading_;
  std::vector<Probe> found_;      // in that file
  std::optional<CodeLook> look_;  // whether a process has other code there
  std::set<std::pair<trace::ProcessId, trace::FileId>> counted_;
  std::unordered_map<trace::FileId, Judged> roles_;  // empty after each change of what is probed
  PathLook paths_;                                   // that were asked for, as this process can look them up
  std::vector<Asked> asked_;                         // in the same order
  std::vector<Mapping> unsure_;                      // of files that nobody means by their own path
  bool looks_at_paths_ = false;
  std::uint64_t path_look_ns_ = 0;  // when the last look at them began
  std::uint64_t closed_ns_ = 0;
};

}  // namespace uscope::tracer
