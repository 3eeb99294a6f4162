// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stacks as a tree from the thread's root to the innermost function, with what was counted at each: the input of flame
// graphs. Above each stack stands the process's name. Only the stacks with most events or time are told apart; of the
// others each call and function (cell) has one leaf, so that all sums are those of the trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/picture/time_line.h"
#include "analyzer/read/catalog.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// What a flame graph can show.
enum class StackWeight : std::uint8_t { kEvents, kCalls, kOnCpu, kOffCpu };
constexpr std::size_t kStackWeights = 4;
// Numbers of events, and nanoseconds: inside system calls, behind samples, off the CPU.
using StackSums = std::array<std::uint64_t, kStackWeights>;

struct StackNode {
  std::size_t parent = 0;  // index of the node above, smaller than its own; the first node is the root of all
  std::size_t name = 0;    // StackTree::names
};

struct StackLeaf {
  std::size_t node = 0;
  std::size_t cell = 0;      // Picture::cells
  std::uint64_t others = 0;  // 0: one stack; else the number of stacks that have no leaf of their own
  StackSums sums{};
};

struct StackTree {
  std::vector<std::string> names;
  std::vector<StackNode> nodes;
  std::vector<StackLeaf> leaves;
};

class StackSummer {
 public:
  void add(const PictureEvent& event, ImageRowId image, StackRowId stack);
  // `most`: leaves for each weight that are told apart. `functions`: the trigger's name, by cell.
  [[nodiscard]] Result<StackTree> finish(const store::Database& database, const Catalog& catalog,
                                         const std::vector<std::string>& functions, std::size_t most);

 private:
  struct Key {
    ImageRowId image;
    StackRowId stack;
    std::size_t cell = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  std::unordered_map<Key, StackSums, Hash> sums_;
};

}  // namespace uscope::analyzer
