// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/nearby_traces.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "store/files/trace_file.h"
#include "support/regular_file.h"
#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 10'000;  // of a folder

// Of a raw trace's records; 0 if the file ends before.
std::int64_t record_abi_of(int file) {
  usc_raw_header header{};
  return pread(file, &header, sizeof(header), 0) < 0 ? 0 : header.record_abi;
}

void look_at(const fs::path& path, NearbyTraces& found) {
  // Others may put anything there meanwhile: a link, a pipe.
  const UniqueFd file = open_regular_at(AT_FDCWD, path.string());
  if (!file) return;
  const auto start = store::look_at_start(file.get());
  if (!start) return;
  UnreadableTrace trace{path.string()};
  std::int64_t oldest = found.oldest_schema;
  std::int64_t newest = found.schema;
  switch (start->kind) {
    case store::FileKind::kDatabase:
      trace.version = start->schema;
      break;
    case store::FileKind::kRawTrace:
      trace.is_raw = true;
      trace.version = record_abi_of(file.get());
      oldest = found.oldest_record_abi;
      newest = found.record_abi;
      break;
    default:
      return;
  }
  trace.is_newer = trace.version > newest;
  if (trace.version >= oldest && !trace.is_newer) {
    found.readable++;
  } else {
    found.unreadable.push_back(std::move(trace));
  }
}

}  // namespace

std::vector<fs::path> usual_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  folders.push_back(fs::current_path(error));
  if (const char* home = std::getenv("HOME")) folders.emplace_back(home);
  for (const char* temporary : {"/tmp", "/var/tmp"}) folders.emplace_back(temporary);
  return folders;
}

NearbyTraces look_for_traces(const std::vector<fs::path>& folders) {
  NearbyTraces found{
      store::kOldestSchema, store::kSchemaVersion, USC_RECORD_ABI_OLDEST, USC_RECORD_ABI, {}, 0, {}, true};
  std::vector<fs::path> seen;
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    const auto is_folder = [&](const fs::path& other) { return fs::equivalent(folder, other, error); };
    if (error || std::any_of(seen.begin(), seen.end(), is_folder)) continue;
    seen.push_back(folder);
    found.folders.push_back(folder.string());
    std::size_t entries = 0;
    for (; entry != fs::directory_iterator() && !error; entry.increment(error)) {
      if (++entries > kMostEntries) {
        found.all = false;
        break;
      }
      if (entry->symlink_status(error).type() == fs::file_type::regular) look_at(entry->path(), found);
    }
  }
  std::sort(found.unreadable.begin(), found.unreadable.end(),
            [](const UnreadableTrace& a, const UnreadableTrace& b) { return a.path < b.path; });
  return found;
}

}  // namespace uscope::cli
