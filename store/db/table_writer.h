// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Adds rows to tables by their names. The loader's connection has the tables of a new store; a reader's may have
// temporary tables of the same names, which SQLite finds first.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "store/db/row_inserter.h"
#include "store/db/statements.h"
#include "support/result.h"

namespace uscope::store {

class TableWriter {
 public:
  // Both must outlive this object and what it makes.
  TableWriter(Statements& statements, RowInserter& inserter) : statements_(&statements), inserter_(&inserter) {}

  // See Statement.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return statements_->prepare(sql); }

  // For tables of many rows: adds rows to `table` ("loss" or, for these columns only, "string(value)"), with so many
  // values each. They are in the table after inserter().settle() at the latest. Where the id is left out, SQLite
  // numbers the rows from 1, as they come, and need not look whether one is there already.
  [[nodiscard]] Result<std::unique_ptr<TableRows>> rows(std::string_view table, std::size_t columns,
                                                        OnConflict on_conflict = OnConflict::kFail) const {
    return TableRows::prepare(*statements_, *inserter_, table, columns, on_conflict);
  }
  [[nodiscard]] RowInserter& inserter() const { return *inserter_; }

 private:
  Statements* statements_;
  RowInserter* inserter_;
};

}  // namespace uscope::store
