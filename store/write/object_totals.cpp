// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/object_totals.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace uscope::store {

std::size_t ObjectTotals::KeyHash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  std::uint64_t hash = std::uint64_t{key.kind.value()} << 32U | key.image.value();
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(key.process.value()),
        std::uint64_t{key.trigger.value()} << 32U | key.runtime_trigger.value(),
        static_cast<std::uint64_t>(key.error) ^ std::uint64_t{key.space} << 32U,
        static_cast<std::uint64_t>(key.name.value()),
        static_cast<std::uint64_t>(key.folder.value()) << 2U | static_cast<std::uint64_t>(key.part)})
    hash = (hash ^ hash >> 29U ^ part) * kFactor;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

Result<void> ObjectTotals::prepare() {
  auto rows = tables_.rows("object_total", 15);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  return {};
}

void ObjectTotals::add(const Facts& call, const CallObject& object) {
  const std::uint64_t bytes = std::min(call.bytes, bytes_left_);
  bytes_left_ -= bytes;
  const auto total_of = [&](StringRowId folder, StringRowId name, std::int64_t error, Key::Part part,
                            std::uint32_t space = 0) -> Total& {
    Total& total = totals_[{call.kind, call.process, call.image, call.trigger, call.runtime_trigger, folder, name,
                            space, error, part}];
    total.events++;
    total.last = call.event;
    return total;
  };
  Total& total = total_of(object.folder, object.name, call.error, Key::Part::kCall, object.space);
  total.changes += object.changes && call.error == 0;
  total.total_ns += call.duration;
  total.bytes += bytes;
  if (object.has_source) {
    Total& source = total_of({}, object.source, 0, Key::Part::kSource);
    source.bytes += bytes;
  }
  if (object.has_target && call.error == 0)
    total_of(object.target_folder, object.target, 0, Key::Part::kTarget).changes++;
  if (totals_.size() >= most_) full_.push_back(std::exchange(totals_, {}));
}

Result<void> ObjectTotals::write_full() {
  for (const Totals& totals : full_)
    if (auto done = write(totals); !done) return done;
  full_.clear();
  return {};
}

Result<void> ObjectTotals::write() {
  if (auto done = write_full(); !done) return done;
  return write(std::exchange(totals_, {}));
}

Result<void> ObjectTotals::write(const Totals& totals) {
  for (const auto& [key, total] : totals) {
    const LastingText part{key.part == Key::Part::kCall     ? "call"
                           : key.part == Key::Part::kSource ? "source"
                                                            : "target"};
    auto done = rows_->add(
        key.kind, maybe_id(key.process), maybe_id(key.image), maybe_id(key.trigger), maybe_id(key.folder),
        maybe_id(key.name), part, key.error ? std::optional(key.error) : std::nullopt, total.events, total.total_ns,
        total.bytes, total.changes, total.last, key.space != 0 ? std::optional(std::int64_t{key.space}) : std::nullopt,
        maybe_id(key.runtime_trigger));
    if (!done) return done;
  }
  return {};
}

}  // namespace uscope::store
