// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Access to a store: Database reads one, DatabaseWriter creates one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "store/db/descriptor_vfs.h"
#include "store/db/row_inserter.h"
#include "store/db/schema.h"
#include "store/db/sqlite_handles.h"
#include "store/db/statement.h"
#include "store/db/statements.h"
#include "store/db/table_writer.h"
#include "store/files/output_file.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::store {

// A store opened for reading. The file may come from anyone: nothing in it is trusted, and no SQL that runs on it can
// write, load an extension, or reach another file. It is read through the descriptor that was checked, and is assumed
// not to change: no file next to it is created, opened or waited for. Not for use by two threads at once.
class Database {
 public:
  // Returns an error if there is no such file, or it is not a regular file, not a database, a database of another
  // program, of a newer version of uscope or one before kOldestSchema, one with objects that uscope does not create, or
  // one that another program has begun to change. What an older database lacks is NULL or empty, see lacks().
  static Result<Database> open(const std::filesystem::path& path);
  // The same for an open regular file; `path` is its name in messages, `temporary` the folder for temporary files.
  static Result<Database> open(UniqueFd file, const std::filesystem::path& path, UniqueFd temporary);

  // Prepares one statement; see Statement.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return Statement::prepare(handle_.get(), sql); }

  // For features that Statement lacks. This object keeps ownership.
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  // What an older version of uscope did not write yet; empty: nothing.
  [[nodiscard]] const SchemaChanges& lacks() const { return older_.lacks; }
  [[nodiscard]] std::int32_t schema() const { return schema_; }

  // The table in the file, for the FROM of those who put a temporary view of its name in front of it.
  [[nodiscard]] std::string table(std::string_view name) const;

  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;

 private:
  Database(UniqueFd file, std::unique_ptr<DescriptorVfs> vfs, SqliteHandle handle, std::filesystem::path path)
      : file_(std::move(file)), vfs_(std::move(vfs)), handle_(std::move(handle)), path_(std::move(path)) {}

  UniqueFd file_;
  std::unique_ptr<DescriptorVfs> vfs_;  // destroyed after handle_
  SqliteHandle handle_;
  std::filesystem::path path_;
  std::int32_t schema_ = kSchemaVersion;
  OlderSchema older_;
};

// A store under construction: an output file that gets its name only in commit(). If the object is destroyed earlier,
// it removes its file. Holds one transaction, without a journal: the file of a failed writer is useless.
class DatabaseWriter {
 public:
  // Creates the schema in an empty file.
  static Result<DatabaseWriter> create(OutputFile file);
  // The same for a new file at this path; see OutputPlace.
  static Result<DatabaseWriter> create(const std::filesystem::path& path);
  // For a ReusedStore: in a file without a name in this folder, with create_reused_schema(). There is no transaction,
  // and one that is begun can be rolled back.
  static Result<DatabaseWriter> create_reused(int folder);

  // See Statement. That of a ReusedStore keeps them for the next trace. This object must outlive them.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return statements_->prepare(sql); }
  [[nodiscard]] Statements& statements() const { return *statements_; }
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

  // See TableWriter. This object must outlive the result.
  [[nodiscard]] TableWriter tables() const { return {*statements_, *inserter_}; }
  [[nodiscard]] Result<std::unique_ptr<TableRows>> rows(std::string_view table, std::size_t columns,
                                                        OnConflict on_conflict = OnConflict::kFail) {
    return tables().rows(table, columns, on_conflict);
  }
  [[nodiscard]] RowInserter& inserter() { return *inserter_; }

  // Creates the indices, ends the transaction, writes everything to disk, and gives the file its name.
  Result<void> commit();

  DatabaseWriter(DatabaseWriter&&) noexcept = default;
  DatabaseWriter& operator=(DatabaseWriter&&) = delete;

 private:
  explicit DatabaseWriter(OutputFile file) : file_(std::move(file)) {}
  // `is_reused`: for one trace after the other.
  static Result<DatabaseWriter> begin(OutputFile file, bool is_reused);

  OutputFile file_;
  std::unique_ptr<DescriptorVfs> vfs_;  // destroyed after handle_
  SqliteHandle handle_;
  std::unique_ptr<Statements> statements_;  // as inserter_, destroyed before handle_
  std::unique_ptr<RowInserter> inserter_ = std::make_unique<RowInserter>();
};

}  // namespace uscope::store
