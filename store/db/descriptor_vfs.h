// How SQLite reaches a store: by a descriptor that was opened and looked at before, never by a path. So the file that
// was checked is the one that is read or written, and SQLite opens no journal, no write-ahead log and no shared memory
// beside it, whoever put them there.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>

#include "store/db/sqlite_handles.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// One for each connection, which it must outlive. Used by one thread at a time, as the connection is.
class DescriptorVfs {
 public:
  // `file` stays the caller's, who keeps it open. Read-only, the file is taken to change no more: nothing is locked.
  // SQLite's temporary files have no names, and are in the folder `temporary` (O_PATH).
  static std::unique_ptr<DescriptorVfs> create(int file, UniqueFd temporary, bool writable);
  DescriptorVfs(const DescriptorVfs&) = delete;
  DescriptorVfs& operator=(const DescriptorVfs&) = delete;
  ~DescriptorVfs();

  // A connection to the file. `shown`: its name in errors.
  Result<SqliteHandle> open(const std::string& shown);

 private:
  DescriptorVfs(int file, UniqueFd temporary, bool writable);

  static DescriptorVfs& of(sqlite3_vfs* vfs) { return *static_cast<DescriptorVfs*>(vfs->pAppData); }
  static int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags);

  std::string name_;
  sqlite3_vfs vfs_{};
  int file_;
  UniqueFd temporary_;
  bool writable_;
};

}  // namespace uscope::store
