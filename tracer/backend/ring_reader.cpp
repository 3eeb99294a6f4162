// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/ring_reader.h"

namespace uscope::tracer {

std::size_t RingReader::drain(const RecordHandler& handle) {
  std::size_t count = 0;
  const std::uint64_t head = __atomic_load_n(&control_->head, __ATOMIC_ACQUIRE);
  while (!damaged_ && head != tail_) {
    const std::uint64_t ready = head - tail_;
    const auto& record = *reinterpret_cast<const usc_record*>(data_ + (tail_ & (bytes_ - 1)));
    if (ready < sizeof(usc_record) || ready > bytes_ || record.size < sizeof(usc_record) || record.size % 8 != 0 ||
        record.size > ready) {
      damaged_ = true;
      break;
    }
    handle(record);
    tail_ += record.size;
    __atomic_store_n(&control_->tail, tail_, __ATOMIC_RELEASE);
    count++;
  }
  return count;
}

}  // namespace uscope::tracer
