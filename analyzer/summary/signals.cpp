// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/signals.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/read/query.h"
#include "uscope/record.h"

namespace uscope::analyzer {

Result<std::vector<SignalLine>> read_signals(const store::Database& database) {
  std::map<std::int64_t, SignalLine> lines;
  // The cells hold the counts, and the places, of both kinds of each signal.
  auto done =
      each_row(database,
               "SELECT kind.nr, frame.function, module.path, min(module.class != 'app'), sum(cell.events) FROM cell "
               "JOIN kind ON kind.id = cell.kind_id LEFT JOIN frame ON frame.id = cell.trigger_frame_id "
               "LEFT JOIN module ON module.id = frame.module_id WHERE kind.class = 'signal' GROUP BY 1, 2, 3 "
               "ORDER BY 5 DESC, 2, 3",
               [&](const SqlRow& row) {
                 const bool sent = (row.integer(0) & USC_SIGNAL_KIND_SENT) != 0;
                 SignalLine& line = lines[row.integer(0) & ~std::int64_t{USC_SIGNAL_KIND_SENT}];
                 const auto events = static_cast<std::uint64_t>(row.integer(4));
                 (sent ? line.sent : line.delivered) += events;
                 if (!row.is_null(1))
                   (sent ? line.sent_from : line.interrupted_in)
                       .push_back({text(row, 1), text(row, 2), row.integer(3) != 0, events});
               });
  if (!done) return done.error();
  done = each_row(
      database,
      "SELECT number, sender_pid, sender, count(*), total(result = 'ignored') FROM signal "
      "WHERE result IS NOT NULL GROUP BY number, sender_pid, sender ORDER BY 4 DESC, sender_pid, sender",
      [&](const SqlRow& row) {
        SignalLine& line = lines[row.integer(0)];
        line.senders.push_back({row.maybe_integer(1), text(row, 2), static_cast<std::uint64_t>(row.integer(3))});
        line.ignored += static_cast<std::uint64_t>(row.integer(4));
      });
  if (!done) return done.error();
  std::vector<SignalLine> out;
  for (auto& [number, line] : lines) {
    line.number = static_cast<int>(number);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace uscope::analyzer
