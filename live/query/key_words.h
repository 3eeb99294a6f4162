// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Keys of partial rows as keys of hash maps, and with some of their words left out.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "query/plan/plan.h"
#include "uscope/query_rows.h"

namespace uscope::query {

struct KeyHash {
  std::size_t operator()(const usc_query_key& key) const { return usc_query_hash(&key); }
};

struct KeySame {
  bool operator()(const usc_query_key& a, const usc_query_key& b) const { return usc_query_same_key(&a, &b) != 0; }
};

template <typename Value>
using KeyMap = std::unordered_map<usc_query_key, Value, KeyHash, KeySame>;

// The key without the words that `leaves_out(KeyWord)` is true of: they are 0.
template <typename LeavesOut>
usc_query_key key_without(usc_query_key key, const std::vector<KeyWord>& words, const LeavesOut& leaves_out) {
  for (std::size_t i = 0; i < words.size(); i++) {
    if (!leaves_out(words[i])) continue;
    key.word[i] = 0;
    key.nulls &= ~(1U << i);
  }
  return key;
}

}  // namespace uscope::query
