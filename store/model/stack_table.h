// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Distinct stacks by content. The ids of a raw trace are many to one: each processor, and each walk finished in user
// space, gives a stack an id of its own. Memory grows with the number of distinct stacks and of raw ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/model/flat_map.h"
#include "trace/ids.h"

namespace uscope::store {

using StackNumber = trace::Id<struct StackNumberKind>;  // of a distinct stack in a StackTable, from 1

struct StoredStack {
  std::uint64_t first = 0;  // of its frames, in the table
  trace::MmId mm;           // where a frame has no file, else none
  std::uint16_t depth = 0;
  std::uint8_t ended = 0;  // enum usc_ended
  // A step was made from code without unwind data, by a frame pointer that it may not keep: what called that code, and
  // frames towards the root, may be missing.
  bool guessed = false;
};

class StackTable {
 public:
  // Defines raw id `raw`; a second definition of the same id changes nothing. `mm`: none, unless the walk met a
  // frame without a file, kept or not.
  void define(trace::StackId raw, std::uint8_t ended, trace::MmId mm, std::span<const std::uint64_t> frames);

  // The number of a raw id's stack; none if it is not defined.
  [[nodiscard]] StackNumber find(trace::StackId raw) const { return by_raw_.find(raw); }

  [[nodiscard]] std::size_t size() const { return stacks_.size(); }
  [[nodiscard]] const StoredStack& stack(StackNumber number) const { return stacks_[number.value() - 1]; }
  [[nodiscard]] std::span<const std::uint64_t> frames(StackNumber number) const {
    return std::span(frames_).subspan(stack(number).first, stack(number).depth);
  }

 private:
  [[nodiscard]] bool equal(const StoredStack& known, const StoredStack& other,
                           std::span<const std::uint64_t> frames) const;
  void grow();

  std::vector<StoredStack> stacks_;
  std::vector<std::uint32_t> hashes_;  // of stacks_, so that growing needs no frames
  std::vector<std::uint64_t> frames_;
  std::vector<StackNumber> buckets_;  // by hash, none = free; linear probing
  FlatMap<trace::StackId, StackNumber> by_raw_;
};

}  // namespace uscope::store
