// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The partial rows of a question: what is counted and summed of events, by key. Rows of one key are added, wherever
// they come from: events that are run through the program here, or rows that the kernel side has made.
//
// A word in steps (USC_QUERY_KEY_STEP) tells no rows apart: a row has a list of steps for each such word. A question
// for a quantile has hundreds of steps for each other key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "query/plan/step_counts.h"
#include "trace/hit.h"
#include "uscope/query_rows.h"

namespace uscope::query {

// Of the events in which the measure is not NULL. The sum of 2^64 numbers of 64 bits fits.
struct WideSum {
  std::uint64_t count = 0;
  std::int64_t least = 0;  // this and the next mean nothing as long as count is 0
  std::int64_t greatest = 0;
  __int128 sum = 0;

  bool operator==(const WideSum&) const = default;
};

struct PartialRow {
  usc_query_key key{};
  std::uint64_t events = 0;
  std::array<WideSum, USC_QUERY_MEASURES> sums{};
};

// Many rows in one piece of memory: of each only the words that the question has keys and measures for. Words in steps
// are 0 in keys.
class PartialRows {
 public:
  PartialRows() : PartialRows(usc_query{}) {}
  explicit PartialRows(const usc_query& program);
  // As packed() gave them. Those that are not whole are left out, and their steps.
  PartialRows(const usc_query& program, std::span<const std::uint64_t> packed);

  [[nodiscard]] std::size_t size() const { return words_.size() / row_words(); }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] PartialRow operator[](std::size_t row) const;
  [[nodiscard]] usc_query_key key(std::size_t row) const;
  // A word of its key that is not in steps; nothing for NULL.
  [[nodiscard]] std::optional<std::int64_t> word(std::size_t row, std::size_t number) const;
  [[nodiscard]] std::uint64_t events(std::size_t row) const { return words_[row * row_words()]; }
  [[nodiscard]] WideSum sum(std::size_t row, std::size_t measure) const;
  [[nodiscard]] bool has_key(std::size_t row, const usc_query_key& key) const;
  [[nodiscard]] bool is_in_steps(std::size_t word) const { return (in_steps_ >> word & 1) != 0; }
  // Of its events in which this word, which is in steps, is not NULL.
  [[nodiscard]] const StepCounts& steps(std::size_t row, std::size_t word) const { return steps_[steps_at(row, word)]; }
  // The key without its words in steps.
  [[nodiscard]] usc_query_key key_of_row(usc_query_key key) const;
  [[nodiscard]] std::vector<std::uint64_t> packed() const;

  // Its key has no words in steps.
  void push_back(const PartialRow& row);
  void add_events(std::size_t row, std::uint64_t events) { words_[row * row_words()] += events; }
  void add_sum(std::size_t row, std::size_t measure, const WideSum& sum);
  void add_step(std::size_t row, std::size_t word, const StepCount& more) {
    query::add_step(steps_[steps_at(row, word)], more);
  }

 private:
  // Events, NULLs of the key, its words, and five words for each measure.
  [[nodiscard]] std::size_t row_words() const { return 2 + keys_ + 5 * measures_; }
  [[nodiscard]] std::size_t sum_at(std::size_t row, std::size_t measure) const {
    return row * row_words() + 2 + keys_ + 5 * measure;
  }
  // By row, and in it by word in steps.
  [[nodiscard]] std::size_t steps_at(std::size_t row, std::size_t word) const {
    return row * static_cast<std::size_t>(std::popcount(in_steps_)) +
           static_cast<std::size_t>(std::popcount(in_steps_ & ((1U << word) - 1)));
  }
  void put_sum(std::size_t row, std::size_t measure, const WideSum& sum);

  std::size_t keys_;
  std::size_t measures_;
  std::uint32_t in_steps_ = 0;  // bit by word of the key
  std::vector<std::uint64_t> words_;
  std::vector<StepCounts> steps_;
};

class Sums {
 public:
  // `program` must outlive this object, and have passed usc_query_check().
  explicit Sums(const usc_query& program)
      : program_(program), group_word_(usc_query_steps_word(&program)), rows_(program) {}

  // Runs the program over an event.
  usc_query_end add(const trace::Event& event);
  // `steps`: as tracer::RecordObserver::on_sums() has it.
  void add(const usc_query_row& row, const usc_query_steps* steps = nullptr);

  [[nodiscard]] const PartialRows& rows() const { return rows_; }
  // Gives a word of all keys that is not in steps, where it is not NULL, what `with` makes of it. Rows that are of one
  // key then become one.
  void replace(std::size_t word, const std::function<std::int64_t(std::int64_t)>& with);
  // The last thing that is asked of it.
  [[nodiscard]] PartialRows take_rows() { return std::move(rows_); }
  // That the rows stand for.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  std::size_t row(const usc_query_key& whole);
  void add_steps(std::size_t into, const usc_query_key& key, std::uint64_t events, const usc_query_steps* steps);
  void make_places();

  const usc_query& program_;
  std::uint32_t group_word_;  // the word in steps in which a row that stands for a group has that, and 1 more
  usc_query_state state_{};
  PartialRows rows_;
  std::vector<std::uint32_t> places_;  // by the hash of a key, or behind that: the number of its row, from 1
  std::uint64_t events_ = 0;
};

}  // namespace uscope::query
