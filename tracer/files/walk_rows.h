// Unwind rows for walks in user space, beside those that files keep: rows of files that found no room in the kernel,
// and rows that tell of all registers. Made when asked for; the ones used longest ago are dropped above a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "symbolizer/rows/row_builder.h"
#include "tracer/files/file_table.h"
#include "tracer/files/row_build_queue.h"

namespace uscope::tracer {

// Gives walks their rows.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Null where the file has no rows, or cannot be read any more, or they are being made.
  virtual std::shared_ptr<const symbolizer::RowTable> get(std::uint32_t serial, symbolizer::RowDetail detail) = 0;
  // Whether the rows that get() has just not given are being made.
  [[nodiscard]] virtual bool are_coming(std::uint32_t, symbolizer::RowDetail) const { return false; }
};

class WalkRows final : public RowSource, public RowUser {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // Both outlive this.
  WalkRows(const FileTable& files, RowBuildQueue& maker, std::size_t most_bytes = kMostBytes);

  std::shared_ptr<const symbolizer::RowTable> get(std::uint32_t serial, symbolizer::RowDetail detail) override;
  [[nodiscard]] bool are_coming(std::uint32_t serial, symbolizer::RowDetail detail) const override;
  Result<void> on_made(const MadeRows& made) override;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::uint32_t serial = 0;
    symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
    std::shared_ptr<const symbolizer::RowTable> rows;  // null: there are none, which is remembered too
  };
  using Asked = std::pair<std::uint32_t, symbolizer::RowDetail>;

  std::shared_ptr<const symbolizer::RowTable>* find(std::uint32_t serial, symbolizer::RowDetail detail);
  void keep(std::uint32_t serial, symbolizer::RowDetail detail, std::shared_ptr<const symbolizer::RowTable> rows);

  const FileTable& files_;
  RowBuildQueue& maker_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // used last first
  std::map<Asked, std::list<Entry>::iterator> by_file_;
  std::set<Asked> asked_;  // of the maker
};

}  // namespace uscope::tracer
