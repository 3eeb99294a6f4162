// The two ways to a store: Database reads one, DatabaseWriter makes one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "store/sqlite_handles.h"
#include "store/statement.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// A store opened for reading. The file may come from anybody: nothing in it is trusted, and no SQL that runs on it can
// write, load an extension, or reach another file. Not for use by two threads at once.
class Database {
 public:
  // Errors: no such file, not a regular file, not a database, a database that is not uscope's, one of another version.
  static Result<Database> open(const std::filesystem::path& path);

  // One statement; see Statement.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return Statement::prepare(handle_.get(), sql); }

  // For what Statement does not offer. Stays this object's.
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  Database(SqliteHandle handle, std::filesystem::path path) : handle_(std::move(handle)), path_(std::move(path)) {}

  SqliteHandle handle_;
  std::filesystem::path path_;
};

// A store in the making: a file `<path>.part`, mode 0600, that takes the place of `path` only in commit(). Dropped
// before that, it removes its file. Holds one transaction, without a journal: a failed writer's file is of no use to
// anybody.
class DatabaseWriter {
 public:
  // Creates the file and the schema. A `.part` file left over by a killed writer is replaced, that of a living one is
  // an error; so are symbolic links and files of other users there.
  static Result<DatabaseWriter> create(const std::filesystem::path& path);

  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return Statement::prepare(handle_.get(), sql); }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  // Creates the indices, ends the transaction, writes everything to the disk, and puts the file in its place.
  Result<void> commit();

  DatabaseWriter(DatabaseWriter&& other) noexcept;
  DatabaseWriter& operator=(DatabaseWriter&& other) = delete;
  ~DatabaseWriter();

 private:
  DatabaseWriter(UniqueFd file, std::filesystem::path path, std::filesystem::path part);

  UniqueFd file_;  // closed after handle_: closing it would drop the locks that SQLite holds on the file
  SqliteHandle handle_;
  std::filesystem::path path_;
  std::filesystem::path part_;  // empty once it is in its place
};

}  // namespace uscope::store
