// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Gives SQLite access to a store by a descriptor that was opened and checked before, never by a path. So the file that
// was checked is the one that is read or written, and SQLite opens no journal, no write-ahead log and no shared memory
// next to it, whoever put them there.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>

#include "store/db/sqlite_handles.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// One for each connection, which it must outlive. Used by one thread at a time, like the connection.
class DescriptorVfs {
 public:
  // The caller keeps `file`, and keeps it open. A file that is not `writable` is assumed not to change: nothing is
  // locked. SQLite's temporary files have no names, and are in the folder `temporary` (O_PATH).
  static std::unique_ptr<DescriptorVfs> create(int file, UniqueFd temporary, bool writable);
  DescriptorVfs(const DescriptorVfs&) = delete;
  DescriptorVfs& operator=(const DescriptorVfs&) = delete;
  ~DescriptorVfs();

  // Opens a connection to the file. `shown`: its name in errors.
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
