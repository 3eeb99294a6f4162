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

  // Adds a row.
  template <typename... Values>
  void add(const Values&... row) {
    const std::size_t first = values.size();
    values.resize(first + sizeof...(row));
    RowValue* to = &values[first];
    (put(*to++, row), ...);
  }

 private:
  // `to` is NULL before.
  static void put(RowValue&, std::nullopt_t) {}
  static void put(RowValue& to, std::integral auto number) {
    to.kind = RowValue::Kind::kInteger;
    to.number = static_cast<std::int64_t>(number);
  }
  template <typename Kind, typename Number>
  static void put(RowValue& to, trace::Id<Kind, Number> id) {
    put(to, id.value());
  }
  template <typename Number>
  void put(RowValue& to, const std::optional<Number>& maybe) {
    if (maybe) put(to, *maybe);
  }
  static void put(RowValue& to, LastingText text) {
    to.kind = RowValue::Kind::kLasting;
    to.length = static_cast<std::uint32_t>(text.text.size());
    to.lasting = text.text.empty() ? "" : text.text.data();
  }
  void put(RowValue& to, std::string_view text) { put_bytes(to, text, RowValue::Kind::kText); }
  void put(RowValue& to, Blob blob) { put_bytes(to, blob.bytes, RowValue::Kind::kBlob); }

  void put_bytes(RowValue& to, std::string_view text, RowValue::Kind kind) {
    to.kind = kind;
    to.length = static_cast<std::uint32_t>(text.size());
    to.at = bytes.size();
    bytes += text;
  }
};

}  // namespace uscope::store
