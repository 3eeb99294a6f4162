// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/content_table.h"

#include <functional>
#include <utility>

namespace uscope::store {

Result<void> ContentTable::prepare() {
  auto rows = database_.rows("content(value)", 1);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  return {};
}

Result<ContentRowId> ContentTable::intern(std::string_view bytes) {
  Recent& recent = recent_[std::hash<std::string_view>{}(bytes) % recent_.size()];
  if (recent.id && recent.bytes == bytes) return recent.id;
  const ContentRowId id(++last_);
  if (auto done = rows_->add(Blob{bytes}); !done) return done.error();
  recent = {id, std::string(bytes)};
  return id;
}

}  // namespace uscope::store
