// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The partial rows of a question: what is counted and summed of events, by key. Rows of one key are added, wherever
// they come from: events that are run through the program here, or rows that the kernel side has made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trace/hit.h"
#include "uscope/query.h"

namespace uscope::query {

// Of the events in which the measure is not NULL. The sum of 2^64 numbers of 64 bits fits.
struct WideSum {
  std::uint64_t count = 0;
  std::int64_t least = 0;  // this and the next mean nothing as long as count is 0
  std::int64_t greatest = 0;
  __int128 sum = 0;

  [[nodiscard]] bool fits() const { return sum == static_cast<std::int64_t>(sum); }  // in 64 bits
  bool operator==(const WideSum&) const = default;
};

struct PartialRow {
  usc_query_key key{};
  std::uint64_t events = 0;
  std::array<WideSum, USC_QUERY_MEASURES> sums{};
};

// Many rows in one piece of memory: of each only the words that the question has keys and measures for.
class PartialRows {
 public:
  PartialRows() : PartialRows(0, 0) {}
  PartialRows(std::size_t keys, std::size_t measures);
  // As bytes() gave them. What is behind the last whole row is left out.
  PartialRows(std::size_t keys, std::size_t measures, std::vector<std::uint64_t> words);

  [[nodiscard]] std::size_t size() const { return words_.size() / row_words(); }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] PartialRow operator[](std::size_t row) const;
  [[nodiscard]] usc_query_key key(std::size_t row) const;
  // A word of its key, nothing for NULL.
  [[nodiscard]] std::optional<std::int64_t> word(std::size_t row, std::size_t number) const;
  [[nodiscard]] std::uint64_t events(std::size_t row) const { return words_[row * row_words()]; }
  [[nodiscard]] WideSum sum(std::size_t row, std::size_t measure) const;
  [[nodiscard]] bool has_key(std::size_t row, const usc_query_key& key) const;
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

  void push_back(const PartialRow& row);
  void add_events(std::size_t row, std::uint64_t events) { words_[row * row_words()] += events; }
  void add_sum(std::size_t row, std::size_t measure, const WideSum& sum);

 private:
  // Events, NULLs of the key, its words, and five words for each measure.
  [[nodiscard]] std::size_t row_words() const { return 2 + keys_ + 5 * measures_; }
  [[nodiscard]] std::size_t sum_at(std::size_t row, std::size_t measure) const {
    return row * row_words() + 2 + keys_ + 5 * measure;
  }
  void put_sum(std::size_t row, std::size_t measure, const WideSum& sum);

  std::size_t keys_;
  std::size_t measures_;
  std::vector<std::uint64_t> words_;
};

class Sums {
 public:
  // `program` must outlive this object, and have passed usc_query_check().
  explicit Sums(const usc_query& program) : program_(program), rows_(program.keys, program.measures) {}

  // Runs the program over an event.
  usc_query_end add(const trace::Event& event);
  void add(const usc_query_row& row);

  [[nodiscard]] const PartialRows& rows() const { return rows_; }
  // The last thing that is asked of it.
  [[nodiscard]] PartialRows take_rows() { return std::move(rows_); }
  // That the rows stand for.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  std::size_t row(const usc_query_key& key);
  void make_places();

  const usc_query& program_;
  usc_query_state state_{};
  PartialRows rows_;
  std::vector<std::uint32_t> places_;  // by the hash of a key, or behind that: the number of its row, from 1
  std::uint64_t events_ = 0;
};

}  // namespace uscope::query
