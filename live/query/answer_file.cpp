// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/answer_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "live/query/quoted_name.h"
#include "query/sql/lexer.h"
#include "support/private_file.h"

namespace uscope::query {
namespace {

constexpr int kOwnColumns = 3;

// Names of columns, made different from each other: a result may have two of one name.
std::vector<std::string> table_columns(const store::Statement& answer) {
  std::vector<std::string> columns{"from_ns", "until_ns", "lost"};
  for (int i = 0; i < answer.columns(); i++) {
    const std::string name = answer.column_name(i);
    std::string next = name;
    for (int number = 2; std::any_of(columns.begin(), columns.end(),
                                     [&](const std::string& other) { return lower_case(other) == lower_case(next); });
         number++)
      next = fmt::format("{}_{}", name, number);
    columns.push_back(next);
  }
  return columns;
}

}  // namespace

Result<AnswerFile> AnswerFile::create(store::OutputFile file) {
  auto temporary = open_sorting_folder(file.folder());
  if (!temporary) return temporary.error();
  AnswerFile made(std::move(file));
  made.vfs_ = store::DescriptorVfs::create(made.file_.fd(), std::move(*temporary), true);
  auto handle = made.vfs_->open(made.file_.path().string());
  if (!handle) return handle.error();
  made.handle_ = std::move(*handle);
  // As for a store: no other process knows the file before it is complete.
  auto done = store::execute(made.handle_.get(),
                             "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA temp_store=FILE;BEGIN;"
                             "CREATE TABLE fact(name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID");
  if (!done) return done.error();
  return made;
}

Result<void> AnswerFile::begin(std::int64_t from_ns, std::int64_t until_ns, std::uint64_t lost,
                               const store::Statement& answer) {
  from_ns_ = from_ns;
  until_ns_ = until_ns;
  lost_ = lost;
  if (insert_) return {};
  std::string columns;
  std::string places;
  for (const std::string& column : table_columns(answer)) {
    columns += (columns.empty() ? "" : ", ") + quoted_name(column);
    places += places.empty() ? "?" : ", ?";
  }
  if (auto done = store::execute(handle_.get(), "CREATE TABLE answer(" + columns + ")"); !done) return done;
  auto insert = store::Statement::prepare(handle_.get(), "INSERT INTO answer VALUES(" + places + ")");
  if (!insert) return insert.error();
  insert_.emplace(std::move(*insert));
  return {};
}

Result<void> AnswerFile::add(const store::Statement& row) {
  insert_->bind(1, from_ns_);
  insert_->bind(2, until_ns_);
  insert_->bind(3, lost_);
  for (int i = 0; i < row.columns(); i++)
    sqlite3_bind_value(insert_->handle(), kOwnColumns + i + 1, sqlite3_column_value(row.handle(), i));
  return insert_->execute();
}

Result<void> AnswerFile::add_fact(const std::string& name, const std::string& value) {
  auto insert = store::Statement::prepare(handle_.get(), "INSERT INTO fact VALUES(?1, ?2)");
  if (!insert) return insert.error();
  return insert->run(std::string_view(name), std::string_view(value));
}

Result<void> AnswerFile::commit() {
  insert_.reset();
  if (auto done = store::execute(handle_.get(), "COMMIT"); !done) return done;
  handle_.reset();
  return file_.commit();
}

}  // namespace uscope::query
