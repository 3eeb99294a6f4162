// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/object_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "syscalls/syscall_table.h"
#include "trace/object_name.h"

namespace uscope::store {
namespace {

constexpr std::array<std::string_view, 3> kRelations{"", "to", "at"};

// By ABI and number: the place in kRelations. Made once, since to ask for a call's name takes long.
const std::vector<std::uint8_t>& relations_of_calls() {
  static const std::vector<std::uint8_t> all = [] {
    std::vector<std::uint8_t> made;
    for (std::uint32_t abi = 0; abi < USC_ABI_COUNT; abi++)
      for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
        const auto relation = trace::address_relation(syscalls::syscall_name(static_cast<usc_abi>(abi), nr));
        const auto* const at = std::find(kRelations.begin(), kRelations.end(), relation);
        made.push_back(static_cast<std::uint8_t>(std::distance(kRelations.begin(), at)));
      }
    return made;
  }();
  return all;
}

}  // namespace

std::size_t ObjectTable::KeyHash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = (std::uint64_t{key.relation} << 2U | std::uint64_t{key.is_path} << 1U | key.is_folder) * kFactor;
  for (const trace::StringRowId id : {key.folder, key.name})
    hash = (hash ^ hash >> 29U ^ static_cast<std::uint64_t>(id.value())) * kFactor;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

Result<void> ObjectTable::prepare() {
  auto rows = database_.rows("object(name, kind)", 2);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  return {};
}

Result<ObjectRowId> ObjectTable::row_of(const usc_event& event, const CallObject& object) {
  if (!object.name && !object.folder) return ObjectRowId();
  const Key key{
      .folder = object.folder,
      .name = object.name,
      .relation =
          object.is_path ? std::uint8_t{0} : relations_of_calls()[event.abi * syscalls::kSyscallNumbers + event.kind],
      .is_path = object.is_path,
      .is_folder = object.is_folder,
  };
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  if (known_.size() >= most_) known_.clear();
  auto row = add(key);
  if (row) known_.emplace(key, *row);
  return row;
}

Result<ObjectRowId> ObjectTable::add(const Key& key) {
  std::array<std::optional<std::string>, 2> texts;
  for (std::size_t i = 0; i < texts.size(); i++) {
    const trace::StringRowId id = i == 0 ? key.folder : key.name;
    if (!id) continue;
    auto text = strings_.text(id);
    if (!text) return text.error();
    texts.at(i) = *text;
  }
  const auto name = trace::object_name(kRelations.at(key.relation), texts[0], texts[1]);
  if (!name || name->empty()) return ObjectRowId();  // an empty path, and nothing is known of its descriptor
  const trace::ObjectKind kind = key.is_folder ? trace::ObjectKind::kFolder : trace::object_kind(*name, key.is_path);
  if (auto done = rows_->add(std::string_view(*name), LastingText{trace::object_kind_name(kind)}); !done)
    return done.error();
  return ObjectRowId(static_cast<std::uint32_t>(++last_));
}

}  // namespace uscope::store
