// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the contract headers ask of their includer, made of plain C++ containers: user memory in which each readable
// word is written down, and unwind tables. A read of anything else fails, so a test sees every access that it did not
// mean. The tables hold one spare row, index entry and rule behind each end, filled with poison and counted when
// touched, to make a read out of range visible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "uscope/row_search.h"
#include "uscope/unwind.h"

namespace uscope::include {

struct FakeMemory {
  std::map<std::uint64_t, std::uint64_t> words;
  // Where nothing is written down: whether a word is there, which is then written down.
  std::function<bool(std::uint64_t address, std::uint64_t& word)> unwritten;
  int reads = 0;
};

struct FakeTables {
  std::vector<usc_row> rows;
  std::vector<__u32> index;
  std::vector<usc_rule> rules;
  int row_reads = 0;
  int index_reads = 0;
  int outside = 0;  // numbers asked for that are not in the table
};

}  // namespace uscope::include

static inline int usc_read_u64(void* memory, __u64 address, __u64* value) {
  auto* fake = static_cast<uscope::include::FakeMemory*>(memory);
  fake->reads++;
  auto found = fake->words.find(address);
  if (found == fake->words.end()) {
    std::uint64_t word = 0;
    if (!fake->unwritten || !fake->unwritten(address, word)) return -14;
    found = fake->words.emplace(address, word).first;
  }
  *value = found->second;
  return 0;
}

static inline const struct usc_rule* usc_rule_at(void* tables, __u32 number) {
  auto* fake = static_cast<uscope::include::FakeTables*>(tables);
  if (number < fake->rules.size()) return &fake->rules[number];
  fake->outside++;
  return nullptr;
}

static inline const struct usc_row* usc_row_at(void* tables, __u32 number) {
  auto* fake = static_cast<uscope::include::FakeTables*>(tables);
  fake->row_reads++;
  if (number < fake->rows.size()) return &fake->rows[number];
  fake->outside++;
  return nullptr;
}

static inline const __u32* usc_index_at(void* tables, __u32 number) {
  auto* fake = static_cast<uscope::include::FakeTables*>(tables);
  fake->index_reads++;
  if (number < fake->index.size()) return &fake->index[number];
  fake->outside++;
  return nullptr;
}
