// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads events by id: names come from the catalog, triggers from a bounded cache of stacks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_row.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

// The catalog must outlive it.
class EventReader {
 public:
  static Result<EventReader> create(const store::Database& database, const Catalog& catalog);

  [[nodiscard]] Result<EventRow> read(EventRowId id);

 private:
  // What is the same for all events of a stack.
  struct StackFacts {
    std::int64_t depth = 0;
    std::string ended;
    std::string trigger;
    std::string module;
    bool fallback = false;
    bool guessed = false;
  };

  EventReader(const Catalog& catalog, store::Statement event, store::Statement strings, store::Statement contents,
              store::Statement descriptors, store::Statement buffers, store::Statement signal, store::Statement stack);

  void fill(const store::Statement& row, EventRow& out) const;

  Result<void> add_stack(EventRow& out);

  const Catalog* catalog_;
  store::Statement event_;
  store::Statement strings_;
  store::Statement contents_;
  store::Statement descriptors_;
  store::Statement buffers_;
  store::Statement signal_;
  bool has_contents_ = false;  // else none is looked for
  bool has_descriptors_ = false;
  bool has_buffers_ = false;
  store::Statement stack_;
  std::unordered_map<StackRowId, StackFacts> stacks_;
};

}  // namespace uscope::analyzer
