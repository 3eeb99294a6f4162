// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reader's side of one of the kernel module's rings (include/uscope/device.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "uscope/device.h"

namespace uscope::tracer {

class RingReader {
 public:
  using RecordHandler = std::function<void(const usc_record&)>;

  // `data` is mapped twice, one behind the other; `bytes` is its size once.
  RingReader(usc_ring_control* control, const char* data, std::uint32_t bytes)
      : control_(control), data_(data), bytes_(bytes) {}

  // Hands over what was complete when it began, and gives its room back: a ring that is filled as fast as it is read
  // does not keep the reader. Damaged lengths end the ring: nothing behind one can be found.
  std::size_t drain(const RecordHandler& handle);
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  usc_ring_control* control_;
  const char* data_;
  std::uint32_t bytes_;
  std::uint64_t tail_ = 0;
  bool damaged_ = false;
};

}  // namespace uscope::tracer
