// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace at a glance: what is missing from it first, then the processes, the calls, their callers, durations and
// errors. Plain data; times are nanoseconds, `start_ns` and `ts_ns` count from the trace's first moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/files/files.h"
#include "analyzer/read/event_filter.h"
#include "analyzer/read/event_totals.h"
#include "analyzer/read/row_ids.h"
#include "analyzer/read/top_list.h"
#include "analyzer/summary/shared_function.h"
#include "analyzer/time/time.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct ProcessShare {
  std::optional<std::int64_t> pid;  // nullopt: the process is unknown
  std::uint64_t count = 0;
};

struct LossLine {
  std::string cause;
  std::string meaning;         // from loss.def; empty for a cause that this version does not know
  bool events_missing = true;  // false: no event is missing, only something that belongs to events
  std::uint64_t count = 0;
  std::vector<ProcessShare> processes;  // largest first
};

struct TraceFacts {
  std::map<std::string, std::string> meta;  // copy of the meta table
  std::int64_t start_ns = 0;                // CLOCK_MONOTONIC; all relative times count from here
  std::optional<std::int64_t> began_ns;     // the same moment since 1970, by the system clock; nullopt: not known
  std::int64_t duration_ns = 0;             // of the part
  std::int64_t whole_ns = 0;                // of the recording
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::uint64_t images = 0;
  std::uint64_t program_starts = 0;  // images, but for those of processes that ran already when tracing began
  std::uint64_t stacks = 0;
  double events_per_second = 0;
};

// Who sent or received a signal: a process, and the name of its thread then.
struct SignalParty {
  std::optional<std::int64_t> pid;  // nullopt: the kernel sent it
  std::string name;
};

struct ProcessLine {
  ProcessRowId id;
  std::int64_t pid = 0;
  std::int64_t ns_pid = 0;
  std::optional<std::int64_t> parent_pid;
  std::string name;  // of the program that made the events: the last one, but for lines of earlier ones
  std::string path;
  std::string argv;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> lifetime_ns;  // nullopt if it still ran when tracing ended
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> exit_signal;
  bool stopped = false;                 // by a signal, when tracing ended
  std::optional<SignalParty> ended_by;  // the last process that sent that signal; nullopt: the kernel, or not known
  std::uint64_t threads = 0;
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  bool uses_io_uring = false;
  std::optional<std::string> executed{};  // of an earlier program: the last one's name
  std::vector<std::int64_t> uids{};       // effective users of its threads in this program, in the order of their times
};

struct CallLine {
  std::string call;
  std::string abi;
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t timed = 0;  // events with a duration; the figures below are of these
  std::uint64_t total_ns = 0;
  std::uint64_t mean_ns = 0;
  std::uint64_t max_ns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p95_ns = 0;
  std::uint64_t p99_ns = 0;
  std::vector<LatencyStep> spread;     // a step for each power of two in which there are durations: up to 2^n - 1 ns
  std::optional<std::uint64_t> bytes;  // that it transferred through descriptors; nullopt: it transfers none
};

// One cell of the dual-space matrix: a call and the application function that it comes from.
struct TriggerLine {
  std::string call;
  std::string function;  // empty: the events have no stack
  std::string module;
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t open = 0;
  bool fallback = false;  // the stack has no frame of the application's binaries; this is its innermost frame
};

struct ErrorLine {
  std::string call;
  std::int64_t number = 0;  // errno, positive
  std::string name;         // "ENOENT"
  std::string function;     // the trigger; empty: no stack
  std::string module;
  bool fallback = false;  // as in TriggerLine
  std::uint64_t events = 0;
};

struct CallInstance {
  EventRowId event_id;
  ImageRowId image_id;  // may be none
  StackRowId stack_id;  // may be none
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;  // for an open call: how long it had waited when the trace ended
  std::string call;
  std::string how;
  std::optional<std::int64_t> result;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;
  std::string thread;
  std::string function;  // trigger
  std::string module;
  bool fallback = false;  // as in TriggerLine
};

struct EndedLine {
  std::string ended;    // root, budget, scope, broken:<reason>; "none": the event has no stack
  std::string meaning;  // of the reason, if the stack is broken
  std::uint64_t events = 0;
  std::uint64_t stacks = 0;
  // Events whose walk continued from code without unwind data, by a frame pointer that this code may not keep: callers
  // may be missing.
  std::uint64_t guessed = 0;
};

struct VerifyDifference {
  std::optional<EventRowId> event_id;  // nullopt: the event itself was lost
  std::string call;
  std::int64_t uscope_depth = 0;
  std::int64_t oracle_depth = 0;
  std::optional<std::int64_t> first_difference;  // position of the first frame that differs
  std::string function;                          // uscope's frame there; empty if it has none
};

struct VerifyResult {
  std::uint64_t samples = 0;
  std::uint64_t equal = 0;
  std::vector<VerifyDifference> differences;  // as many as the limit allows
};

// How the tracer walked stacks, from its own counters in the meta table.
struct WalkFigures {
  std::uint64_t walks = 0;
  std::uint64_t deferred = 0;       // walks left to user space, for any reason
  std::uint64_t stopped_early = 0;  // walks that ended because the scope or the budget could keep no further frame
};

struct UnwindTrouble {
  std::string path;
  std::string state;    // none, unreachable, code: include/uscope/lists/file_state.def
  std::string trouble;  // why there are no rows
};

