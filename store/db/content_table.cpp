// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/content_table.h"

#include <functional>

namespace uscope::store {

Result<void> ContentTable::prepare() {
  auto insert = database_.prepare("INSERT INTO content VALUES(?1, ?2)");
  if (!insert) return insert.error();
  insert_.emplace(std::move(*insert));
  return {};
}

Result<trace::ContentRowId> ContentTable::intern(std::string_view bytes) {
  Recent& recent = recent_[std::hash<std::string_view>{}(bytes) % recent_.size()];
  if (recent.id && recent.bytes == bytes) return recent.id;
  const trace::ContentRowId id(last_ + 1);
  sqlite3_stmt* row = insert_->handle();
  sqlite3_bind_int64(row, 1, id.value());
  // Not a null pointer, which would be NULL and not an empty blob.
  sqlite3_bind_blob(row, 2, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
  if (sqlite3_step(row) != SQLITE_DONE) return insert_->failure();
  sqlite3_reset(row);
  last_++;
  recent = {id, std::string(bytes)};
  return id;
}

}  // namespace uscope::store
