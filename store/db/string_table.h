// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts that arguments point to, each stored once, in the table `string`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/db/content_table.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/event_order.h"
#include "trace/ids.h"
#include "trace/raw_record.h"

namespace uscope::store {

// Memory: kRecent texts, and some 50 bytes for each distinct one up to kMostKnown. Beyond that, new texts are searched
// in the table itself by an index, which is slower but needs no more memory.
class StringTable {
 public:
  static constexpr std::size_t kRecent = 4096;
  static constexpr std::size_t kMostKnown = std::size_t{1} << 20;

  // `database` must outlive this object. most_known is for tests.
  explicit StringTable(DatabaseWriter& database, std::size_t most_known = kMostKnown)
      : database_(database), most_known_(most_known), recent_(kRecent) {}

  Result<void> prepare();  // call it first

  // Returns the row of a text, and stores the text if it is new.
  Result<trace::StringRowId> intern(std::string_view text);

  // Returns the text of a row; nullopt if there is no such row.
  Result<std::optional<std::string>> text(trace::StringRowId id);

 private:
  struct Recent {
    std::uint64_t hash = 0;
    trace::StringRowId id;
    std::string text;
  };

  Recent& place_of(std::uint64_t hash) { return recent_[hash % recent_.size()]; }
  Result<std::optional<trace::StringRowId>> find(std::uint64_t hash, std::string_view text);
  Result<std::optional<trace::StringRowId>> find_by_index(std::string_view text);
  Result<trace::StringRowId> insert(std::uint64_t hash, std::string_view text);

  DatabaseWriter& database_;
  std::size_t most_known_;
  std::vector<Recent> recent_;                                        // by hash: the last text of each slot
  std::unordered_multimap<std::uint64_t, trace::StringRowId> known_;  // by hash
  std::optional<Statement> insert_;
  std::optional<Statement> select_;
  std::optional<Statement> look_up_;  // used once known_ is full
  std::int64_t last_ = 0;
};

// The text of a usc_string as it is stored: addresses by name, other bytes as UTF-8; a truncated text ends with "…".
[[nodiscard]] std::string string_text(const usc_string& head, std::string_view bytes);

// What a usc_string holds: the row of its text, its numbers, or the rows of its contents.
Result<trace::OrderedString> intern_string(const trace::RawRecord& record, StringTable& strings,
                                           ContentTable& contents);

}  // namespace uscope::store
