// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Distinct stacks by content. The ids of a raw trace are many to one: each processor, and each walk finished in user
// space, gives a stack an id of its own. Memory grows with the number of distinct stacks and of raw ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/model/flat_map.h"

namespace uscope::store {

struct StoredStack {
  std::uint64_t first = 0;  // of its frames, in the table
  std::uint32_t mm = 0;     // where a frame has no file, else 0
  std::uint16_t depth = 0;
  std::uint8_t ended = 0;  // enum usc_ended
  // A step was made from code without unwind data, by a frame pointer that it may not keep: what called that code, and
  // frames towards the root, may be missing.
  bool guessed = false;
};

class StackTable {
 public:
  // Defines raw id `raw`; a second definition of the same id changes nothing. `mm`: 0, unless the walk met a frame
  // without a file, kept or not.
  void define(std::uint32_t raw, std::uint8_t ended, std::uint32_t mm, std::span<const std::uint64_t> frames);

  // The number of a raw id's stack, from 1; 0 = not defined.
  [[nodiscard]] std::uint32_t find(std::uint32_t raw) const { return by_raw_.find(raw); }

  [[nodiscard]] std::size_t size() const { return stacks_.size(); }
  [[nodiscard]] const StoredStack& stack(std::uint32_t number) const { return stacks_[number - 1]; }
  [[nodiscard]] std::span<const std::uint64_t> frames(std::uint32_t number) const {
    return std::span(frames_).subspan(stack(number).first, stack(number).depth);
  }

 private:
  [[nodiscard]] bool equal(const StoredStack& known, const StoredStack& other,
                           std::span<const std::uint64_t> frames) const;
  void grow();

  std::vector<StoredStack> stacks_;
  std::vector<std::uint32_t> hashes_;  // of stacks_, so that growing needs no frames
  std::vector<std::uint64_t> frames_;
  std::vector<std::uint32_t> buckets_;  // numbers by hash, 0 = free; linear probing
  FlatMap by_raw_;
};

}  // namespace uscope::store
