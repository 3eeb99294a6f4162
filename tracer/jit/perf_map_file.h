// Where a process's perf maps are: /tmp as the process itself sees it. It is taken hold of while the process lives, so
// that a map can still be read when the process and its mount namespace are gone.
//
// What lies there is the traced program's doing. Only a regular file of the process's own user or of root is read, by
// no link, at most its last kPerfMapBytes, and only where it was written while the process had the memory it tells of:
// pids are used again, and maps outlive their processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/unique_fd.h"
#include "tracer/scouts/process_looks.h"

namespace uscope::tracer {

inline constexpr std::size_t kPerfMapBytes = std::size_t{64} << 20;

// A stretch of CLOCK_MONOTONIC, nanoseconds; no end: it still lasts.
struct Lifetime {
  std::uint64_t from_ns = 0;
  std::optional<std::uint64_t> until_ns;
};

struct PerfMapBytes {
  enum class State {
    kRead,
    kNone,       // no such file, or not of this time
    kUnchanged,  // as it was when it was last read
    kRefused,    // not a regular file, a link, another user's
  };
  State state = State::kNone;
  std::string bytes;
  bool from_start = true;  // false: the file is longer, these are its last bytes
};

class PerfMapFile {
 public:
  // Nothing where the process is gone, or is another one that got the pid after `seen_ns`.
  // `looks`: what goes to the folder and to the maps in it (process_looks.h).
  static std::optional<PerfMapFile> of_process(std::uint32_t pid, std::uint64_t seen_ns,
                                               const ProcessLooks& looks = ProcessLooks());

  // The same folder and user, for another process.
  [[nodiscard]] PerfMapFile again() const;
  // The process's effective user now; after its end, the last one known.
  void look_at_user();

  // The map `name` (without a folder). `changed_only`: kUnchanged where size and time are those of the last reading.
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
  UniqueFd process_;  // /proc/PID: says ESRCH once the process is gone, also where its pid is used again
  UniqueFd folder_;
  UniqueFd last_;  // the map that was read last, for when its folder is gone
  std::string last_name_;
  struct stat last_status_ {};
  Stamp last_stamp_;
  std::uint32_t user_ = 0;
};

}  // namespace uscope::tracer
