// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/completeness.h"

#include "analyzer/read/query.h"
#include "trace/loss_class.h"

namespace uscope::analyzer {

Result<Completeness> read_completeness(const store::Database& database) {
  Completeness out;
  auto done = each_row(database, "SELECT cause, sum(count) FROM loss GROUP BY cause HAVING sum(count) > 0",
                       [&](const SqlRow& row) {
                         const trace::LossClass missing = trace::loss_class(row.text(0));
                         out.events_missing = out.events_missing || trace::loses_events(missing);
                         out.cut_off = out.cut_off || missing == trace::LossClass::END;
                         if (trace::counts_events(missing)) out.lost += static_cast<std::uint64_t>(row.integer(1));
                       });
  if (!done) return done.error();
  return out;
}

}  // namespace uscope::analyzer
