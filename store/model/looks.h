// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first and the last whole look of a trace (include/uscope/records/wait.h): what threads waited in, and who held
// what they waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/raw_record.h"
#include "uscope/record.h"

namespace uscope::store {

// A record and the text behind its fixed part; the record comes last, because its type has a flexible array at its end.
template <typename Record>
struct WithText {
  std::string text;
  Record record{};
};

struct LookFacts {
  std::uint32_t number = 0;
  std::uint64_t records = 0;
  std::vector<usc_thread_look> threads;
  std::vector<usc_waited> waits;
  std::vector<WithText<usc_resource>> resources;
  std::vector<usc_held_lock> locks;
  std::vector<WithText<usc_monitor>> monitors;
  std::vector<WithText<usc_look_trouble>> troubles;
};

class Looks {
 public:
  // Takes a record of a look; leaves all others alone.
  void add(const trace::RawRecord& record);
  // Empty if there is no whole one. They are the same if there is only one.
  [[nodiscard]] const LookFacts& first() const { return first_; }
  [[nodiscard]] const LookFacts& last() const { return last_; }

 private:
  static constexpr std::uint64_t kMostRecords = 1U << 20;

  void mark(const usc_look& look);
  // Whether a record of this look is to be kept, which is counted.
  bool takes(std::uint32_t look);

  bool open_ = false;
  LookFacts next_;
  LookFacts first_;
  LookFacts last_;
  bool has_first_ = false;
};

}  // namespace uscope::store
