// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows for one table, gathered, and the statements that insert them. A statement that inserts many rows costs SQLite
// little more than the rows themselves: it opens the table once, and stays where the last row went.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/db/statement.h"
#include "store/db/statements.h"
#include "support/result.h"
#include "trace/ids.h"

namespace uscope::store {

// A time as a value of SQLite, whose integers have a sign.
[[nodiscard]] inline std::int64_t stored_time(std::uint64_t time) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(time, std::numeric_limits<std::int64_t>::max()));
}

// A text that is valid as long as the program runs: it is not copied.
struct LastingText {
  std::string_view text;
};

struct Blob {
  std::string_view bytes;
};

// What happens to a row whose key the table has already.
enum class OnConflict : std::uint8_t {
  kFail,    // an error, which ends the load: no statement has to be undone
  kIgnore,  // the first row counts
};

// One value of a row.
struct RowValue {
  enum class Kind : std::uint32_t { kNull, kInteger, kLasting, kText, kBlob };
  Kind kind = Kind::kNull;
  std::uint32_t length = 0;  // of a text or blob
  union {
    std::int64_t number = 0;
    const char* lasting;
    std::size_t at;  // in the batch's bytes
  };
};

// Inserts rows into one table. It is used by one thread at a time, like its connection.
class RowStatements {
 public:
  static Result<RowStatements> prepare(Statements& statements, std::string_view table, std::size_t columns,
                                       OnConflict on_conflict);

  // Inserts whole rows, one behind the other; texts are in `bytes`.
  Result<void> insert(const std::vector<RowValue>& values, const std::string& bytes);

  // So many values make a batch that needs no statement for single rows.
  [[nodiscard]] std::size_t values_of_batch() const;

 private:
  // A statement that inserts so many rows as have these values, and what its parameters are bound to.
  struct Rows {
    Rows(Statement prepared, std::size_t values);
    Result<void> insert(const RowValue* first, const std::string& bytes);

    Statement statement;
    std::vector<RowValue> bound;  // at first NULL, as in SQLite
  };

  RowStatements(Statements& statements, std::string table, OnConflict on_conflict, Rows one)
      : statements_(&statements), table_(std::move(table)), on_conflict_(on_conflict), one_(std::move(one)) {}
  Result<void> prepare_many();
  [[nodiscard]] std::size_t values_of_many() const;

  Statements* statements_;
  std::string table_;
  OnConflict on_conflict_;
  std::optional<Rows> many_;  // prepared when there are so many rows: that takes longer than some rows do
  Rows one_;
};

struct RowBatch {
  RowStatements* table = nullptr;
  std::vector<RowValue> values;
  std::string bytes;  // of texts and blobs

  void put(std::nullopt_t) { values.emplace_back(); }
  void put(std::integral auto number) {
    RowValue& value = values.emplace_back();
    value.kind = RowValue::Kind::kInteger;
    value.number = static_cast<std::int64_t>(number);
  }
  template <typename Kind, typename Number>
  void put(trace::Id<Kind, Number> id) {
    put(id.value());
  }
  template <typename Number>
  void put(const std::optional<Number>& maybe) {
    maybe ? put(*maybe) : put(std::nullopt);
  }
  void put(LastingText text) {
    RowValue& value = values.emplace_back();
    value.kind = RowValue::Kind::kLasting;
    value.length = static_cast<std::uint32_t>(text.text.size());
    value.lasting = text.text.empty() ? "" : text.text.data();
  }
  void put(std::string_view text) { put_bytes(text, RowValue::Kind::kText); }
  void put(Blob blob) { put_bytes(blob.bytes, RowValue::Kind::kBlob); }

 private:
  void put_bytes(std::string_view text, RowValue::Kind kind) {
    RowValue& value = values.emplace_back();
    value.kind = kind;
    value.length = static_cast<std::uint32_t>(text.size());
    value.at = bytes.size();
    bytes += text;
  }
};

}  // namespace uscope::store
