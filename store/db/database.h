// The two ways to a store: Database reads one, DatabaseWriter makes one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "store/db/descriptor_vfs.h"
#include "store/db/sqlite_handles.h"
#include "store/db/statement.h"
#include "store/files/output_file.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// A store opened for reading. The file may come from anybody: nothing in it is trusted, and no SQL that runs on it can
// write, load an extension, or reach another file. It is read by the descriptor that was looked at, as if it changed no
// more: no file beside it is made, opened or waited for. Not for use by two threads at once.
class Database {
 public:
  // Errors: no such file, not a regular file, not a database, a database that is not uscope's, one of another version,
  // one that holds what uscope does not make, or that another program has begun to change.
  static Result<Database> open(const std::filesystem::path& path);
  // The same of a regular file that is open; `path` is its name in messages, `temporary` the folder of temporary files.
  static Result<Database> open(UniqueFd file, const std::filesystem::path& path, UniqueFd temporary);

  // One statement; see Statement.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return Statement::prepare(handle_.get(), sql); }

  // For what Statement does not offer. Stays this object's.
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;

 private:
  Database(UniqueFd file, std::unique_ptr<DescriptorVfs> vfs, SqliteHandle handle, std::filesystem::path path)
      : file_(std::move(file)), vfs_(std::move(vfs)), handle_(std::move(handle)), path_(std::move(path)) {}

  UniqueFd file_;
  std::unique_ptr<DescriptorVfs> vfs_;  // gone after handle_
  SqliteHandle handle_;
  std::filesystem::path path_;
};

// A store in the making: an output file that gets its name only in commit(). Dropped before that, it removes its file.
// Holds one transaction, without a journal: a failed writer's file is of no use to anybody.
class DatabaseWriter {
 public:
  // Creates the schema in an empty file.
  static Result<DatabaseWriter> create(OutputFile file);
  // The same of a file to be made for this path; see OutputPlace.
  static Result<DatabaseWriter> create(const std::filesystem::path& path);

  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return Statement::prepare(handle_.get(), sql); }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  // Creates the indices, ends the transaction, writes everything to the disk, and puts the file in its place.
  Result<void> commit();

  DatabaseWriter(DatabaseWriter&&) noexcept = default;
  DatabaseWriter& operator=(DatabaseWriter&&) = delete;

 private:
  explicit DatabaseWriter(OutputFile file) : file_(std::move(file)) {}

  OutputFile file_;
  std::unique_ptr<DescriptorVfs> vfs_;  // gone after handle_
  SqliteHandle handle_;
};

}  // namespace uscope::store
