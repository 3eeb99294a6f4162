// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A store that takes one trace after the other, each for one question. It has its schema once; what a trace put into it
// is taken back before the next one comes, so that a small trace costs as little as it is.
//
// All of a trace is one transaction, which is never committed: empty() rolls it back, temporary tables too. Then each
// page is again what it was when the store was created, whatever the trace held. Statements stay compiled for the next.
#pragma once

#include <memory>
#include <utility>

#include "store/db/database.h"
#include "store/loader.h"
#include "support/result.h"
#include "trace/raw_reader.h"

namespace uscope::store {

class ReusedStore {
 public:
  // In a file without a name in this folder. Temporary views and functions of its connection can be made from here to
  // the first load().
  static Result<ReusedStore> create(int folder);

  // Loads a trace into the empty store. From here on, temporary tables may be written to.
  Result<LoadSummary> load(trace::RawReader raw, const LoadOptions& options);
  // From here to empty(), statements that are compiled may only read, as with allow_reading_only().
  Result<void> protect();
  // No statement may be under way.
  Result<void> empty();

  [[nodiscard]] sqlite3* handle() const { return writer_.handle(); }

 private:
  Result<void> run(const char* sql);
  explicit ReusedStore(DatabaseWriter writer) : writer_(std::move(writer)) {}

  std::unique_ptr<bool> reads_only_ = std::make_unique<bool>(false);  // destroyed after the connection, which asks it
  bool asks_ = false;                                                 // from the first load() on
  DatabaseWriter writer_;
};

}  // namespace uscope::store
