// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks are found by hash and then compared in full: two that differ are never one, whatever their hashes.
#include "store/model/stack_table.h"

#include <algorithm>
#include <random>
#include <ranges>
#include <type_traits>

#include "uscope/record.h"

namespace uscope::store {
namespace {

// All bits of a word go into all of the hash, and no program knows where it begins: one that chooses its return
// addresses cannot have its stacks meet in one bucket.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ word >> 33) * 0xff51afd7ed558ccdULL;
  word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return word ^ word >> 33;
}

std::uint64_t seed() {
  static const std::uint64_t kSeed = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  return kSeed;
}

std::uint32_t hash_of(const StoredStack& stack, std::span<const FrameNumber> frames) {
  std::uint64_t hash = mix(seed() ^ (std::uint64_t{stack.mm.value()} << 9 | (stack.guessed ? 256U : 0U) | stack.ended));
  for (const FrameNumber frame : frames) hash = mix(hash ^ frame.value());
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

bool is_anonymous(std::uint64_t frame) {
  return trace::file_of(frame) == trace::kNoFile;
}

// The stack as it is stored, made from what the walk reported. Nothing was guessed where it ended at the one frame
// without a file.
StoredStack stored_stack_of(std::uint8_t ended, trace::MmId mm, std::span<const std::uint64_t> frames) {
  StoredStack stack;
  stack.depth = static_cast<std::uint16_t>(frames.size());
  stack.ended = ended;
  const auto anonymous = std::count_if(frames.begin(), frames.end(), is_anonymous);
  const bool at_the_end = !frames.empty() && is_anonymous(frames.back());
  stack.mm = anonymous != 0 ? mm : trace::MmId();
  stack.guessed = anonymous != 0 ? anonymous > 1 || !at_the_end : bool{mm};
  // The guess led to no code at all.
  if (at_the_end && ended == USC_ENDED_BROKEN + int{USC_BROKEN_NO_MAPPING})
    stack.ended = USC_ENDED_BROKEN + int{USC_BROKEN_FRAME_POINTER};
  return stack;
}

}  // namespace

void StackTable::define(trace::StackId raw, std::uint8_t ended, trace::MmId mm, std::span<const std::uint64_t> frames) {
  if (!raw || by_raw_.find(raw)) return;
  StoredStack stored = stored_stack_of(ended, mm, frames);
  defined_frames_.clear();
  for (const std::uint64_t frame : frames) defined_frames_.push_back(number_of(frame));
  if ((stacks_.size() + 1) * 4 > buckets_.size() * 3) grow();
  const std::uint32_t hash = hash_of(stored, defined_frames_);
  std::size_t at = hash & (buckets_.size() - 1);
  while (buckets_[at]) {
    const StackNumber number = buckets_[at];
    const StoredStack& known = stack(number);
    if (hashes_[number.value() - 1] == hash && known.ended == stored.ended && known.mm == stored.mm &&
        known.guessed == stored.guessed && std::ranges::equal(frames_of(known), defined_frames_)) {
      by_raw_.insert(raw, number);
      return;
    }
    at = (at + 1) & (buckets_.size() - 1);
  }
  stored.first = place_for(defined_frames_);
  stacks_.push_back(stored);
  hashes_.push_back(hash);
  const StackNumber number(static_cast<std::uint32_t>(stacks_.size()));
  buckets_[at] = number;
  by_raw_.insert(raw, number);
}

FrameNumber StackTable::number_of(std::uint64_t frame) {
  if ((distinct_.size() + 1) * 4 > frame_buckets_.size() * 3) grow_frames();
  std::size_t at = mix(seed() ^ frame) & (frame_buckets_.size() - 1);
  while (frame_buckets_[at]) {
    if (this->frame(frame_buckets_[at]) == frame) return frame_buckets_[at];
    at = (at + 1) & (frame_buckets_.size() - 1);
  }
  distinct_.push_back(frame);
  return frame_buckets_[at] = FrameNumber(static_cast<std::uint32_t>(distinct_.size()));
}

// Copies the frames of a new stack to their place, and returns it.
std::uint64_t StackTable::place_for(std::span<const FrameNumber> frames) {
  static_assert(kBlock >= USC_MAX_FRAMES);
  if (frames.empty()) return 0;
  if (next_ % kBlock + frames.size() > kBlock) next_ += kBlock - next_ % kBlock;
  if (next_ / kBlock == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<FrameNumber[]>(kBlock));
  const std::uint64_t place = next_;
  std::ranges::copy(frames, &blocks_[place / kBlock][place % kBlock]);
  next_ += frames.size();
  return place;
}

void StackTable::forget_frames() {
  blocks_.clear();
  const auto give_back = [](auto& items) { std::remove_reference_t<decltype(items)>().swap(items); };
  give_back(hashes_);
  give_back(buckets_);
  give_back(distinct_);
  give_back(frame_buckets_);
}

void StackTable::grow_frames() {
  frame_buckets_.assign(frame_buckets_.empty() ? 64 : frame_buckets_.size() * 2, FrameNumber());
  for (std::uint32_t number = 1; number <= distinct_.size(); number++) {
    std::size_t at = mix(seed() ^ distinct_[number - 1]) & (frame_buckets_.size() - 1);
    while (frame_buckets_[at]) at = (at + 1) & (frame_buckets_.size() - 1);
    frame_buckets_[at] = FrameNumber(number);
  }
}

void StackTable::grow() {
  buckets_.assign(buckets_.empty() ? 64 : buckets_.size() * 2, StackNumber());
  for (std::uint32_t number = 1; number <= stacks_.size(); number++) {
    std::size_t at = hashes_[number - 1] & (buckets_.size() - 1);
    while (buckets_[at]) at = (at + 1) & (buckets_.size() - 1);
    buckets_[at] = StackNumber(number);
  }
}

}  // namespace uscope::store
