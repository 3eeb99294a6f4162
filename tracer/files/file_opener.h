// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Opens the files behind mappings. Candidates are /proc/PID/map_files, /proc/PID/exe, the path inside the process's
// root, the path itself; the first one that is the mapped file (file_identity.h) is taken. A server of a traced program
// may answer each step late, or never. So a scout does each step, and the collector waits for a few milliseconds only:
// that is enough for an ordinary file, whose short-lived process may soon have ended. Otherwise the file is opened
// while tracing goes on. Few files are opened at a time, of each process fewer, and processes take turns. A file that
// is not open after `longest_ms` is given up, and so is every file once tracing has ended; each counts as a process
// that did not answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/unique_fd.h"
#include "trace/ids.h"
#include "tracer/backend/backend.h"
#include "tracer/scouts/patience.h"
#include "tracer/scouts/process_looks.h"
#include "tracer/scouts/scouts.h"
#include "tracer/scouts/waiting_debt.h"
#include "uscope/control.h"

namespace uscope::tracer {

struct FileToOpen {
  trace::FileId serial;
  std::uint32_t pid = 0;  // of a process that maps it
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // the mapping in that process
  usc_file_key key{};
  bool deleted = false;  // it has no name any more
  bool leased = true;    // a process may have a lease on it
  std::string path;
};

struct FoundFile {
  trace::FileId serial;
  std::uint32_t pid = 0;
  UniqueFd fd;
  bool is_copy = false;          // see OpenedFile
  bool shares_our_root = false;  // see OpenedFile
  std::string place;             // uscope's own path to it; empty: none
  int error = 0;  // why there is no fd: ESTALE: only other files are there; ETIMEDOUT: `trouble` says more
  std::string trouble;
};

struct OpeningLimits {
  int first_wait_ms = 5;      // the collector's wait for a file that is met
  double most_debt_ms = 400;  // after these waits lately, the collector does not wait at all
  std::size_t at_once = 12;
  std::size_t of_one = 4;   // of these, for one process
  int silence_ms = 2'000;   // a scout that says nothing for so long, hangs
  int longest_ms = 10'000;  // from when a file is met, as CountedTime counts; of a copy alone, by the clock
};

class FileOpener {
 public:
  // Without scouts the caller's thread does the work, and each file is opened at once. `work` is open_file, except in
  // tests.
  FileOpener(Backend& backend, Scouts* scouts, OpeningLimits limits = {}, ScoutWork work = open_file);

  // Returns the file, or why there is none; nullopt: take() returns it later.
  std::optional<FoundFile> open(FileToOpen file);
  // Continues to open files, and returns those that are open or given up.
  std::vector<FoundFile> take();
  // The same, but gives up all that are not open yet. From now on, each file is given up that is not open after the
  // first wait.
  std::vector<FoundFile> give_up();
  // take() gives up all that are not open when it has waited so long for them.
  void end_after(std::uint64_t time_ns) { last_wait_.emplace(time_ns); }
  [[nodiscard]] bool is_busy() const { return !turn_.empty() || !running_.empty(); }

  // Opens a file that nothing depends on, and waits that long for it. Returns nullopt if it did not come in that time,
  // or if the collector has waited for too long lately.
  std::optional<OpenedFile> try_open(const OpenRequest& request, int milliseconds);
  // Opens a file again that was opened before, where it may be (`places`) or through the process, in the same way.
  [[nodiscard]] UniqueFd open_again(const FileToOpen& file, std::vector<std::string> places, int milliseconds);

 private:
  struct Opening {
    FileToOpen file;
    std::array<std::string, 4> candidates;
    std::size_t next = 0;      // candidate
    int error = 0;             // of the last candidate
    std::uint64_t met_ns = 0;  // by `time_`
    std::optional<Errand> errand = {};
    std::optional<ScoutMessage> answer = {};
  };
  using Openings = std::list<Opening>;
  struct Process {
    Openings waiting;
    std::size_t running = 0;
  };
  enum class Step { kAgain, kLater };  // what to do next with an opening that is not decided

  [[nodiscard]] OpenRequest request_for(const Opening& opening) const;
  std::optional<FoundFile> open_here(Opening& opening);
  std::optional<FoundFile> open_soon(Opening& opening);
  std::optional<FoundFile> go_on(Opening& opening);
  std::optional<FoundFile> follow(Opening& opening, Step* step);
  std::optional<FoundFile> judge(Opening& opening, OpenedFile opened) const;
  std::optional<FoundFile> open_beside(Openings one);
  [[nodiscard]] bool is_any_running() const;
  [[nodiscard]] bool is_overdue(const Opening& opening);
  void forget_if_idle(std::uint32_t pid);
  void start_waiting(std::vector<FoundFile>& found);
  void drop_overdue(std::vector<FoundFile>& found);

  Backend& backend_;
  Scouts* scouts_;
  const OpeningLimits limits_;
  const ScoutWork work_;
  CountedTime time_;
  WaitingDebt debt_;
  Openings running_;
  std::unordered_map<std::uint32_t, Process> processes_;  // with a file that is being opened, or waits for it
  std::deque<std::uint32_t> turn_;                        // processes with files that wait
  std::uint64_t looked_ns_ = 0;                           // for files that have waited for too long
  std::optional<Patience> last_wait_;
  bool ended_ = false;
};

}  // namespace uscope::tracer
