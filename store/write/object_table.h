// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What calls are about, by name and kind: the table `object`, to whose rows events point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/db/string_table.h"
#include "store/write/object_totals.h"

namespace uscope::store {

class ObjectTable {
 public:
  // Memory is bounded: beyond so many rows it begins anew, and an object may get a second one.
  static constexpr std::size_t kMost = std::size_t{1} << 17;

  // Both must outlive this object. `most` is for tests.
  ObjectTable(DatabaseWriter& database, StringTable& strings, std::size_t most = kMost)
      : database_(database), strings_(strings), most_(most) {}

  Result<void> prepare();  // to be called first

  // Only what calls with objects of such names are about is asked for (`record --path`).
  void want_only(std::vector<std::string> globs) { globs_ = std::move(globs); }
  [[nodiscard]] bool wants_all() const { return globs_.empty(); }
  // Whether one of the objects of a call is wanted: also what it reads from, and the name that it gives.
  Result<bool> is_wanted(const usc_event& event, const CallObject& object);

  // The row of what this call is about; none if it is about nothing, or that is not known.
  Result<ObjectRowId> row_of(const usc_event& event, const CallObject& object);

 private:
  struct Key {
    StringRowId folder;
    StringRowId name;
    std::uint8_t relation = 0;  // place in relations_
    bool is_path = false;
    bool is_folder = false;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };

  [[nodiscard]] static Key key_of(const usc_event& event, const CallObject& object);
  Result<std::optional<std::string>> name_of(const Key& key);
  Result<bool> is_wanted(const Key& key);
  Result<ObjectRowId> add(const Key& key);

  DatabaseWriter& database_;
  StringTable& strings_;
  std::size_t most_;
  std::unique_ptr<TableRows> rows_;
  std::unordered_map<Key, ObjectRowId, KeyHash> known_;
  std::vector<std::string> globs_;
  std::unordered_map<Key, bool, KeyHash> wanted_;
  std::int64_t last_ = 0;
};

}  // namespace uscope::store
