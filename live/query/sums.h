// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The partial rows of a question: what is counted and summed of events, by key. Rows of one key are added, wherever
// they come from: events that are run through the program here, or rows that the kernel side has made.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "uscope/query.h"

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

class Sums {
 public:
  // `program` must outlive this object, and have passed usc_query_check().
  explicit Sums(const usc_query& program) : program_(program) {}

  // Runs the program over an event.
  usc_query_end add(const usc_event& event);
  void add(const usc_query_row& row);

  struct Hash {
    std::size_t operator()(const usc_query_key& key) const { return usc_query_hash(&key); }
  };
  struct Same {
    bool operator()(const usc_query_key& a, const usc_query_key& b) const { return usc_query_same_key(&a, &b) != 0; }
  };
  using Rows = std::unordered_map<usc_query_key, PartialRow, Hash, Same>;
  [[nodiscard]] const Rows& rows() const { return rows_; }
  // That the rows stand for.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  PartialRow& row(const usc_query_key& key);

  const usc_query& program_;
  usc_query_state state_{};
  Rows rows_;
  std::uint64_t events_ = 0;
};

}  // namespace uscope::query
