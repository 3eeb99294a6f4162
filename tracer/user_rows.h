// Unwind rows for walks in user space, beside those that files keep: rows of files that found no room in the kernel,
// and rows that tell of all registers. Made when asked for; the ones used longest ago are dropped above a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "symbolizer/row_builder.h"
#include "symbolizer/row_cache.h"
#include "tracer/file_table.h"

namespace uscope::tracer {

// Gives walks their rows.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Null where the file has no rows, or cannot be read any more.
  virtual std::shared_ptr<const symbolizer::RowTable> get(std::uint32_t serial, symbolizer::RowDetail detail) = 0;
};

class UserRows final : public RowSource {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // Both outlive this.
  UserRows(const FileTable& files, symbolizer::RowCache& cache, std::size_t most_bytes = kMostBytes);

  std::shared_ptr<const symbolizer::RowTable> get(std::uint32_t serial, symbolizer::RowDetail detail) override;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::uint32_t serial = 0;
    symbolizer::RowDetail detail = symbolizer::RowDetail::kStack;
    std::shared_ptr<const symbolizer::RowTable> rows;  // null: there are none, which is remembered too
  };

  std::shared_ptr<const symbolizer::RowTable> make(std::uint32_t serial, symbolizer::RowDetail detail);

  const FileTable& files_;
  symbolizer::RowCache& cache_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // used last first
};

}  // namespace uscope::tracer
