// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/string_table.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace uscope::store {
namespace {

constexpr std::size_t kMostOfOneHash = 8;

}  // namespace

Result<void> StringTable::prepare() {
  auto rows = database_.rows("string(value)", 1);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  auto select = database_.prepare("SELECT value FROM string WHERE id = ?1");
  if (!select) return select.error();
  select_.emplace(std::move(*select));
  return {};
}

std::optional<std::string_view> StringTable::kept(StringRowId id) const {
  const auto place = static_cast<std::uint64_t>(id.value()) - 1;
  return place < kept_.size() ? std::optional(kept_[place]) : std::nullopt;
}

// Keeps the text of the row that is inserted next, unless one before it was not kept.
void StringTable::keep(std::string_view text) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  if (kept_.size() != static_cast<std::size_t>(last_ - 1) || kept_.size() >= kept_texts_) return;
  if (text.size() > block_left_) {
    const std::size_t bytes = std::max(kBlock, text.size());
    if (block_bytes_ + bytes > kKeptBytes) return;
    block_bytes_ += bytes;
    block_left_ = bytes;
    block_end_ = blocks_.emplace_back(std::make_unique<char[]>(bytes)).get() + bytes;
  }
  char* const at = block_end_ - block_left_;
  std::copy(text.begin(), text.end(), at);
  block_left_ -= text.size();
  kept_.emplace_back(at, text.size());
}

void StringTable::remember(std::uint64_t hash, StringRowId id, std::string_view text) {
  if (recent_.empty()) recent_.resize(kRecent);
  recent_[hash % kRecent] = {hash, id, std::string(text)};
}

Result<StringRowId> StringTable::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  auto found = find(hash, text);
  if (!found) return found.error();
  return *found ? Result(**found) : insert(hash, text);
}

Result<std::optional<StringRowId>> StringTable::find(std::uint64_t hash, std::string_view text) {
  if (!recent_.empty())
    if (const Recent& recent = recent_[hash % kRecent]; recent.id && recent.hash == hash && recent.text == text)
      return std::optional(recent.id);
  std::size_t equal = 0;
  for (auto [at, last] = known_.equal_range(hash); at != last; ++at) {
    // A program may name its files so that all have the same hash.
    if (++equal > kMostOfOneHash) return find_by_index(hash, text);
    if (const auto own = kept(at->second)) {
      if (*own == text) return std::optional(at->second);
      continue;
    }
    auto value = read(at->second);
    if (!value) return value.error();
    if (*value != text) continue;
    remember(hash, at->second, text);
    return std::optional(at->second);
  }
  return known_.size() < most_known_ ? std::optional<StringRowId>() : find_by_index(hash, text);
}

Result<std::optional<StringRowId>> StringTable::find_by_index(std::uint64_t hash, std::string_view text) {
  if (auto done = database_.inserter().settle(); !done) return done.error();
  if (!look_up_) {
    if (auto done = execute(database_.handle(), "CREATE INDEX string_value ON string(value)"); !done)
      return done.error();
    auto query = database_.prepare("SELECT id FROM string WHERE value = ?1");
    if (!query) return query.error();
    look_up_.emplace(std::move(*query));
  }
  look_up_->bind(1, text);
  auto row = look_up_->step();
  if (!row) return row.error();
  std::optional<StringRowId> id;
  if (*row) id.emplace(look_up_->integer(0));
  look_up_->reset();
  if (id && !kept(*id)) remember(hash, *id, text);
  return id;
}

Result<void> StringTable::finish() {
  if (auto done = database_.inserter().settle(); !done) return done;
  if (!look_up_) return {};
  look_up_.reset();
  return execute(database_.handle(), "DROP INDEX string_value");
}

Result<StringRowId> StringTable::insert(std::uint64_t hash, std::string_view text) {
  const StringRowId id(++last_);
  if (auto done = rows_->add(text); !done) return done.error();
  if (known_.size() < most_known_) known_.emplace(hash, id);
  keep(text);
  if (!kept(id)) remember(hash, id, text);
  return id;
}

Result<std::optional<std::string>> StringTable::text(StringRowId id) {
  if (const auto own = kept(id)) return std::optional(std::string(*own));
  return read(id);
}

Result<std::optional<std::string>> StringTable::read(StringRowId id) {
  if (auto done = database_.inserter().settle(); !done) return done.error();
  select_->bind(1, id);
  auto row = select_->step();
  if (!row) return row.error();
  std::optional<std::string> text;
  if (*row) text = std::string(select_->text(0));
  select_->reset();
  return text;
}

}  // namespace uscope::store
