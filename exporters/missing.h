// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is missing from a trace, in the words that every export carries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

// A row of the table loss, or several of one cause.
struct Missing {
  std::string cause;    // "ring_full_event"
  std::string meaning;  // of that cause; empty: this version does not know it
  std::uint64_t count = 0;
  std::int64_t ts_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t until_ns = 0;
  std::optional<std::int64_t> pid;
  bool events = false;  // events are missing, or may be

  // "lost ring_full_event: 17 (events that found no room in the ring)"
  [[nodiscard]] std::string text() const;
};

// Each loss that leaves something out, by time. Those that only took longer are none.
[[nodiscard]] Result<void> for_each_missing(const store::Database& database, const analyzer::Catalog& catalog,
                                            const std::function<void(const Missing&)>& use);

// One for each cause, without a process.
[[nodiscard]] Result<std::vector<Missing>> missing_by_cause(const store::Database& database);

// "uscope 0.1.0, recorded on HOST: COMMAND", as far as the store has that.
[[nodiscard]] std::string recording_text(const analyzer::Catalog& catalog);

}  // namespace uscope::exporters
