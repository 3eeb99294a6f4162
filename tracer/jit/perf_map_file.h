// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locates a process's perf maps: in /tmp as the process itself sees it. The folder is opened while the process lives,
// so that a map can still be read when the process and its mount namespace are gone.
//
// The traced program controls that folder. Only a regular file of the process's own user or of root is read, never
// through a link, at most its last kPerfMapBytes, and only if it was written while the process had the memory that it
// describes: pids are reused, and maps outlive their processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/unique_fd.h"
#include "tracer/scouts/process_looks.h"

namespace uscope::tracer {

inline constexpr std::size_t kPerfMapBytes = std::size_t{64} << 20;

// A range of CLOCK_MONOTONIC, nanoseconds; without an end, it still lasts.
struct Lifetime {
  std::uint64_t from_ns = 0;
  std::optional<std::uint64_t> until_ns;
};

struct PerfMapBytes {
  enum class State {
    kRead,
    kNone,       // no such file, or not from this time
    kUnchanged,  // not changed since the last reading
    kRefused,    // not a regular file, a link, or another user's
  };
  State state = State::kNone;
  std::string bytes;
  bool from_start = true;  // false: the file is longer, and these are its last bytes
};

class PerfMapFile {
 public:
  // Returns nullopt if the process is gone, or is another one that got the pid after `seen_ns`. `looks` opens the
  // folder and the maps in it (process_looks.h).
  static std::optional<PerfMapFile> of_process(std::uint32_t pid, std::uint64_t seen_ns,
                                               const ProcessLooks& looks = ProcessLooks());

  // The same folder and user, for another process.
  [[nodiscard]] PerfMapFile again() const;
  // Reads the process's effective user; after its end, the last known one stays.
  void look_at_user();

  // Reads the map `name` (without a folder). `changed_only`: returns kUnchanged if size and time equal those of the
  // last reading.
  PerfMapBytes read(const std::string& name, const Lifetime& lifetime, bool changed_only);

 private:
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t mtime_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  OpenedFile open_map(const std::string& name, bool* refused);

  std::uint32_t pid_ = 0;
  ProcessLooks looks_;
  UniqueFd process_;  // /proc/PID: gives ESRCH once the process is gone, even if its pid is reused
  UniqueFd folder_;
  UniqueFd last_;  // the map that was read last, in case its folder disappears
  std::string last_name_;
  struct stat last_status_ {};
  Stamp last_stamp_;
  std::uint32_t user_ = 0;
};

}  // namespace uscope::tracer
