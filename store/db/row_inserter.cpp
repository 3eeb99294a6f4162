// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/row_inserter.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "support/quiet_thread.h"

namespace uscope::store {
namespace {

constexpr std::size_t kMostWaiting = 16;  // batches; together some megabytes

}  // namespace

void RowInserter::begin_thread() {
  may_begin_ = false;
  ends_ = false;
  try {
    thread_ = quiet_thread([this] { run(); });
  } catch (const std::system_error&) {  // no more threads are allowed: rows are inserted where they are added
  }
}

Result<void> RowInserter::settle() {
  may_begin_ = false;
  for (TableRows* table : tables_)
    if (!table->flush()) break;
  end_thread();
  return error_ ? Result<void>(*error_) : Result<void>();
}

void RowInserter::end_thread() {
  may_begin_ = false;
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

Result<void> RowInserter::insert(RowBatch& batch) {
  if (may_begin_ && !thread_.joinable()) begin_thread();
  if (!thread_.joinable()) {
    if (!error_)
      if (auto done = batch.table->insert(batch.values, batch.bytes); !done) error_ = done.error();
    batch.values.clear();
    batch.bytes.clear();
    return error_ ? Result<void>(*error_) : Result<void>();
  }
  RowBatch next;
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return waiting_.size() < kMostWaiting || error_; });
    if (error_) return *error_;
    if (!spare_.empty()) {
      next = std::move(spare_.back());
      spare_.pop_back();
    }
    next.table = batch.table;
    waiting_.push_back(std::exchange(batch, std::move(next)));
  }
  has_work_.notify_one();
  batch.values.reserve(batch.table->values_of_batch());
  return {};
}

// After an error it takes no more batches.
void RowInserter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return;
    RowBatch batch = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    has_room_.notify_one();
    auto done = batch.table->insert(batch.values, batch.bytes);
    batch.values.clear();
    batch.bytes.clear();
    lock.lock();
    spare_.push_back(std::move(batch));
    if (done) continue;
    error_ = done.error();
    waiting_.clear();
    has_room_.notify_one();
    return;
  }
}

Result<std::unique_ptr<TableRows>> TableRows::prepare(Statements& statements, RowInserter& inserter,
                                                      std::string_view table, std::size_t columns,
                                                      OnConflict on_conflict) {
  auto prepared = RowStatements::prepare(statements, table, columns, on_conflict);
  if (!prepared) return prepared.error();
  return std::unique_ptr<TableRows>(new TableRows(inserter, std::move(*prepared)));
}

TableRows::TableRows(RowInserter& inserter, RowStatements statements)
    : inserter_(inserter), statements_(std::move(statements)), full_(statements_.values_of_batch()) {
  batch_.table = &statements_;
  batch_.values.reserve(full_);
  inserter_.tables_.push_back(this);
}

// The statements must not be in use, and the connection not either when they are given back.
TableRows::~TableRows() {
  inserter_.end_thread();
  inserter_.tables_.erase(std::find(inserter_.tables_.begin(), inserter_.tables_.end(), this));
}

}  // namespace uscope::store