// The rows built from the binaries' unwind data.
struct UnwindTables {
  std::uint64_t files = 0;  // with rows
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;              // of kernel memory
  std::vector<UnwindTrouble> troubles;  // as many as the limit allows
  std::uint64_t without = 0;            // number of files with trouble
};

// A file whose debug information could not be read, or not wholly.
struct DebugTrouble {
  std::string path;
  std::string why;  // a sentence about "it"
};

// A time that a thread spent outside of calls: it computed, waited for a processor, or was stopped.
struct GapLine {
  std::int64_t ts_ns = 0;  // its beginning
  std::int64_t dur_ns = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;
  std::string thread;
  GapEdge since = GapEdge::kCall;
  GapEdge until = GapEdge::kCall;
  std::optional<CallInstance> before;    // if `since` is a call
  std::optional<CallInstance> after;     // if `until` is a call
  std::optional<SharedFunction> within;  // where the thread stayed, if the stacks of both calls tell
  bool doubtful = false;                 // events were lost meanwhile, so that calls may be missing there
};

// All gaps between the same two calls with the same stacks.
struct GapPairLine {
  std::uint64_t gaps = 0;
  std::int64_t total_ns = 0;
  GapLine longest;  // `doubtful` is not known
};

// The gaps between calls from the same functions, whatever else is in their stacks: of as many pairs as are read.
struct GapPlaces {
  TopList<GapPairLine> list;  // by total time
  bool all = true;            // false: there are more pairs than were read
};

struct ThreadLine {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;  // the program that made the events: a thread has a line for each
  std::string thread;   // its last name there
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t total_ns = 0;    // in calls that returned
  std::uint64_t wait_ns = 0;     // part of it, in calls that wait
  std::uint64_t between_ns = 0;  // outside of calls
};

// A signal: how often it was sent, delivered, and by whom.
struct SignalLine {
  struct Sender {
    std::optional<std::int64_t> pid;  // nullopt: the kernel
    std::string name;
    std::uint64_t sent = 0;
  };
  struct Place {
    std::string function;  // the trigger; empty: no stack
    std::string module;
    bool fallback = false;  // as in TriggerLine
    std::uint64_t events = 0;
  };
  // What one sender sent to one receiver.
  struct Pair {
    SignalParty sender;
    SignalParty receiver;
    std::uint64_t sent = 0;  // 0: it was delivered, and its sending was not recorded
    std::uint64_t ignored = 0;
    std::uint64_t delivered = 0;        // by the pid in the siginfo, where several sent it to that receiver
    std::vector<Place> sent_from;       // by events
    std::vector<Place> interrupted_in;  // by events
  };
  int number = 0;
  std::uint64_t sent = 0;
  std::uint64_t ignored = 0;  // of those that were sent
  std::uint64_t delivered = 0;
  std::vector<Sender> senders;        // those that sent most first
  std::vector<Pair> pairs;            // those that sent most first
  std::vector<Place> sent_from;       // by events
  std::vector<Place> interrupted_in;  // where the receivers were, by events
};

struct Summary {
  std::optional<EventFilter> part;  // what all but the following is limited to; nullopt: it is the whole recording
  // Always of the whole recording: losses, walks, unwind, debug_troubles, verify, TraceFacts::meta; and when and how a
  // process began and ended.
  std::vector<LossLine> losses;  // largest first
  TraceFacts trace;
  std::vector<EndedLine> stack_ends;  // by events
  std::optional<WalkFigures> walks;   // nullopt: the tracer counted none
  UnwindTables unwind;
  TopList<DebugTrouble> debug_troubles;
  std::optional<VerifyResult> verify;   // nullopt: recorded without --verify
  std::vector<ProcessLine> io_uring;    // processes whose I/O may bypass system calls
  TopList<ProcessLine> processes;       // by events
  TopList<ThreadLine> threads;          // by events
  TimeShares time;                      // of traces with samples or times off the CPU
  TopList<CallLine> calls;              // by total time, without those that wait
  TopList<CallLine> waits;              // by total time: calls that wait for other threads, peers and timers
  TopList<TriggerLine> triggers;        // by events
  TopList<ErrorLine> errors;            // by events
  FailureList failed;                   // calls that take a path or descriptor, by what they failed at
  TopList<FileLine> files;              // by time inside calls
  TopList<CallInstance> slowest;        // by duration, without calls that wait
  TopList<CallInstance> longest_waits;  // by duration, calls that wait
  TopList<GapLine> gaps;                // by duration; at most 1000
  TopList<GapPairLine> gap_pairs;       // by total time; at most 1000
  GapPlaces gap_places;                 // the same gaps in fewer lines
  bool calls_left_out = false;          // not all calls were recorded, so a gap may hold some that were not
  TopList<CallInstance> open;           // by waiting time
  TopList<SignalLine> signals;          // by events
  bool signal_pairs_fit = false;        // the limit has room for a line for each sender and receiver of each signal
};

struct SummaryLimits {
  std::size_t lines = 20;  // of each list; 0 = no limit (but single calls, gaps and their pairs: 1000)
  EventFilter part{};      // of its members those that choose tasks and a span of time: part.h
};

// Reads the totals that the loader counted, and a few small tables; single events only for lines that show them. For a
// part of the recording, it calls count_part().
[[nodiscard]] Result<Summary> summarize(const store::Database& database, const SummaryLimits& limits = {});

}  // namespace uscope::analyzer
