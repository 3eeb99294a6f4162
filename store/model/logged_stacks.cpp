// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/model/logged_stacks.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "support/text.h"

namespace uscope::store {
namespace {

// "name+0x12" into its two parts; nothing where there is no number.
std::optional<std::pair<std::string_view, std::uint64_t>> split(std::string_view text) {
  constexpr std::string_view kSign = "+0x";
  const std::size_t at = text.rfind(kSign);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + kSign.size());
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return std::pair(text.substr(0, at), number);
}

}  // namespace

std::optional<KernelPlace> parse_kernel_place(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  KernelPlace place;
  const std::string_view module = text.substr(0, space);
  if (module != "?") {
    const auto parts = split(module);
    if (!parts) return std::nullopt;
    place.module = trace_text(parts->first);
    place.offset = parts->second;
  }
  // A module's symbol has the module's name behind it once more: "ext4_sync_file+0x10 [ext4]".
  std::string_view function = text.substr(space + 1);
  function = function.substr(0, function.find(' '));
  if (const auto parts = split(function)) {
    place.function = trace_text(parts->first);
    place.function_offset = parts->second;
  } else {
    place.function = trace_text(function);
  }
  if (place.function.empty()) return std::nullopt;
  return place;
}

LoggedStacks::Key LoggedStacks::key_of(const trace::RawRecord& logged) {
  const auto key = [](std::uint32_t stack, std::size_t count, std::string_view bytes) {
    Places places(count);
    if (!places.empty()) std::memcpy(places.data(), bytes.data(), bytes.size());
    return Key{trace::StackId(stack), std::move(places)};
  };
  if (logged.head.type == USC_RECORD_HIT) {
    const auto hit = logged.as<usc_hit>();
    // Addresses are for the collector alone, which has none of them written.
    const std::size_t count = (hit.flags & USC_HIT_ADDRESSES) != 0 ? 0 : hit.frames;
    return key(hit.stack, count, logged.data<usc_hit>(0, count * sizeof(trace::PlaceId)));
  }
  const auto record = logged.as<usc_logged>();
  return key(record.stack, record.places, logged.data<usc_logged>(0, record.places * sizeof(trace::PlaceId)));
}

void LoggedStacks::add(const trace::RawRecord& logged) {
  Key key = key_of(logged);
  if (!key.second.empty() && by_raw_.size() < kMost) by_raw_.emplace(std::move(key), LoggedStackNumber());
}

void LoggedStacks::add_place(const trace::RawRecord& place) {
  const auto record = place.as<usc_kernel_place>();
  if (auto parsed = parse_kernel_place(place.data<usc_kernel_place>(0, record.text_bytes)))
    places_.emplace(trace::PlaceId(record.place), std::move(*parsed));
}

// Each processor has ids of its own for one user stack.
void LoggedStacks::finish(const StackTable& stacks) {
  constexpr StackNumber kUndefined(~std::uint32_t{0});
  std::map<std::pair<StackNumber, Places>, LoggedStackNumber> numbers;
  for (auto& [key, number] : by_raw_) {
    const StackNumber user = stacks.find(key.first);
    const bool undefined = key.first && !user;
    const LoggedStackNumber next(static_cast<std::uint32_t>(stacks_.size() + 1));
    const auto [at, fresh] = numbers.emplace(std::pair(undefined ? kUndefined : user, key.second), next);
    if (fresh) stacks_.push_back({user, undefined, key.second});
    number = at->second;
  }
}

LoggedStackNumber LoggedStacks::find(const trace::RawRecord& logged) const {
  const auto at = by_raw_.find(key_of(logged));
  return at == by_raw_.end() ? LoggedStackNumber() : at->second;
}

const KernelPlace* LoggedStacks::place(trace::PlaceId id) const {
  const auto at = places_.find(id);
  return at == places_.end() ? nullptr : &at->second;
}

}  // namespace uscope::store
