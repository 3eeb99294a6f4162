// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks at what threads wait in (uscope/records/wait.h), kept as their records: the first and the last whole one, as
// the loader uses them, and what has come of the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "live/window/kept_record.h"
#include "support/result.h"
#include "uscope/record.h"

namespace uscope::live {

class KeptLooks {
 public:
  static constexpr std::size_t kMostRecords = std::size_t{1} << 18;  // of one look; one with more is not kept

  // Returns whether the record is of a look.
  bool take(const usc_record& record);
  Result<void> write(WindowTrace& to) const;
  [[nodiscard]] std::size_t records() const { return first_.size() + last_.size() + next_.size(); }

 private:
  using Look = std::vector<KeptRecord>;

  void mark(const usc_look& look);

  Look first_;
  Look last_;  // empty: it is the first one
  Look next_;  // not whole yet; empty: none is under way
};

}  // namespace uscope::live
