// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The small tables of a store, read once: the tasks, images and kinds that events refer to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/read/ordered.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/hit.h"

namespace uscope::analyzer {

struct Kind {
  KindRowId id;
  std::string name;
  std::string source;  // kind.class: "syscall", …
  std::string abi;
  std::int64_t nr = 0;
  bool waits = false;                          // a call that waits for others (syscalls/call_traits.h)
  std::vector<trace::KindArgument> arguments;  // of a probe; empty: not known, or it has none
  std::string result_type;                     // of functions with their returns; empty: not known

  [[nodiscard]] bool is_call() const;
  [[nodiscard]] bool is_sample() const;
  // The name where kinds of several sources stand together: that of a probe with its source,
  // `ufunction:libc.so.6:read`.
  [[nodiscard]] std::string label() const;
};

// Whether the events of a source, kind.class, are hits of probes: samples, times off the CPU, tracepoints, functions.
[[nodiscard]] bool is_of_probes(std::string_view source);

struct Image {
  ImageRowId id;
  ProcessRowId process_id;
  std::optional<std::int64_t> ts_ns;  // CLOCK_MONOTONIC
  std::string path;
  std::string argv;
  std::string name;   // how a process with this image is called
  std::string names;  // all names that it goes by, JSON
};

// How a process got its memory: process.origin in docs/schema.md.
enum class Origin { kExec, kFork, kClone, kUnknown };

struct Process {
  ProcessRowId id;
  std::int64_t pid = 0;
  std::int64_t ns_pid = 0;
  ProcessRowId parent_id;                // may be none
  std::optional<std::int64_t> start_ns;  // CLOCK_MONOTONIC
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> exit_signal;
  bool stopped = false;  // a signal had stopped all of its threads at the last look
  bool uses_io_uring = false;
  bool may_use_io_uring = false;  // it does, or that is unknown
  SpaceId space;                  // its address space, if known
  Origin origin = Origin::kUnknown;
  std::vector<ImageRowId> images;  // by time
  std::uint64_t threads = 0;
};

struct Thread {
  ThreadRowId id;
  ProcessRowId process_id;
  std::int64_t tid = 0;
  std::int64_t ns_tid = 0;
  std::string name;                        // the last one
  std::optional<std::int64_t> start_ns{};  // CLOCK_MONOTONIC
  std::optional<std::int64_t> end_ns{};
  std::optional<std::int64_t> left_ns{};         // when it left the trace, and went on
  std::map<std::int64_t, std::string> names{};   // by the time since which it had them; of one name none
  std::map<std::int64_t, std::int64_t> users{};  // effective user ids, by the time since which it had them

  // Its name at a time, CLOCK_MONOTONIC.
  [[nodiscard]] const std::string& name_at(std::int64_t ts_ns) const;
  // The names that it had from a time on, CLOCK_MONOTONIC, in their order, each once, the last one last; of more than
  // 16 the first 15 and the last.
  [[nodiscard]] std::vector<std::string> names_since(std::int64_t ts_ns) const;
};

struct Catalog {
  std::map<std::string, std::string> meta;
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC at which tracing began
  std::int64_t end_ns = 0;
  Ordered<Kind> kinds;
  Ordered<Image> images;
  Ordered<Process> processes;
  Ordered<Thread> threads;

  // The last image of a process, or its parent's if it never called exec; null if unknown.
  [[nodiscard]] const Image* last_image(const Process& process) const;
  // The image of a process at a time, CLOCK_MONOTONIC; null if unknown.
  [[nodiscard]] const Image* image_at(const Process& process, std::int64_t ts_ns) const;
  // The image of a process when it began: its parent's at that time, or that of the nearest of 1000 ancestors that has
  // one; null if unknown.
  [[nodiscard]] const Image* inherited_image(const Process& process) const;
  // A value of meta as a number; nullopt if the key is missing or the value does not begin with a number.
  [[nodiscard]] std::optional<std::int64_t> meta_number(const std::string& key) const;
  // Converts time since the trace's start to time since 1970, by what the system clock showed when tracing began;
  // nullopt if the store does not say.
  [[nodiscard]] std::optional<std::int64_t> since_1970(std::int64_t since_start_ns) const;
  // Converts CLOCK_MONOTONIC to time since the trace's start.
  [[nodiscard]] std::optional<std::int64_t> since_start(std::optional<std::int64_t> ts_ns) const;
};

// SQL: the name of a thread when an event began, of rows `e` of event and `t` of thread. The same as Thread::name_at().
constexpr const char* kThreadNameAt =
    "coalesce((SELECT tn.name FROM thread_name tn WHERE tn.thread_id = e.thread_id AND tn.ts_ns <= e.ts_ns "
    "ORDER BY tn.ts_ns DESC LIMIT 1), t.name)";

[[nodiscard]] Result<Catalog> read_catalog(const store::Database& database);

// a - b, without overflow for any values of a store.
[[nodiscard]] std::int64_t difference(std::int64_t a, std::int64_t b);

// "ENOENT" for 2; the digits if the number has no name.
[[nodiscard]] std::string error_name(std::int64_t number);

}  // namespace uscope::analyzer
