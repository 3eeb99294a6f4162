// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Unwind rows for walks in user space, in addition to those that files hold: rows of files that found no room in the
// kernel, and rows with all registers. Built on demand; above a bound the least recently used ones are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "symbolizer/rows/row_builder.h"
#include "trace/ids.h"
#include "tracer/files/file_table.h"
#include "tracer/files/row_build_queue.h"

namespace uscope::tracer {

// Provides rows to walks.
class UnwindTableSource {
 public:
  virtual ~UnwindTableSource() = default;
  // Returns null if the file has no rows, cannot be read any more, or its rows are still being built.
  virtual std::shared_ptr<const symbolizer::UnwindTable> get(trace::FileId serial, symbolizer::RowDetail detail) = 0;
  // Whether the rows for which get() just returned null are being built.
  [[nodiscard]] virtual bool are_coming(trace::FileId, symbolizer::RowDetail) const { return false; }
};

class WalkTables final : public UnwindTableSource, public UnwindTableReceiver {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  // Both must outlive this object.
  WalkTables(FileTable& files, RowBuildQueue& maker, std::size_t most_bytes = kMostBytes);

  std::shared_ptr<const symbolizer::UnwindTable> get(trace::FileId serial, symbolizer::RowDetail detail) override;
  [[nodiscard]] bool are_coming(trace::FileId serial, symbolizer::RowDetail detail) const override;
  Result<void> on_made(const BuiltTable& made) override;

  // Keeps rows that gave way in the kernel, if there is room.
  void keep(trace::FileId serial, std::shared_ptr<const symbolizer::UnwindTable> rows);
  // The file has its rows itself again.
  void drop(trace::FileId serial) { drop(serial, symbolizer::RowDetail::kStack); }
  // The files without rows in the kernel that walks have gone through, with their rows; each is returned once.
  std::vector<std::pair<trace::FileId, std::shared_ptr<const symbolizer::UnwindTable>>> take_wanted();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    trace::FileId serial;
    symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
    std::shared_ptr<const symbolizer::UnwindTable> rows;  // null: there are none, which is remembered as well
  };
  using Asked = std::pair<trace::FileId, symbolizer::RowDetail>;

  void drop(trace::FileId serial, symbolizer::RowDetail detail);
  std::shared_ptr<const symbolizer::UnwindTable>* find(trace::FileId serial, symbolizer::RowDetail detail);
  void insert(trace::FileId serial, symbolizer::RowDetail detail, std::shared_ptr<const symbolizer::UnwindTable> rows);

  FileTable& files_;
  RowBuildQueue& maker_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::map<Asked, std::list<Entry>::iterator> by_file_;
  std::map<Asked, FileContent> asked_;  // requested from the queue, which reads them there
  std::map<trace::FileId, std::shared_ptr<const symbolizer::UnwindTable>> wanted_;
};

}  // namespace uscope::tracer
