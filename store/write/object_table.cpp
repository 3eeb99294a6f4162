// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/object_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "store/db/path_match.h"
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
  for (const StringRowId id : {key.folder, key.name})
    hash = (hash ^ hash >> 29U ^ static_cast<std::uint64_t>(id.value())) * kFactor;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

Result<void> ObjectTable::prepare() {
  auto rows = database_.rows("object(name, kind)", 2);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  return {};
}

ObjectTable::Key ObjectTable::key_of(const usc_event& event, const CallObject& object) {
  return {.folder = object.folder,
          .name = object.name,
          .relation = object.is_path ? std::uint8_t{0}
                                     : relations_of_calls()[event.abi * syscalls::kSyscallNumbers + event.kind],
          .is_path = object.is_path,
          .is_folder = object.is_folder};
}

Result<std::optional<std::string>> ObjectTable::name_of(const Key& key) {
  std::array<std::optional<std::string>, 2> texts;
  for (std::size_t i = 0; i < texts.size(); i++) {
    const StringRowId id = i == 0 ? key.folder : key.name;
    if (!id) continue;
    auto text = strings_.text(id);
    if (!text) return text.error();
    texts.at(i) = *text;
  }
  auto name = trace::object_name(kRelations.at(key.relation), texts[0], texts[1]);
  if (name && name->empty()) name.reset();  // an empty path, and nothing is known of its descriptor
  return name;
}

Result<bool> ObjectTable::is_wanted(const Key& key) {
  if (!key.name && !key.folder) return false;
  if (const auto at = wanted_.find(key); at != wanted_.end()) return at->second;
  auto name = name_of(key);
  if (!name) return name.error();
  if (wanted_.size() >= most_) wanted_.clear();
  return wanted_.emplace(key, *name && path_matches(globs_, **name)).first->second;
}

Result<bool> ObjectTable::is_wanted(const usc_event& event, const CallObject& object) {
  if (!object.is_about_any) return false;
  Key source;
  source.name = object.source;
  Key target;
  target.folder = object.target_folder;
  target.name = object.target;
  target.is_path = true;
  for (const Key& key : {key_of(event, object), source, target}) {
    auto wanted = is_wanted(key);
    if (!wanted || *wanted) return wanted;
  }
  return false;
}

Result<ObjectRowId> ObjectTable::row_of(const usc_event& event, const CallObject& object) {
  if (!object.name && !object.folder) return ObjectRowId();
  const Key key = key_of(event, object);
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  if (known_.size() >= most_) known_.clear();
  auto row = add(key);
  if (row) known_.emplace(key, *row);
  return row;
}

Result<ObjectRowId> ObjectTable::add(const Key& key) {
  const auto name = name_of(key);
  if (!name) return name.error();
  if (!*name) return ObjectRowId();
  const trace::ObjectKind kind = key.is_folder ? trace::ObjectKind::kFolder : trace::object_kind(**name, key.is_path);
  if (auto done = rows_->add(std::string_view(**name), LastingText{trace::object_kind_name(kind)}); !done)
    return done.error();
  return ObjectRowId(static_cast<std::uint32_t>(++last_));
}

}  // namespace uscope::store
