// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The stacks of all runs, of both sides, as one tree: what a differential flame graph draws. Below the root are
// programs, then functions from the root of the stack to its innermost one, then the call. Functions are the same
// across runs as identity.h has it.
//
// Limit: kMostNodes nodes are kept, those with the largest share of a side's events or time. What is left out stays in
// the numbers of the nodes below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/diff/identity.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

enum class RunSide : std::uint8_t { kNormal, kAbnormal };

struct MergedName {
  std::string text;    // a function, a program, a call, "[no stack]", "[broken:no_rows]"
  std::string module;  // of a function: base name; else empty
};

// What went through a node; by side, of all its runs together.
struct MergedNode {
  std::uint32_t parent = 0;  // index, lower than the node's own; the root's is 0
  std::uint32_t name = 0;    // index
  std::array<std::uint64_t, 2> events{};
  std::array<std::uint64_t, 2> ns{};  // inside system calls that returned
};

struct MergedStacks {
  std::vector<MergedName> names;
  std::vector<MergedNode> nodes;  // the root first: everything
  std::size_t left_out = 0;       // number of nodes
};

class StackMerger {
 public:
  static constexpr std::size_t kMostNodes = 12'000;

  StackMerger();
  Result<void> add(const store::Database& database, const ModuleNames& names, const OffsetTrust& trust, RunSide side);
  // The tree, with at most `most` nodes. The merger is empty afterwards.
  [[nodiscard]] MergedStacks finish(std::size_t most = kMostNodes);

 private:
  struct Group;
  std::uint32_t name(std::string_view text, std::string_view module = {});
  std::uint32_t child(std::uint32_t parent, std::uint32_t name);
  void count(std::uint32_t node, RunSide side, std::uint64_t events, std::uint64_t ns);

  MergedStacks tree_;
  std::unordered_map<std::string, std::uint32_t> names_;       // by text and module
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and name
};

}  // namespace uscope::analyzer
