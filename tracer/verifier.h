// The comparison behind --verify: the same copy of a stack, walked by libdwfl, frame by frame against what was
// recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbolizer/oracle.h"
#include "tracer/file_table.h"
#include "tracer/mapping_timeline.h"
#include "uscope/record.h"
#include "uscope/scope.h"

namespace uscope::tracer {

class Verifier {
 public:
  Verifier(const MappingTimeline& mappings, const FileTable& files, const usc_scope& scope);

  // Every stack definition passes here, since samples refer to them; the newest kStacks are kept.
  void remember(const usc_stack& stack);

  // The comparison's outcome without its head, nothing where the sample cannot be checked (its stack is no longer
  // kept).
  std::optional<usc_verify> check(const usc_sample& sample);

 private:
  static constexpr std::size_t kStacks = 200'000;

  struct Kept {
    std::vector<std::uint64_t> frames;
    std::uint8_t ended = 0;
  };

  bool load_modules(const usc_sample& sample);
  std::vector<std::uint64_t> scoped(const symbolizer::OracleWalk& walk, const usc_sample& sample, bool& whole) const;

  const MappingTimeline& mappings_;
  const FileTable& files_;
  const usc_scope scope_;
  symbolizer::Oracle oracle_;
  std::unordered_map<std::uint32_t, Kept> stacks_;
  std::deque<std::uint32_t> order_;
};

}  // namespace uscope::tracer
