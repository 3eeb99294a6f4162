// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// FileTable: what remains of a file when its reading is over. It is closed. If it may be gone when it is needed again,
// a copy is kept: of memory; of files that are deleted, or that uscope has no path to; of young files, which builds
// delete or replace; and, some time later, of all others, since packages are upgraded. There are bounds (KeptCopies): a
// file without a copy is opened again where it was, and if it is not there, it has no names.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>

#include "support/clock.h"
#include "tracer/files/file_identity.h"
#include "tracer/files/file_table.h"
#include "tracer/files/memory_file.h"

namespace uscope::tracer {
namespace {

// Old files are copied so long after they were met: a short recording, and one of many large files, has no time for it.
constexpr std::uint64_t kLaterNs = 5'000'000'000;
constexpr std::uint64_t kLaterNsOfByte = 500;  // a second for 2 MiB
constexpr int kAgainMs = 30;                   // the wait for a file that is opened again

}  // namespace

bool FileTable::is_fleeting(const File& file) const {
  struct stat status {};
  if (file.memory || file.place.empty() || keeps_all_) return true;
  if (fstat(file.fd.get(), &status) != 0) return false;
  return status.st_nlink == 0 || time(nullptr) - status.st_ctim.tv_sec < young_seconds_;
}

// From now on a copy is read, provided that nothing was written while it was made: a program may fill memory again at
// any time, and other files need not stay open.
void FileTable::hold_copy(File& file, ElfCopy copy) const {
  const auto key = key_of(backend_, file.fd.get());
  if (!key || !is_same_inode(*key, file.key)) return;
  if (!is_same(*key, file.key) && (file.memory || !is_unwritten_since(backend_, file.fd.get(), file.key, false)))
    return;
  file.fd = std::move(copy.fd);
  file.room = std::move(copy.room);
  file.copied = true;
}

// A copy takes no longer to be read than the file, and a file of any program may be slow: the queue makes it.
Result<void> FileTable::on_held(const BuiltTable& made) {
  File& file = slot(made.serial);
  if (made.held) hold_copy(file, std::move(*made.held));
  return ask_facts(made.serial);
}

void FileTable::tell(trace::FileId serial) {
  slot(serial).is_told = true;
  changed_.push_back(serial);
}

// The trace learns of a file when its copy is there: whoever is told may ask for names at once.
Result<void> FileTable::keep_or_close(trace::FileId serial) {
  File& file = slot(serial);
  if (file.fd && !given_up_ && file.may_be_elf()) {
    if (file.copied || is_fleeting(file)) return copy(serial);
    later_.emplace(monotonic_ns() + kLaterNs + file.key.size * kLaterNsOfByte, serial);
  }
  close(file);
  tell(serial);
  return {};
}

// A file that is too large to be read from a copy in memory stays open for this.
Result<void> FileTable::copy(trace::FileId serial) {
  File& file = slot(serial);
  RowJob job{serial, symbolizer::RowDetail::kStack, file.fd.get(), file.path, this, RowWork::kCopy, file.payer};
  job.copies = &copies_;
  file.copying = true;
  copying_++;
  return maker_.ask(std::move(job));
}

Result<void> FileTable::on_copied(const BuiltTable& made) {
  File& file = slot(made.serial);
  if (!std::exchange(file.copying, false)) return {};  // given up
  copying_--;
  if (is_unchanged(file)) file.kept = made.copy;
  close(file);
  file.copied = false;
  if (!file.is_told) tell(made.serial);
  return {};
}

Result<void> FileTable::keep_more(std::uint64_t now_ns) {
  if (later_.empty() || now_ns < later_.begin()->first || copying_ != 0 || !has_room()) return {};
  const trace::FileId serial = later_.begin()->second;
  later_.erase(later_.begin());
  File& file = slot(serial);
  file.fd = open_original(file);
  return file.fd ? copy(serial) : Result<void>();
}

UniqueFd FileTable::open_original(const File& file, const std::string& also) {
  if (file.fd && !file.copied) return UniqueFd(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0));
  FileToOpen again;
  again.pid = file.pid;
  again.start = file.start;
  again.end = file.end;
  again.key = file.key;
  again.path = file.path;
  return opener_.open_again(again, {also, file.place}, kAgainMs);
}

FileContent FileTable::open_content(const File& file) {
  if (file.fd) return {UniqueFd(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0)), file.copied};
  if (!file.may_be_elf()) return {};
  if (file.kept)
    if (UniqueFd copy = file.kept->open()) return {std::move(copy), true};
  return {open_original(file), false};
}

void FileTable::drop_changed() {
  const auto drop_if_changed = [this](File* file) {
    if (!file->kept || file->place.empty()) return;
    const auto now = opener_.try_open({.path = file->place, .copy_ms = 0}, kAgainMs);
    if (!now || !now->fd || now->is_copy) return;
    const auto key = key_of(backend_, now->fd.get());
    const bool is_it = key && is_same_inode(*key, file->key) && key->generation == file->key.generation;
    if (is_it && !is_same(*key, file->key)) file->kept.reset();
  };
  for (const auto& [serial, file] : files_) drop_if_changed(file.get());
  for (const auto& [serial, file] : released_) drop_if_changed(file.get());
}

}  // namespace uscope::tracer
