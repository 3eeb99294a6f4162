// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The comparison behind --verify: the same copy of a stack, walked by libdwfl, frame by frame against what was
// recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/oracle/oracle.h"
#include "trace/ids.h"
#include "tracer/files/file_table.h"
#include "tracer/model/mapping_timeline.h"
#include "uscope/record.h"
#include "uscope/scope.h"

namespace uscope::tracer {

// One comparison in full: the copy, and both walks of it as frame words.
struct Compared {
  const usc_sample& sample;
  const std::vector<std::uint64_t>& uscope_frames;
  const std::vector<std::uint64_t>& oracle_frames;  // as far as libdwfl's frames are evidence
  std::uint8_t ended = 0;                           // our walk, as in usc_stack
  bool equal = false;
  const MappingTimeline& mappings;
  FileTable& files;
};

// Sees comparisons as they are made; nothing may be kept of what is handed in. For tests that keep stacks.
class CompareObserver {
 public:
  virtual ~CompareObserver() = default;
  virtual void on_compared(const Compared& compared) = 0;
};

class Verifier {
 public:
  // `observer`: null, or outlives this.
  Verifier(const MappingTimeline& mappings, FileTable& files, const usc_scope& scope,
           CompareObserver* observer = nullptr);

  // Every stack definition passes here, since samples refer to them; the newest kStacks are kept.
  void remember(const usc_stack& stack);

  // The comparison's outcome without its head, nothing where the sample cannot be checked (its stack is no longer
  // kept).
  std::optional<usc_verify> check(const usc_sample& sample);

 private:
  static constexpr std::size_t kStacks = 200'000;
  static constexpr std::uint64_t kContentBytes = std::uint64_t{256} << 20;

  struct Kept {
    std::vector<std::uint64_t> frames;
    std::uint8_t ended = 0;
  };

  bool load_modules(const usc_sample& sample);
  int content_of(trace::FileId serial, const File& file);
  std::vector<std::uint64_t> scoped(const symbolizer::OracleWalk& walk, const usc_sample& sample, bool& whole) const;

  const MappingTimeline& mappings_;
  FileTable& files_;
  const usc_scope scope_;
  CompareObserver* observer_;
  symbolizer::Oracle oracle_;
  std::unordered_map<trace::FileId, UniqueFd> contents_;  // in memory: libdwfl reads again and again
  std::uint64_t content_bytes_ = 0;
  std::unordered_map<trace::StackId, Kept> stacks_;
  std::deque<trace::StackId> order_;
};

}  // namespace uscope::tracer
