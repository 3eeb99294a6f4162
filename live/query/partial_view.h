// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The temporary view `partial`, as query/plan/plan.h has it: it is made once, in a store that is reused, and shows the
// rows of one interval after the other. What the question reads of rows' events is looked up once for each event.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "live/query/row_table.h"
#include "live/query/sums.h"
#include "query/plan/plan.h"
#include "store/db/statement.h"
#include "store/reused_store.h"
#include "support/result.h"

namespace uscope::query {

class PartialView {
 public:
  // In a store that no trace has been loaded into. Both must outlive this object, and it the statements that read it.
  static Result<std::unique_ptr<PartialView>> create(const store::ReusedStore& store, const Plan& plan);

  // Shows these rows, whose events (events_of()) are the first ones of the trace that is loaded. Those behind are whole
  // ones.
  Result<void> show(PartialRows rows);
  // Gives the rows' memory back.
  void hide() { table_.show({}, {}); }

 private:
  PartialView(const store::ReusedStore& store, const Plan& plan) : store_(store), plan_(plan), table_(plan) {}
  Result<void> make();

  const store::ReusedStore& store_;
  const Plan& plan_;
  RowTable table_;
  std::optional<store::Statement> look_up_;  // which fills temp.partial_event
};

}  // namespace uscope::query
