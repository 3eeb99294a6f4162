// Stacks are found by hash and then compared in full: two that differ are never one, whatever their hashes.
#include "store/stack_table.h"

#include <algorithm>

#include "uscope/record.h"

namespace uscope::store {
namespace {

std::uint32_t hash_of(std::uint8_t ended, std::uint32_t mm, std::span<const std::uint64_t> frames) {
  std::uint64_t hash = (std::uint64_t{mm} << 8 | ended) + 0x9e3779b97f4a7c15ULL;
  for (const std::uint64_t frame : frames) {
    hash = (hash ^ frame) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

bool has_anonymous_frame(std::span<const std::uint64_t> frames) {
  return std::any_of(frames.begin(), frames.end(),
                     [](std::uint64_t frame) { return USC_FRAME_FILE(frame) == USC_FILE_NONE; });
}

}  // namespace

void StackTable::define(std::uint32_t raw, std::uint8_t ended, std::uint32_t mm,
                        std::span<const std::uint64_t> frames) {
  if (raw == 0 || by_raw_.find(raw) != 0) return;
  if (!has_anonymous_frame(frames)) mm = 0;
  if ((stacks_.size() + 1) * 4 > buckets_.size() * 3) grow();
  const std::uint32_t hash = hash_of(ended, mm, frames);
  std::size_t at = hash & (buckets_.size() - 1);
  while (buckets_[at] != 0) {
    const std::uint32_t number = buckets_[at];
    if (hashes_[number - 1] == hash && equal(number, ended, mm, frames)) {
      by_raw_.insert(raw, number);
      return;
    }
    at = (at + 1) & (buckets_.size() - 1);
  }
  stacks_.push_back({frames_.size(), mm, static_cast<std::uint16_t>(frames.size()), ended});
  hashes_.push_back(hash);
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  buckets_[at] = number;
  by_raw_.insert(raw, number);
}

bool StackTable::equal(std::uint32_t number, std::uint8_t ended, std::uint32_t mm,
                       std::span<const std::uint64_t> other) const {
  const StoredStack& known = stack(number);
  const auto mine = frames(number);
  return known.ended == ended && known.mm == mm && std::equal(mine.begin(), mine.end(), other.begin(), other.end());
}

void StackTable::grow() {
  buckets_.assign(buckets_.empty() ? 64 : buckets_.size() * 2, 0);
  for (std::uint32_t number = 1; number <= stacks_.size(); number++) {
    std::size_t at = hashes_[number - 1] & (buckets_.size() - 1);
    while (buckets_[at] != 0) at = (at + 1) & (buckets_.size() - 1);
    buckets_[at] = number;
  }
}

}  // namespace uscope::store
