// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What calls are about, found again for calls that are counted anew: an event has the object's name, and the loader's
// totals have the texts of which such names are made.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/catalog.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "store/write/call_object.h"
#include "support/result.h"

namespace uscope::analyzer {

class PartObjects {
 public:
  [[nodiscard]] static Result<PartObjects> create(const store::Database& database, const Catalog& catalog);

  struct Call {
    EventRowId event;
    std::size_t kind = 0;  // its place in the catalog
    ProcessRowId process;
    ImageRowId image;
    std::int64_t object = 0;  // row of `object`; 0: none
    std::array<std::uint64_t, 6> arguments{};
  };
  Result<store::CallObject> of(const Call& call);

 private:
  using Texts = std::pair<store::StringRowId, store::StringRowId>;  // folder and name
  struct Kind {
    const syscalls::ObjectArgs* args = nullptr;
    std::size_t relation = 0;  // a number of trace::address_relation()
  };

  PartObjects(store::Statement texts, store::Statement strings)
      : object_name_(std::move(texts)), strings_(std::move(strings)) {}
  Result<void> learn(const store::Database& database, const Catalog& catalog);
  std::size_t relation_of(const std::string& call);
  Result<Texts> texts_of(std::int64_t object, std::size_t relation);
  Result<void> add_arguments(const Call& call, const syscalls::ObjectArgs& args, store::CallObject& object);

  store::Statement object_name_;
  store::Statement strings_;
  std::vector<Kind> kinds_;  // like Catalog::kinds
  std::vector<std::string> relations_;
  std::vector<std::unordered_map<std::string, Texts>> by_name_;  // by relation
  std::vector<std::unordered_map<std::int64_t, Texts>> known_;   // the same, by row of `object`
  std::map<std::tuple<KindRowId, ProcessRowId, ImageRowId, Texts>, std::uint32_t> spaces_;
  // In which a relative second path began, and the last call for which it did.
  struct TargetFolder {
    store::StringRowId folder;
    EventRowId last;
  };
  std::map<std::tuple<KindRowId, ProcessRowId, store::StringRowId>, std::vector<TargetFolder>>
      target_folders_;  // by kind, process and text; by `last`
  std::vector<KindRowId> kind_ids_;
};

}  // namespace uscope::analyzer
