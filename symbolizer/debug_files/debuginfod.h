// Debug files from debuginfod servers, which are asked only where the user says so and never for longer than a limit.
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
  // For one file. A server is told to stop then, and cut off two seconds later whatever it does.
  std::chrono::milliseconds per_file{10'000};
  std::chrono::milliseconds overall{120'000};  // for all files together
  unsigned timeouts = 2;                       // so many, and the servers are asked no more
  std::string cache;                           // a folder; empty: default_debuginfod_cache()
};

// Every file asked for is counted once, in one of the other numbers too.
struct DebuginfodFigures {
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
  std::uint64_t unknown = 0;    // no server has it
  std::uint64_t timed_out = 0;  // no answer in time
  std::uint64_t failed = 0;     // no connection, an error, or an answer that is not the file asked for
  std::uint64_t not_asked = 0;  // after too many time-outs, or when the time for all was used up
  std::string problem;          // why the first one failed; for people
};

// $DEBUGINFOD_CACHE_PATH; else, for root, /var/cache/uscope/debuginfod, so that nothing is written with root's rights
// into a folder that sudo left in HOME; else empty: where libdebuginfod keeps it ($XDG_CACHE_HOME/debuginfod_client,
// ~/.cache/debuginfod_client), shared with gdb and others.
std::string default_debuginfod_cache();

// Asks through libdebuginfod, in a child process: what a name server, a server or a library does can be cut off, and
// this process keeps neither its connections nor DEBUGINFOD_URLS. Not thread-safe.
class Debuginfod {
 public:
  // Tries once whether the child can load libdebuginfod; asks no server. Errors: no URL, one of another kind, no
  // library.
  static Result<Debuginfod> create(const DebuginfodOptions& options);

  Debuginfod(Debuginfod&& other) noexcept;
  Debuginfod& operator=(Debuginfod&&) = delete;
  ~Debuginfod() { stop(); }

  // The debug file of a build-id (raw bytes, at most 64), which carries that build-id; empty where there is none.
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
  std::unordered_set<std::string> without_;  // build-ids that gave nothing
  std::unordered_set<std::string> with_;
  std::chrono::milliseconds spent_{0};
  unsigned strikes_ = 0;
  pid_t child_ = -1;
  UniqueFd socket_;
};

}  // namespace uscope::symbolizer
