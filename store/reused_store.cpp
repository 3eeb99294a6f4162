// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/reused_store.h"

#include <limits>

#include "store/db/reading_only.h"
#include "store/db/schema.h"
#include "store/db/statement.h"

namespace uscope::store {

Result<ReusedStore> ReusedStore::create(int folder) {
  auto writer = DatabaseWriter::create_reused(folder);
  if (!writer) return writer.error();
  return ReusedStore(std::move(*writer));
}

Result<LoadSummary> ReusedStore::load(trace::RawReader raw, const LoadOptions& options) {
  sqlite3_set_authorizer(handle(), nullptr, nullptr);
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, std::numeric_limits<int>::max());  // up to SQLite's own limit
  if (auto begun = execute(handle(), "BEGIN"); !begun) return begun.error();
  auto summary = fill(std::move(raw), writer_, options);
  if (!summary) return summary;
  if (auto done = fill_derived_tables(handle()); !done) return done.error();
  return summary;
}

Result<void> ReusedStore::protect() {
  allow_reading_only(handle());
  return harden(handle());
}

// The authorizer does not allow a transaction to be ended.
Result<void> ReusedStore::empty() {
  sqlite3_set_authorizer(handle(), nullptr, nullptr);
  return execute(handle(), "ROLLBACK");
}

}  // namespace uscope::store
