// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What drives the kernel side. One interface for every backend (BPF programs, kernel module), so that all that follows,
// the collector, the trace file, the report, is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "trace/ids.h"
#include "tracer/backend/backend_options.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/scouts/code_look.h"
#include "uscope/control.h"
#include "uscope/query_rows.h"

namespace uscope::symbolizer {
struct UnwindTable;
}

namespace uscope::tracer {

class Scouts;

// What became of the rows of a file. kNoRoom: there is room once rows of other files give way. kNever: there is none
// even then, since the table alone is too large, or since shared rules, which never give way, have used up theirs.
enum class Publish { kDone, kNoRoom, kNever };

// A source of events that did not tell all there was: from `from_ns` until now, or from now on. `count` 0: nothing is
// lost, and the user is told.
struct SourceLoss {
  usc_loss_cause cause = USC_LOSS_PROBE_NOT_THERE;
  std::uint64_t from_ns = 0;
  std::uint64_t count = 1;
  std::string what;       // a sentence about it, for the user; empty: the cause says it all
  std::string path;       // PROBE_REMOVED: the file's
  bool for_good = false;  // PROBE_REMOVED: the file itself is as it was, and is not probed again
};

// A file in which there are probes.
struct ProbedFile {
  std::string path;
  int fd = -1;                        // the backend's
  std::vector<std::uint64_t> places;  // offsets of functions' entries and of probes
  // At all places, without those of --force-probe; read before they were probed: later, nobody waits for a file.
  std::shared_ptr<const CodeFile> code;
};

class Backend {
 public:
  using RecordHandler = std::function<void(const usc_record&)>;

  virtual ~Backend() = default;

  // "bpf" or "kmod".
  [[nodiscard]] virtual const char* name() const = 0;

  // Before attach(). Our own process is never traced.
  virtual Result<void> set_target(const TargetNames& names) = 0;
  // Hooks on: from here on the launched process's first execve begins the trace.
  virtual Result<void> attach() = 0;
  // No call's entry is seen from here on; returns of those under way still are.
  virtual void close_entries() = 0;
  using SourceLossHandler = std::function<void(const SourceLoss&)>;
  // Looks after what events come from, and tells where they ceased to come: to be called in each round.
  virtual Result<void> tend_sources(std::uint64_t /*now_ns*/, const SourceLossHandler& /*tell*/) { return {}; }
  // A descriptor that becomes readable when tend_sources() is to be called at once; -1: there is none.
  [[nodiscard]] virtual int sources_fd() const { return -1; }
  // After attach().
  [[nodiscard]] virtual std::vector<ProbedFile> probed_files() { return {}; }
  // Probes a further file, of which `fd` is a descriptor; an error is one of this file.
  virtual Result<void> attach_file(int /*fd*/, const std::string& /*path*/, const std::vector<Probe>& /*probes*/) {
    return Error{"this backend has no probes in files", ""};
  }
  // Removes a file's probes while tracing. Returns false if it has none.
  virtual bool remove_file_probes(const std::string& /*path*/) { return false; }
  // Processes that have a debugger which may set breakpoints (ptrace, but not PTRACE_SEIZE).
  [[nodiscard]] virtual std::set<std::uint32_t> debugged_processes() { return {}; }
  // Hooks off. What the rings hold can still be read.
  virtual void detach() = 0;

  // The process (initial namespace's pid) whose first execve begins the trace.
  virtual Result<void> set_launched(int pid) = 0;

  // After attach(): decides on every task that runs, and announces those that are traced (usc_task, usc_exec). From
  // here on a pid is not looked at any more.
  virtual Result<void> adopt() = 0;
  // Scouts do whatever a process could block. They must outlive this object.
  virtual void set_scouts(Scouts& /*scouts*/) {}
  // Tells (usc_map) what a process that ran before has mapped; nothing where it has gone, or (module) after detach().
  // Returns false if its mappings are locked for so long that they could not be gone through, or have changed
  // meanwhile, or if it is just being decided whether the process is traced: ask again. Until then no call of it is
  // recorded.
  virtual Result<bool> announce_mappings(std::uint32_t pid) = 0;
  using AttachedHandler = std::function<void(const usc_attached_call&)>;
  // The calls that adopted threads were found in and still are in.
  virtual Result<void> list_attached_calls(const AttachedHandler& handle) = 0;
  // A stack id that the kernel side will not use.
  virtual Result<trace::StackId> reserve_stack() = 0;
  // Has all stacks sent anew where they come again: calls that begin after this name no stack below the number that it
  // gives. None: the kernel side cannot do this.
  virtual Result<trace::StackId> resend_stacks() { return trace::StackId(); }

