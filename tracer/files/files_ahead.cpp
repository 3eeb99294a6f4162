// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// FileTable: files that are about to be mapped. They are looked up and read ahead, so that their first calls find rows.
#include <fmt/core.h>
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/end_signals.h"
#include "tracer/files/file_identity.h"
#include "tracer/files/file_table.h"
#include "tracer/files/memory_file.h"
#include "tracer/process/library_search.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kMostExpected = 1U << 14;            // paths that are looked up ahead
constexpr std::chrono::milliseconds kPreloadTime{40'000};  // for the rows of the files that are about to be traced
constexpr int kPreloadWaitMs = 30;                         // for a file of a running process
constexpr int kMostInVain = 3;                             // such waits for one process
constexpr int kCommandWaitMs = 250;                        // for a file of the command that is about to be started

}  // namespace

// Best effort: a file that is not found here is met later, and its first walks are finished in user space.
Result<void> FileTable::look_ahead(std::vector<std::string> paths, const std::shared_ptr<LookAhead>& ahead) {
  for (std::size_t i = 0; ahead && i < paths.size() && ahead->left > 0; i++) {
    const std::string path = paths[i];
    if (expected_.size() >= kMostExpected || !expected_.insert(path).second) continue;
    ahead->left--;
    // The program is about to open it, too.
    auto opened = opener_.try_open({.path = path, .copy_ms = 0, .leases = Leases::kBroken}, ahead->wait_ms);
    if (!opened) ahead->left = 0;
    if (!opened || !opened->fd || opened->is_copy) continue;  // the kernel's key of a copy is not the file's
    if (const std::string interpreter = script_interpreter(opened->fd.get()); !interpreter.empty()) {
      paths.push_back(interpreter);
      continue;
    }
    const std::string real = opened->path.empty() ? path : opened->path;
    if (auto done = expect(std::move(*opened), real, ahead); !done) return done;
  }
  return {};
}

// Gives a file that is about to be mapped its serial, and has it read. A file that the kernel has met has both already.
// If no descriptor is left, the file is handled when it is met.
Result<void> FileTable::expect(OpenedFile opened, std::string path, std::shared_ptr<LookAhead> ahead) {
  UniqueFd& fd = opened.fd;
  if (given_up_ || !has_room()) return {};
  const auto key = key_of(backend_, fd.get());  // before anything is read: see on_made()
  struct stat status {};
  if (!key || fstat(fd.get(), &status) != 0) return {};
  if (status.st_nlink == 0 && is_on_memory(fd.get()))
    return {};  // its content may be replaced: it is handled when its mapping is announced
  File file;
  file.path = std::move(path);
  if (opened.is_at_path) file.place = std::move(opened.path);
  file.state = USC_FILE_WITHOUT;
  file.fd = std::move(fd);
  file.look_ahead = std::move(ahead);
  file.key = *key;
  file.announced = false;
  const Result<trace::FileId> serial = backend_.reserve_file(*key);
  if (!serial) return {};
  return begin(*serial, std::move(file));
}

// Bounded: for a file that is slow to read, its walks wait instead.
void FileTable::wait_for_rows() {
  const auto until = std::chrono::steady_clock::now() + kPreloadTime;
  while (coming_ > 0 && !end_is_asked_for() && std::chrono::steady_clock::now() < until)
    if (!maker_.wait(kQueueWait)) return;
}

void FileTable::preload(const std::string& executable) {
  const auto ahead = std::make_shared<LookAhead>(LookAhead{kMostFiles, 0, kCommandWaitMs});
  if (look_ahead({executable}, ahead)) wait_for_rows();
  ahead->wait_ms = LookAhead().wait_ms;  // tracing begins
}

void FileTable::preload_process(std::uint32_t pid) {
  const std::uint32_t living = living_thread_of(pid);
  int in_vain = 0;
  for (const ExecutableMapping& mapping : looks_.executable_mappings_of(pid)) {
    if (end_is_asked_for()) return;
    if (in_vain >= kMostInVain) break;
    auto opened =
        opener_.try_open({.path = map_files_entry(living, mapping.start, mapping.end), .copy_ms = 0}, kPreloadWaitMs);
    if (!opened) in_vain++;
    if (!opened || !opened->fd || opened->is_copy) continue;
    const struct stat& status = opened->status;
    // Servers have hundreds of processes with the same files.
    if (!preloaded_.insert(fmt::format("{}:{}", status.st_dev, status.st_ino)).second) continue;
    if (!has_descriptors()) return;
    if (auto done = expect(std::move(*opened), mapping.path, nullptr); !done) return;
  }
  wait_for_rows();
}

}  // namespace uscope::tracer
