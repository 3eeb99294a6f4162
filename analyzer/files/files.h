// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which files, sockets and other objects an application used, and how much it transferred: one line for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/files/failures.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/top_list.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// A call counts at one object: a path that it is given, else an address, else a descriptor; of two descriptors, the one
// that is written to. For the other one only the reading counts (`reads`, `bytes_read`). A call that gives an object
// another name counts at the old one; for the new one, the change counts (`changes`). So calls, failures and times add
// up to those of all calls that take a path or a descriptor.
struct FileCounts {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t opens = 0;  // attempts to open it, or to connect; connections that were accepted at it
  std::uint64_t reads = 0;  // calls, failed ones too
  std::uint64_t writes = 0;
  std::uint64_t changes = 0;  // calls that changed it: its contents, its name or its attributes; failed ones not
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t total_ns = 0;  // inside the calls
  std::uint64_t wait_ns = 0;   // the part of it in calls that wait (epoll_wait, accept, …)

  [[nodiscard]] bool is_empty() const { return calls == 0 && reads == 0 && changes == 0; }
};

struct FileUser : FileCounts {
  std::optional<std::int64_t> pid;  // nullopt: the process is unknown
  std::string process;              // base name of the image; empty: not known
};

struct FileLine : FileCounts {
  std::optional<std::string> name;  // a path, `socket:[to inet:127.0.0.1:80]`, `pipe`, …; nullopt: not known
  std::vector<FileUser> users;      // most calls first
  std::uint64_t peers = 0;          // of several clients of one host, which are one line: how many; else 0
  bool was_locked = false;          // by flock
  std::int64_t removed_event = 0;   // the last call that removed the name, or gave it to another file; 0: none
  // The mount namespace, by its inode, in which the path leads to another file than elsewhere in the trace.
  std::optional<std::int64_t> space;
};

// A call at an object, by the process and the application's function that made it.
struct FileCaller : FileUser {
  std::optional<std::string> name;  // of the object
  std::string call;
  std::string function;  // empty: no application function
  std::string module;
  bool fallback = false;  // the function is not part of the application
};

enum class FileOrder {
  kTime,  // total_ns without wait_ns
  kBytes,
  kCalls,
  kOpens,
  kFailures
};

// GLOBs are SQLite's. Values of one list are alternatives.
struct FileQuery {
  std::vector<std::string> paths{};      // on the name (path_filter.h); an object without a name matches none
  std::vector<std::string> processes{};  // on any name of the image (process_filter.h)
  FileOrder order = FileOrder::kTime;
  std::size_t lines = 0;  // of each list; 0 = all
  bool callers = false;   // list these, too
  bool peers = false;     // a line for each client that was accepted, and not one for all of one host
  bool failed = false;    // and what calls failed at
};

struct FileTable {
  TopList<FileLine> files;        // largest first
  FileCounts all;                 // the sums of all lines
  TopList<FileCaller> callers;    // in the same order, by time: those that changed it first; empty unless wanted
  FailureList failed;             // empty unless wanted
  std::vector<std::string> near;  // if no name matches `paths`: names that were perhaps meant
  bool any_path = true;           // a name matches `paths`, of whatever process
};

[[nodiscard]] Result<FileTable> read_files(const store::Database& database, const Catalog& catalog,
                                           const FileQuery& query);

}  // namespace uscope::analyzer
