// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A hash map from 32-bit keys to 32-bit values that lies in one block of memory: the loader asks it several times for
// every event. Open addressing, linear probing, at most three quarters full; nothing is ever erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uscope::store {

class FlatMap {
 public:
  // 0 where the key is not there: values are ids, never 0.
  [[nodiscard]] std::uint32_t find(std::uint32_t key) const {
    if (slots_.empty()) return 0;
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask()) {
      if (slots_[at].value == 0) return 0;
      if (slots_[at].key == key) return slots_[at].value;
    }
  }

  // Keeps the value that is there, if there is one. Returns what the key has afterwards.
  std::uint32_t insert(std::uint32_t key, std::uint32_t value) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    std::size_t at = slot_of(key);
    while (slots_[at].value != 0 && slots_[at].key != key) at = (at + 1) & mask();
    if (slots_[at].value == 0) {
      slots_[at] = {key, value};
      count_++;
    }
    return slots_[at].value;
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t value = 0;
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t slot_of(std::uint32_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) & mask();
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    count_ = 0;
    for (const Slot& slot : old)
      if (slot.value != 0) insert(slot.key, slot.value);
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace uscope::store
