// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of a table by id. Ids of a store are small and almost without gaps, so a row is usually at the index that its id
// gives; if not (a store made by another program), it is found by bisection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uscope::analyzer {

// `Row` has an `id`, which is a row's (trace/ids.h).
template <typename Row>
class Ordered {
 public:
  using Id = decltype(Row::id);

  // Ids must ascend.
  Row& append(Row row) {
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  [[nodiscard]] Row* find(Id id) {
    return const_cast<Row*>(static_cast<const Ordered*>(this)->find(id));  // the row itself is ours and not const
  }

  [[nodiscard]] const Row* find(Id id) const {
    if (rows_.empty() || id < rows_.front().id || id > rows_.back().id) return nullptr;
    const auto guess = static_cast<std::uint64_t>(id.value()) - static_cast<std::uint64_t>(rows_.front().id.value());
    if (guess < rows_.size() && rows_[guess].id == id) return &rows_[guess];
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), id, [](const Row& row, Id x) { return row.id < x; });
    return at != rows_.end() && at->id == id ? &*at : nullptr;
  }

  [[nodiscard]] std::size_t index_of(const Row& row) const { return static_cast<std::size_t>(&row - rows_.data()); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] auto begin() const { return rows_.begin(); }
  [[nodiscard]] auto end() const { return rows_.end(); }
  [[nodiscard]] auto begin() { return rows_.begin(); }
  [[nodiscard]] auto end() { return rows_.end(); }

 private:
  std::vector<Row> rows_;
};

}  // namespace uscope::analyzer
