// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Databases and raw traces that lie where users keep them, and whether this uscope reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace uscope::cli {

// One that this uscope does not read.
struct UnreadableTrace {
  std::string path;  // bytes
  bool is_raw = false;
  std::int64_t version = 0;  // of the schema, or of the raw trace's records
  bool is_newer = false;     // than what this uscope reads
};

struct NearbyTraces {
  std::int64_t oldest_schema = 0;      // of the databases that this uscope reads: from this version
  std::int64_t schema = 0;             // to this one, which it writes
  std::int64_t oldest_record_abi = 0;  // of the records in raw traces that it reads: from this version
  std::int64_t record_abi = 0;         // to this one
  std::vector<std::string> folders;    // that were looked into, without those below them
  std::size_t readable = 0;
  std::vector<UnreadableTrace> unreadable;
  bool all = true;  // false: a folder has more entries than are looked at
};

// The current folder, the user's own, /tmp and /var/tmp.
[[nodiscard]] std::vector<std::filesystem::path> usual_folders();

// Reads the first bytes of each regular file in these folders.
[[nodiscard]] NearbyTraces look_for_traces(const std::vector<std::filesystem::path>& folders);

}  // namespace uscope::cli
