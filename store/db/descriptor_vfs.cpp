// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A VFS of SQLite (https://www.sqlite.org/vfs.html): the main database is the given descriptor, temporary files are
// created without a name, and no other name exists. There are no locks: a store under construction is known only to its
// writer, and a finished one no longer changes (a new one replaces it by a rename).
#include "store/db/descriptor_vfs.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "support/no_room.h"
#include "support/private_file.h"

namespace uscope::store {
namespace {

constexpr int kSectorBytes = 4096;
constexpr int kMostPathBytes = 512;

struct OpenFile {
  sqlite3_file base;  // first, as SQLite requires
  int fd;
  bool owned;
  bool immutable;
};

thread_local int last_error = 0;

OpenFile& file_of(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}

int keep_error(int code) {
  last_error = errno;
  return code;
}

int close_file(sqlite3_file* file) {
  OpenFile& open = file_of(file);
  if (open.owned) ::close(open.fd);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  auto* bytes = static_cast<char*>(to);
  const auto wanted = static_cast<std::size_t>(amount);
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t count =
        ::pread(file_of(file).fd, bytes + done, wanted - done, static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return keep_error(SQLITE_IOERR_READ);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (done == wanted) return SQLITE_OK;
  std::memset(bytes + done, 0, wanted - done);  // SQLite relies on this
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  const auto* bytes = static_cast<const char*>(from);
  const auto wanted = static_cast<std::size_t>(amount);
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t count =
        ::pwrite(file_of(file).fd, bytes + done, wanted - done, static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = ENOSPC;
    if (count <= 0) return keep_error(is_no_room(errno) ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    done += static_cast<std::size_t>(count);
  }
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return ::ftruncate(file_of(file).fd, static_cast<off_t>(size)) == 0 ? SQLITE_OK : keep_error(SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
  return ::fsync(file_of(file).fd) == 0 ? SQLITE_OK : keep_error(SQLITE_IOERR_FSYNC);
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  struct stat status {};
  if (::fstat(file_of(file).fd, &status) != 0) return keep_error(SQLITE_IOERR_FSTAT);
  *size = status.st_size;
  return SQLITE_OK;
}

int lock_file(sqlite3_file*, int) {
  return SQLITE_OK;
}

int is_reserved(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}

int control_file(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}

int sector_size(sqlite3_file*) {
  return kSectorBytes;
}

int characteristics(sqlite3_file* file) {
  return file_of(file).immutable ? SQLITE_IOCAP_IMMUTABLE : 0;
}

// Version 1: no shared memory, so no write-ahead log.
constexpr sqlite3_io_methods kMethods{
    1,         close_file, read_file,   write_file,   truncate_file, sync_file,       size_of_file,
    lock_file, lock_file,  is_reserved, control_file, sector_size,   characteristics, nullptr,
    nullptr,   nullptr,    nullptr,     nullptr,      nullptr};

int delete_nothing(sqlite3_vfs*, const char*, int) {
  return SQLITE_IOERR_DELETE_NOENT;
}

int find_nothing(sqlite3_vfs*, const char*, int, int* found) {
  *found = 0;
  return SQLITE_OK;
}

int name_as_it_is(sqlite3_vfs*, const char* name, int room, char* out) {
  return std::snprintf(out, static_cast<std::size_t>(room), "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

void* load_nothing(sqlite3_vfs*, const char*) {
  return nullptr;
}

void say_why_nothing(sqlite3_vfs*, int room, char* message) {
  std::snprintf(message, static_cast<std::size_t>(room), "extensions are not loaded");
}

void close_nothing(sqlite3_vfs*, void*) {}

int last_error_text(sqlite3_vfs*, int, char*) {
  return last_error;
}

}  // namespace

int DescriptorVfs::open_file(sqlite3_vfs* vfs, const char*, sqlite3_file* file, int flags, int* out_flags) {
  const DescriptorVfs& self = of(vfs);
  constexpr int kTemporary =
      SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL;
  file->pMethods = nullptr;
  auto* opened = new (file) OpenFile{{nullptr}, self.file_, false, !self.writable_};
  if ((flags & kTemporary) != 0) {
    auto temporary = open_nameless(self.temporary_.get());
    if (!temporary) return keep_error(SQLITE_CANTOPEN);
    *opened = {{nullptr}, temporary->release(), true, false};
  } else if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return SQLITE_CANTOPEN;
  }
  opened->base.pMethods = &kMethods;
  if (out_flags != nullptr)
    *out_flags = opened->owned || self.writable_ ? flags : (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY;
  return SQLITE_OK;
}

DescriptorVfs::DescriptorVfs(int file, UniqueFd temporary, bool writable)
    : file_(file), temporary_(std::move(temporary)), writable_(writable) {
  static std::atomic<unsigned> number{0};
  name_ = fmt::format("uscope-descriptor-{}", number++);
  const sqlite3_vfs& usual = *sqlite3_vfs_find(nullptr);  // provides time and randomness
  vfs_.iVersion = usual.iVersion >= 2 ? 2 : 1;
  vfs_.szOsFile = sizeof(OpenFile);
  vfs_.mxPathname = kMostPathBytes;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = open_file;
  vfs_.xDelete = delete_nothing;
  vfs_.xAccess = find_nothing;
  vfs_.xFullPathname = name_as_it_is;
  vfs_.xDlOpen = load_nothing;
  vfs_.xDlError = say_why_nothing;
  vfs_.xDlSym = nullptr;
  vfs_.xDlClose = close_nothing;
  vfs_.xRandomness = usual.xRandomness;
  vfs_.xSleep = usual.xSleep;
  vfs_.xCurrentTime = usual.xCurrentTime;
  vfs_.xGetLastError = last_error_text;
  vfs_.xCurrentTimeInt64 = usual.iVersion >= 2 ? usual.xCurrentTimeInt64 : nullptr;
}

std::unique_ptr<DescriptorVfs> DescriptorVfs::create(int file, UniqueFd temporary, bool writable) {
  std::unique_ptr<DescriptorVfs> vfs(new DescriptorVfs(file, std::move(temporary), writable));
  sqlite3_vfs_register(&vfs->vfs_, 0);
  return vfs;
}

DescriptorVfs::~DescriptorVfs() {
  sqlite3_vfs_unregister(&vfs_);
}

Result<SqliteHandle> DescriptorVfs::open(const std::string& shown) {
  sqlite3* raw = nullptr;
  const int access = writable_ ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  // The name is not a path: SQLite only needs one that is not empty.
  const int code = sqlite3_open_v2("store", &raw, access | SQLITE_OPEN_NOMUTEX, name_.c_str());
  SqliteHandle handle(raw);
  if (code != SQLITE_OK)
    return Error{"cannot open " + shown + ": " + (raw ? sqlite3_errmsg(raw) : sqlite3_errstr(code)), ""};
  return handle;
}

}  // namespace uscope::store
