// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The answers of all intervals in one table of an SQLite database: `answer`, with the columns of the result behind
// from_ns, until_ns, and lost.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/db/descriptor_vfs.h"
#include "store/db/sqlite_handles.h"
#include "store/db/statement.h"
#include "store/files/output_file.h"
#include "support/result.h"

namespace uscope::query {

class AnswerFile {
 public:
  // Creates the database in an empty file; it gets its name in commit(). Nothing of SQLite may be used across a fork:
  // the process that writes calls this.
  static Result<AnswerFile> create(store::OutputFile file);

  // To be called before the rows of each answer. The first answer's columns are the table's.
  Result<void> begin(std::int64_t from_ns, std::int64_t until_ns, std::uint64_t lost, const store::Statement& answer);
  Result<void> add(const store::Statement& row);
  // Adds what says of which question and target the answers are.
  Result<void> add_fact(const std::string& name, const std::string& value);
  Result<void> commit();

 private:
  explicit AnswerFile(store::OutputFile file) : file_(std::move(file)) {}

  store::OutputFile file_;
  std::unique_ptr<store::DescriptorVfs> vfs_;  // destroyed after handle_
  store::SqliteHandle handle_;
  std::optional<store::Statement> insert_;
  std::int64_t from_ns_ = 0;
  std::int64_t until_ns_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace uscope::query
