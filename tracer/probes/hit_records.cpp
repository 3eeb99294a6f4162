// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/probes/hit_records.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "trace/record_builder.h"

namespace uscope::tracer {

Result<std::uint32_t> HitRecords::place_of(std::uint64_t address, bool is_return, std::uint64_t now_ns) {
  const std::uint64_t key = address << 1U | (is_return ? 1 : 0);
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  if (places_.size() >= kMostPlaces) return std::uint32_t{0};
  if (!symbols_) symbols_ = read_();
  const auto number = static_cast<std::uint32_t>(kFirstPlace + places_.size());
  places_.emplace(key, number);
  const std::string text = symbols_->place(address, is_return);
  usc_kernel_place place{};
  place.head.time = now_ns;
  place.place = number;
  place.text_bytes = static_cast<__u16>(text.size());
  if (auto done = sink_.append_own(place, text); !done) return done.error();
  return number;
}

Result<void> HitRecords::write(const usc_hit& hit, bool is_own) {
  usc_hit fixed{};
  std::memcpy(static_cast<void*>(&fixed), &hit, sizeof(fixed));
  std::vector<std::uint32_t> places;
  if ((hit.flags & USC_HIT_ADDRESSES) != 0) {
    const std::size_t room = hit.head.size < sizeof(hit) ? 0 : (hit.head.size - sizeof(hit)) / sizeof(std::uint64_t);
    std::vector<std::uint64_t> addresses(std::min<std::size_t>({hit.frames, room, USC_KERNEL_FRAMES}));
    if (!addresses.empty())
      std::memcpy(addresses.data(), reinterpret_cast<const char*>(&hit) + sizeof(hit),
                  addresses.size() * sizeof(addresses[0]));
    // Of a sample, the first one is where the processor was; all others are where it would have come back to.
    for (std::size_t i = 0; i < addresses.size(); i++) {
      const auto place = place_of(addresses[i], i != 0 || hit.source != USC_SOURCE_SAMPLE, hit.head.time);
      if (!place) return place.error();
      places.push_back(*place);
    }
  }
  fixed.flags &= static_cast<__u8>(~USC_HIT_ADDRESSES);
  fixed.frames = static_cast<__u16>(places.size());
  trace::RecordBuilder<usc_hit> record(fixed);
  record.add_values(std::span<const std::uint32_t>(places));
  return is_own ? sink_.append_own(std::move(record)) : sink_.append(record.head());
}

}  // namespace uscope::tracer
