// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/string_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "support/socket_address.h"
#include "support/text.h"
#include "trace/content.h"
#include "trace/string_kind.h"

namespace uscope::store {
namespace {

constexpr std::size_t kMostOfOneHash = 8;

}  // namespace

std::string string_text(const usc_string& head, std::string_view bytes) {
  switch (trace::string_holds(head.kind)) {
    case trace::StringHolds::ADDRESS:
      if ((head.flags & USC_STRING_REDACTED) == 0) return trace_text(socket_address_text(bytes));
      break;
    case trace::StringHolds::TEXT_NUL:  // getcwd's result includes the NUL
      if (bytes.ends_with('\0')) bytes.remove_suffix(1);
      break;
    default:
      break;
  }
  return trace_text(bytes) + ((head.flags & USC_STRING_TRUNCATED) != 0 ? "…" : "");
}

Result<void> StringTable::prepare() {
  auto insert = database_.prepare("INSERT INTO string VALUES(?1, ?2)");
  if (!insert) return insert.error();
  insert_.emplace(std::move(*insert));
  auto select = database_.prepare("SELECT value FROM string WHERE id = ?1");
  if (!select) return select.error();
  select_.emplace(std::move(*select));
  return {};
}

Result<trace::StringRowId> StringTable::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  const Recent& recent = place_of(hash);
  if (recent.id && recent.hash == hash && recent.text == text) return recent.id;
  auto found = find(hash, text);
  if (!found) return found.error();
  if (!*found) return insert(hash, text);
  place_of(hash) = {hash, **found, std::string(text)};
  return **found;
}

Result<std::optional<trace::StringRowId>> StringTable::find(std::uint64_t hash, std::string_view text) {
  const auto [first, last] = known_.equal_range(hash);
  std::size_t equal = 0;
  for (auto at = first; at != last; ++at) {
    // A program may name its files so that all have the same hash.
    if (++equal > kMostOfOneHash) return find_by_index(text);
    auto value = this->text(at->second);
    if (!value) return value.error();
    if (*value == text) return std::optional(at->second);
  }
  if (known_.size() < most_known_) return std::optional<trace::StringRowId>();
  return find_by_index(text);
}

Result<std::optional<trace::StringRowId>> StringTable::find_by_index(std::string_view text) {
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
  std::optional<trace::StringRowId> id;
  if (*row) id.emplace(look_up_->integer(0));
  look_up_->reset();
  return id;
}

Result<trace::StringRowId> StringTable::insert(std::uint64_t hash, std::string_view text) {
  const trace::StringRowId id(++last_);
  if (auto done = insert_->run(id, text); !done) return done.error();
  if (known_.size() < most_known_) known_.emplace(hash, id);
  place_of(hash) = {hash, id, std::string(text)};
  return id;
}

Result<std::optional<std::string>> StringTable::text(trace::StringRowId id) {
  select_->bind(1, id);
  auto row = select_->step();
  if (!row) return row.error();
  std::optional<std::string> text;
  if (*row) text = std::string(select_->text(0));
  select_->reset();
  return text;
}

Result<trace::OrderedString> intern_string(const trace::RawRecord& record, StringTable& strings,
                                           ContentTable& contents) {
  const auto head = record.as<usc_string>();
  const std::string_view bytes = record.data<usc_string>(0, head.bytes);
  trace::OrderedString out{.flags = head.flags, .arg = head.arg, .kind = head.kind};
  const trace::StringHolds holds = trace::string_holds(head.kind);
  if (holds == trace::StringHolds::NUMBERS || holds == trace::StringHolds::STRUCTURE)
    std::memcpy(out.numbers.data(), bytes.data(), std::min(bytes.size(), sizeof(out.numbers)));
  if (holds == trace::StringHolds::NUMBERS) return out;
  if (trace::is_content(head.kind)) {
    const trace::ContentParts parts = trace::content_parts(head, bytes);
    for (const auto& [part, id] :
         {std::pair(parts.structure, &out.structure_id), std::pair(parts.data, &out.data_id)}) {
      if (!part) continue;
      auto row = contents.intern(*part);
      if (!row) return row.error();
      *id = *row;
    }
    return out;
  }
  const std::string text = string_text(head, bytes);
  auto id = strings.intern(text);
  if (!id) return id.error();
  out.string_id = *id;
  if (!text.empty()) out.first = text.front();
  return out;
}

}  // namespace uscope::store
