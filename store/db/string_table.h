// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts that arguments point to, each stored once, in the table `string`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "support/result.h"
#include "trace/texts.h"

namespace uscope::store {

// Memory: the first texts, up to kKeptBytes and kKeptTexts; kRecent of the others; and some 50 bytes for each distinct
// one up to kMostKnown. Beyond that, new texts are searched in the table itself by an index, which is slower but needs
// no more memory. Whatever is read from the table ends the insert thread (db/row_inserter.h).
class StringTable final : public trace::Texts {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{16} << 20;
  static constexpr std::size_t kKeptTexts = std::size_t{1} << 18;
  static constexpr std::size_t kRecent = 4096;
  static constexpr std::size_t kMostKnown = std::size_t{1} << 20;

  // `database` must outlive this object. most_known and kept_texts are for tests.
  explicit StringTable(DatabaseWriter& database, std::size_t most_known = kMostKnown,
                       std::size_t kept_texts = kKeptTexts)
      : database_(database), most_known_(most_known), kept_texts_(kept_texts) {}

  Result<void> prepare();  // call it first

  // Returns the row of a text, and stores the text if it is new.
  Result<StringRowId> intern(std::string_view text) override;

  // Once all texts are interned: no index stays that a store does not have.
  Result<void> finish();

  // Returns the text of a row; nullopt if there is no such row.
  Result<std::optional<std::string>> text(StringRowId id) override;

 private:
  struct Recent {
    std::uint64_t hash = 0;
    StringRowId id;
    std::string text;
  };

  // The text of a row, if it is kept.
  [[nodiscard]] std::optional<std::string_view> kept(StringRowId id) const;
  void keep(std::string_view text);
  Result<std::optional<std::string>> read(StringRowId id);
  void remember(std::uint64_t hash, StringRowId id, std::string_view text);
  Result<std::optional<StringRowId>> find(std::uint64_t hash, std::string_view text);
  Result<std::optional<StringRowId>> find_by_index(std::uint64_t hash, std::string_view text);
  Result<StringRowId> insert(std::uint64_t hash, std::string_view text);

  DatabaseWriter& database_;
  std::size_t most_known_;
  std::size_t kept_texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;                // of texts that are kept
  std::size_t block_bytes_ = 0;                                // of all blocks
  char* block_end_ = nullptr;                                  // of the last block
  std::size_t block_left_ = 0;                                 // bytes before it that are free
  std::vector<std::string_view> kept_;                         // by id - 1
  std::vector<Recent> recent_;                                 // by hash: of those not kept, the last of a slot
  std::unordered_multimap<std::uint64_t, StringRowId> known_;  // by hash
  std::unique_ptr<TableRows> rows_;
  std::optional<Statement> select_;
  std::optional<Statement> look_up_;  // used once known_ is full
  std::int64_t last_ = 0;
};

}  // namespace uscope::store
