// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A hash map for sums by a key, of which the loader adds to several for every event. Its entries lie one behind the
// other, in the order in which their keys first came: an entry takes no memory of its own, and what is written of them
// does not depend on hashes. Open addressing, linear probing, at most half full; nothing but all is ever erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace uscope::store {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class GatheringMap {
 public:
  struct Entry {
    Key key;
    Value value;
  };

  // The key's value, which is Value() at first. It stays where it is until the next key comes.
  Value& operator[](const Key& key) {
    if ((entries_.size() + 1) * 2 > slots_.size()) grow();
    const std::uint64_t hash = mixed(key);
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t at = slot_of(hash);
    for (; slots_[at].place != 0; at = (at + 1) & mask()) {
      Entry& entry = entries_[slots_[at].place - 1];
      if (slots_[at].tag == tag && entry.key == key) return entry.value;
    }
    entries_.push_back({key, Value()});
    slots_[at] = {tag, static_cast<std::uint32_t>(entries_.size())};
    return entries_.back().value;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

  // Keeps the memory.
  void clear() {
    entries_.clear();
    slots_.assign(slots_.size(), Slot());
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;    // a part of the hash that does not choose the slot
    std::uint32_t place = 0;  // in entries_, from 1; 0: free
  };

  [[nodiscard]] static std::uint64_t mixed(const Key& key) { return Hash()(key) * 0x9e3779b97f4a7c15ULL; }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> 32U) & mask(); }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, Slot());
    for (std::size_t i = 0; i < entries_.size(); i++) {
      const std::uint64_t hash = mixed(entries_[i].key);
      std::size_t at = slot_of(hash);
      while (slots_[at].place != 0) at = (at + 1) & mask();
      slots_[at] = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(i + 1)};
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
};

}  // namespace uscope::store