  // Hands every record to `handle` that was ready when it began, and maybe later ones, processor by processor. Returns
  // how many there were.
  virtual Result<std::size_t> drain(const RecordHandler& handle) = 0;
  // Waits for an urgent record, or `milliseconds`.
  virtual void wait(int milliseconds) = 0;
  // A descriptor that becomes readable with an urgent record, for the caller's own poll.
  [[nodiscard]] virtual int wait_fd() const = 0;

  // Events (how = open) for every call that began before `before_ns` and has not been listed; returns the number of
  // traced tasks.
  virtual Result<std::uint64_t> list_open_calls(std::uint64_t before_ns, const RecordHandler& handle) = 0;

  // Hits (how = open) of what is under way and has a duration, at the end of tracing.
  virtual Result<void> list_open_hits(const RecordHandler& /*handle*/) { return {}; }

  // Unwind rows of a file; then its state and classes take effect. A table that was published before, for another
  // file, takes no room again. kNoRoom: nothing was published.
  virtual Result<Publish> publish_rows(trace::FileId file, const std::shared_ptr<const symbolizer::UnwindTable>& table,
                                       std::uint32_t classes) = 0;
  virtual Result<void> publish_state(trace::FileId file, usc_file_state state, std::uint32_t classes) = 0;
  // Takes rows back. The files become USC_FILE_USER_ONLY, and no walk uses their rows any more when this returns; they
  // may be published again. Only if can_withdraw_rows().
  [[nodiscard]] virtual bool can_withdraw_rows() const { return false; }
  virtual Result<void> withdraw_rows(std::span<const trace::FileId> /*files*/) { return {}; }

  // Hands over what a question (usc_config) has summed since the last time, and clears it: rows by processor, so a key
  // may come several times. Where a row stands for a group of steps (uscope/query_rows.h), these are handed over with
  // it. Rows that gave way come through drain(), as usc_partial.
  using SumHandler = std::function<void(const usc_query_row&, const usc_query_steps*)>;
  virtual Result<void> take_sums(const SumHandler& /*handle*/) { return {}; }

  // The kernel's key of the file behind one of our own mappings.
  virtual Result<usc_file_key> own_file_key(const void* address) = 0;
  // Gives a file a serial before it is met, so that its rows can be there first; none where the kernel has met it
  // already.
  virtual Result<trace::FileId> reserve_file(const usc_file_key& key) = 0;
  // Files that nothing maps any more. forget_files(): whoever maps a file with one of these keys from now on has met
  // another file; when it returns, the records of those who had met this one are in the rings. release_files(): no walk
  // looks for the files any more when it returns, and there is room for others.
  virtual Result<void> forget_files(std::span<const usc_file_key> keys) = 0;
  virtual Result<void> release_files(std::span<const trace::FileId> files) = 0;

  // Counters of every processor, and losses by process, both from the beginning on.
  virtual Result<std::vector<usc_stats>> stats() = 0;
  virtual Result<std::vector<std::pair<usc_loss_key, std::uint64_t>>> process_losses() = 0;
  // How many sequence numbers each processor gave out.
  virtual Result<std::vector<std::uint64_t>> sequence_numbers() = 0;
};

// One for each possible processor: "0-3,8" counts 9, since arrays are indexed by number.
[[nodiscard]] std::uint32_t possible_processors();

// A backend ready to be attached. `probes`: what is to be traced beside system calls; the module cannot do that.
Result<std::unique_ptr<Backend>> open_backend(BackendChoice choice, const usc_config& config, const BackendSizes& sizes,
                                              const ProbePlan& probes);
Result<std::unique_ptr<Backend>> open_bpf_backend(const usc_config& config, const BackendSizes& sizes,
                                                  const ProbePlan& probes);
Result<std::unique_ptr<Backend>> open_kmod_backend(const usc_config& config, const BackendSizes& sizes,
                                                   const ProbePlan& probes);

}  // namespace uscope::tracer
