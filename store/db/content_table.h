// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Contents of calls (data and structures), in the table `content`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "support/result.h"
#include "trace/texts.h"

namespace uscope::store {

// Most contents differ, so only the last ones are remembered: equal ones far apart have a row each. Memory: kRecent
// contents.
class ContentTable final : public trace::Contents {
 public:
  static constexpr std::size_t kRecent = 1024;

  // `database` must outlive this object.
  explicit ContentTable(DatabaseWriter& database) : database_(database), recent_(kRecent) {}

  Result<void> prepare();  // call it first

  // Returns a row with these bytes.
  Result<ContentRowId> intern(std::string_view bytes) override;

 private:
  struct Recent {
    ContentRowId id;
    std::string bytes;
  };

  DatabaseWriter& database_;
  std::vector<Recent> recent_;  // by hash: the last of each slot
  std::unique_ptr<TableRows> rows_;
  std::int64_t last_ = 0;
};

}  // namespace uscope::store
