// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Inserts rows in batches, on request on a thread of its own, so that the next rows can be made meanwhile. The thread
// begins when a batch is full: to begin it takes longer than to insert some rows. Each table's rows are inserted in the
// order in which they were added; batches of all tables, in the order in which they were full.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "store/db/row_batch.h"
#include "support/result.h"

namespace uscope::store {

class TableRows;

class RowInserter {
 public:
  RowInserter() = default;
  RowInserter(const RowInserter&) = delete;
  RowInserter& operator=(const RowInserter&) = delete;
  ~RowInserter() { end_thread(); }

  // From here to settle(), nobody else may use the connection. Without a further thread, if there can be none, add()
  // inserts.
  void start_thread() { may_begin_ = true; }

  // Inserts all rows that were added to any table, and ends the thread. Returns the first error of any insertion.
  Result<void> settle();

 private:
  friend class TableRows;

  // Takes the rows of a batch, and leaves it empty. An error may be that of an earlier batch.
  Result<void> insert(RowBatch& batch);
  void begin_thread();
  void end_thread();  // drops nothing: batches that wait are inserted first
  void run();

  std::vector<TableRows*> tables_;
  std::thread thread_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable has_work_;
  std::condition_variable has_room_;
  std::deque<RowBatch> waiting_;
  std::vector<RowBatch> spare_;  // empty ones, with their memory
  std::optional<Error> error_;
  bool ends_ = false;
  bool may_begin_ = false;  // the thread; not guarded
};

// The rows of one table, added one by one.
class TableRows {
 public:
  // Both must outlive this object.
  static Result<std::unique_ptr<TableRows>> prepare(Statements& statements, RowInserter& inserter,
                                                    std::string_view table, std::size_t columns,
                                                    OnConflict on_conflict);
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;
  // Rows that were added after the last RowInserter::settle() are not inserted.
  ~TableRows();

  // Adds a row: a value for each column. Texts are copied, but for a LastingText.
  template <typename... Values>
  Result<void> add(const Values&... values) {
    batch_.add(values...);
    return batch_.values.size() < full_ && batch_.bytes.size() < kMostBytes ? Result<void>() : flush();
  }

 private:
  friend class RowInserter;

  static constexpr std::size_t kMostBytes = std::size_t{1} << 17;

  TableRows(RowInserter& inserter, RowStatements statements);
  Result<void> flush() { return batch_.values.empty() ? Result<void>() : inserter_.insert(batch_); }

  RowInserter& inserter_;
  RowStatements statements_;
  std::size_t full_;
  RowBatch batch_;
};

}  // namespace uscope::store
