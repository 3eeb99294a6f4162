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
  if (!std::exchange(asks_, true)) allow_reading_only_while(handle(), reads_only_.get());
  *reads_only_ = false;
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, std::numeric_limits<int>::max());  // up to SQLite's own limit
  if (auto begun = run("BEGIN"); !begun) return begun.error();
  auto summary = fill(std::move(raw), writer_, options);
  if (!summary) return summary;
  if (auto done = fill_derived_tables(writer_.statements()); !done) return done.error();
  return summary;
}

Result<void> ReusedStore::protect() {
  *reads_only_ = true;
  return harden(handle());
}

// While it is protected, no transaction may be ended.
Result<void> ReusedStore::empty() {
  *reads_only_ = false;
  return run("ROLLBACK");
}

Result<void> ReusedStore::run(const char* sql) {
  auto statement = writer_.prepare(sql);
  return statement ? statement->execute() : statement.error();
}

}  // namespace uscope::store
