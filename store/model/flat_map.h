// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A hash map from ids to ids, both of 32 bits, that lies in one block of memory: the loader asks it several times for
// every event. Open addressing, linear probing, at most three quarters full; nothing is ever erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/ids.h"

namespace uscope::store {

template <typename Key, typename Value>
class FlatMap {
  static_assert(sizeof(Key) == sizeof(std::uint32_t) && sizeof(Value) == sizeof(std::uint32_t));

 public:
  // Returns Value() if the key is not there; no value is that.
  [[nodiscard]] Value find(Key key) const {
    if (slots_.empty()) return Value();
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask()) {
      if (slots_[at].value == Value()) return Value();
      if (slots_[at].key == key) return slots_[at].value;
    }
  }

  // Keeps the value that is there, if there is one. Returns what the key has afterwards.
  Value insert(Key key, Value value) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    std::size_t at = slot_of(key);
    while (slots_[at].value != Value() && slots_[at].key != key) at = (at + 1) & mask();
    if (slots_[at].value == Value()) {
      slots_[at] = {key, value};
      count_++;
    }
    return slots_[at].value;
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Slot {
    Key key{};
    Value value{};
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t slot_of(Key key) const {
    return static_cast<std::size_t>((trace::number_of(key) * 0x9e3779b97f4a7c15ULL) >> 32) & mask();
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : slots_.size() * 2));
    count_ = 0;
    for (const Slot& slot : old)
      if (slot.value != Value()) insert(slot.key, slot.value);
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace uscope::store
