// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fetches debug files from debuginfod servers; only if the user asks for it, and within time limits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::symbolizer {

struct DebuginfodOptions {
  std::string urls;  // separated by spaces, as in DEBUGINFOD_URLS; http, https, file
  // For one file. A server is asked to stop then, and disconnected two seconds later in any case.
  std::chrono::milliseconds per_file{10'000};
  std::chrono::milliseconds overall{120'000};  // for all files together
  unsigned timeouts = 2;                       // after this many the servers are not asked again
  std::string cache;                           // a folder; empty: default_debuginfod_cache()
};

// Each requested file counts once in `asked`, and once in one of the other numbers.
struct DebuginfodFigures {
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
  std::uint64_t unknown = 0;    // no server has the file
  std::uint64_t timed_out = 0;  // no answer in time
  std::uint64_t failed = 0;     // no connection, an error, or an answer that is not the requested file
  std::uint64_t not_asked = 0;  // skipped after too many time-outs, or because the time for all files was used up
  std::string problem;          // why the first one failed; in words
};

// $DEBUGINFOD_CACHE_PATH; else, for root, /var/cache/uscope/debuginfod, so that nothing is written with root's rights
// into the folder that sudo left in HOME; else empty: libdebuginfod's default ($XDG_CACHE_HOME/debuginfod_client,
// ~/.cache/debuginfod_client), shared with gdb and others.
std::string default_debuginfod_cache();

// Uses libdebuginfod in a child process, so that a name server, a server or the library can be cut off at any time, and
// this process keeps neither its connections nor DEBUGINFOD_URLS. Not thread-safe.
class Debuginfod {
 public:
  // Checks once whether the child can load libdebuginfod; asks no server. Returns an error if there is no URL, one of
  // an unknown kind, or no library.
  static Result<Debuginfod> create(const DebuginfodOptions& options);

  Debuginfod(Debuginfod&& other) noexcept;
  Debuginfod& operator=(Debuginfod&&) = delete;
  ~Debuginfod() { stop(); }

  // Returns the debug file with a build-id (raw bytes, at most 64); empty if there is none.
  UniqueFd fetch(const std::string& build_id);

  [[nodiscard]] const DebuginfodFigures& figures() const { return figures_; }

 private:
  explicit Debuginfod(DebuginfodOptions options) : options_(std::move(options)) {}
  Result<void> start();
  void stop();
  UniqueFd ask(const std::string& build_id);
  void count_failure(const std::string& problem);

  DebuginfodOptions options_;
  DebuginfodFigures figures_;
  std::unordered_set<std::string> without_;  // build-ids for which no server had a file
  std::unordered_set<std::string> with_;
  std::chrono::milliseconds spent_{0};
  unsigned strikes_ = 0;
  pid_t child_ = -1;
  UniqueFd socket_;
};

}  // namespace uscope::symbolizer
