// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// FileTable: files that no process has mapped any more. A recorder may run for months and meet millions of files; the
// kernel side has room for those that are mapped at one time (uscope/file_slots.h). So when half of that is used, the
// others are released, in two steps, between which all rings are emptied:
//   1. Their keys are forgotten. Who maps such a file from now on has met another file.
//   2. Those that nobody mapped at the last moment lose their rows and their slots. Their serials are never used again.
//
// Limits: a file whose mapping was not told of (a lost record) may be released though it is mapped. Walks through it
// are then finished in user space, which does not know the mapping either. Shared unwind rules keep their room, since
// caches name them by number.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tracer/files/file_table.h"

namespace uscope::tracer {

std::vector<std::unique_ptr<File>> FileTable::take_all() {
  std::vector<std::unique_ptr<File>> all;
  const auto take = [&all](auto& files) {
    for (auto& [serial, file] : files) {
      if (serial.value() >= all.size()) all.resize(serial.value() + 1);
      all[serial.value()] = std::move(file);
    }
    files.clear();
  };
  take(released_);
  take(files_);
  return all;
}

// Whether all that is to be done with a file is done, but for a copy of a file that has been there for long.
bool FileTable::may_be_released(trace::FileId serial) const {
  const File* file = find(serial);
  return serial >= trace::kFirstFile && file != nullptr && file->met && !file->coming && !file->copying &&
         (file->is_told || !file->announced || file->state == USC_FILE_JIT);
}

Result<void> FileTable::release_idle(std::uint64_t now_ns, std::uint64_t settled_ns) {
  if (!forgotten_.empty()) return settled_ns > forgotten_ns_ ? release_forgotten() : Result<void>();
  return files_.size() < release_from_ || !mapped_files_ || given_up_ ? Result<void>() : forget_idle(now_ns);
}

Result<void> FileTable::forget_idle(std::uint64_t now_ns) {
  // Where most files are mapped, there is little to be found: not before many more have been met.
  release_from_ = std::max(kMostFilesAtOnce / 2, files_.size() + kMostFilesAtOnce / 8);
  const std::unordered_set<trace::FileId> mapped = mapped_files_();
  std::vector<usc_file_key> keys;
  for (const trace::FileId serial : serials()) {
    if (mapped.count(serial) != 0 || !may_be_released(serial)) continue;
    keys.push_back(find(serial)->key);
    forgotten_.push_back(serial);
  }
  if (forgotten_.empty()) return {};
  if (auto done = backend_.forget_files(keys); !done) return done;
  forgotten_ns_ = now_ns;
  expected_.clear();  // what is released may be looked up ahead again
  return {};
}

Result<void> FileTable::release_forgotten() {
  const std::unordered_set<trace::FileId> mapped = mapped_files_();
  std::erase_if(forgotten_,
                [&](trace::FileId serial) { return mapped.count(serial) != 0 || !may_be_released(serial); });
  const std::vector<trace::FileId> released = std::exchange(forgotten_, {});
  if (released.empty()) return {};
  if (auto done = backend_.release_files(released); !done) return done;
  const std::unordered_set<trace::FileId> gone(released.begin(), released.end());
  std::erase_if(later_, [&](const auto& entry) { return gone.count(entry.second) != 0; });
  for (const trace::FileId serial : released) {
    std::unique_ptr<File> file = std::move(files_[serial]);
    files_.erase(serial);
    if (file->memory || file->state == USC_FILE_JIT) memory_.forget(file->key);
    file->rows.reset();
    if (file->kept || !file->facts.exec_segments.empty()) released_.emplace(serial, std::move(file));
  }
  newly_released_.insert(newly_released_.end(), released.begin(), released.end());
  release_from_ = std::max(kMostFilesAtOnce / 2, files_.size() + kMostFilesAtOnce / 8);
  return {};
}

}  // namespace uscope::tracer
