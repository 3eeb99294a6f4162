// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Distinct stacks by content. The ids of a raw trace are many to one: each processor, and each walk finished in user
// space, gives a stack an id of its own. Memory grows with the number of distinct stacks (25 to 51 bytes each, and four
// for each frame), of distinct frames (13 to 27) and of raw ids (11 to 21).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "store/model/flat_map.h"
#include "trace/ids.h"

namespace uscope::store {

using StackNumber = trace::Id<struct StackNumberKind>;  // of a distinct stack in a StackTable, from 1
using FrameNumber = trace::Id<struct FrameNumberKind>;  // of a distinct frame in a StackTable, from 1

struct StoredStack {
  std::uint64_t first = 0;  // place of its frames in the table
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
  // Innermost first. Until forget_frames().
  [[nodiscard]] std::span<const FrameNumber> frames(StackNumber number) const { return frames_of(stack(number)); }
  // A frame as usc_stack has it.
  [[nodiscard]] std::uint64_t frame(FrameNumber number) const { return distinct_[number.value() - 1]; }
  [[nodiscard]] std::size_t distinct_frames() const { return distinct_.size(); }

  // Gives back the memory of frames. From then on, nothing can be defined.
  void forget_frames();

 private:
  // Frames lie in blocks, so that growing copies none of them; those of one stack, in one block.
  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  using Block = std::unique_ptr<FrameNumber[]>;

  [[nodiscard]] std::span<const FrameNumber> frames_of(const StoredStack& stack) const {
    return {stack.depth == 0 ? nullptr : &blocks_[stack.first / kBlock][stack.first % kBlock], stack.depth};
  }
  FrameNumber number_of(std::uint64_t frame);
  std::uint64_t place_for(std::span<const FrameNumber> frames);
  void grow();
  void grow_frames();

  std::vector<StoredStack> stacks_;
  std::vector<std::uint32_t> hashes_;  // of stacks_, so that growing needs no frames
  std::vector<Block> blocks_;
  std::uint64_t next_ = 0;                   // place of the next stack's frames
  std::vector<StackNumber> buckets_;         // by hash, none = free; linear probing
  std::vector<std::uint64_t> distinct_;      // frames, by number - 1
  std::vector<FrameNumber> frame_buckets_;   // the same of frames
  std::vector<FrameNumber> defined_frames_;  // of define(): kept for its memory
  FlatMap<trace::StackId, StackNumber> by_raw_;
};

}  // namespace uscope::store
