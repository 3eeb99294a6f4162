// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The executable mappings of every traced address space over time, as announced by the kernel side, so that a walk can
// be finished in user space as of the time of its call, even if the process has changed its mappings since or is gone.
//
// A forked address space is not copied: it starts with its parent's mappings as of the time of the fork. Records of
// several CPUs arrive in any order; only look-ups need all records up to their time.
//
// Every operation costs the logarithm of the size of the address space, and memory is bounded by what is mapped and by
// the changes since the oldest time that a look-up may still ask for (settle()).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/persistent_map.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // file offset of start
  trace::FileId file;
};

class MappingTimeline {
 public:
  // Changes are kept for this much longer than settle() says: a record may be sent a little after its time.
  static constexpr std::uint64_t kGraceNs = 1'000'000'000;
  // Limits on blocks (below) of changes. An address space with more, or with more than kFewBlocks while all together
  // have more than kMostBlocks, forgets its oldest ones early: then nothing is known of those times.
  static constexpr std::size_t kBlocksOfOne = std::size_t{1} << 17;
  static constexpr std::size_t kMostBlocks = std::size_t{1} << 18;
  static constexpr std::size_t kFewBlocks = 1024;
  // Nested forks within the time that is kept through which inherited mappings are searched.
  static constexpr int kMostForebears = 128;

  MappingTimeline() = default;
  MappingTimeline(const MappingTimeline&) = delete;
  MappingTimeline& operator=(const MappingTimeline&) = delete;
  ~MappingTimeline();

  void add(const usc_map& record);
  void remove(const usc_unmap& record);
  // An address space starts as a copy of `parent` (none: empty) at `time`.
  void fork(trace::MmId mm, trace::MmId parent, std::uint64_t time);
  // No task uses the address space any more: it is forgotten as soon as no forked one refers to it.
  void forget(trace::MmId mm);
  // No look-up will ask for a time before this one.
  void settle(std::uint64_t time);

  // The mapping that held `address` at `time`.
  [[nodiscard]] std::optional<Mapping> find(trace::MmId mm, std::uint64_t address, std::uint64_t time) const;
  // If no mapping is known for that time: the first one announced later. A mapping made while others were locked is
  // announced late.
  [[nodiscard]] std::optional<Mapping> find_announced_later(trace::MmId mm, std::uint64_t address,
                                                            std::uint64_t time) const;
  // All mappings at `time`, by address.
  [[nodiscard]] std::vector<Mapping> all(trace::MmId mm, std::uint64_t time) const;
  // The files that these address spaces have mapped, or had not long ago.
  [[nodiscard]] std::unordered_set<trace::FileId> files_of(const std::unordered_set<trace::MmId>& spaces) const;
  // A number for the mappings at `time`. It differs before and after each change of the mappings of the address space
  // or of those it was forked from, and changes when a further change is announced.
  [[nodiscard]] std::uint64_t version(trace::MmId mm, std::uint64_t time) const;

  [[nodiscard]] std::size_t spaces() const { return spaces_.size(); }
  // Memory grows with the blocks of changes that are kept, and the stretches of what was mapped before them.
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] static std::size_t stretches() { return Settled::nodes(); }

 private:
  struct When {
    std::uint64_t time = 0;
    std::uint64_t number = 0;  // order of arrival
    // NOLINTNEXTLINE(modernize-use-nullptr): it takes the 0 of the generated comparison for a pointer
    auto operator<=>(const When&) const = default;
  };
  // From its time on, its addresses have this mapping, or none (gone).
  struct Change {
    Mapping mapping;
    bool gone = false;
  };
  // A change's addresses are divided into as few blocks as possible whose sizes are powers of two and whose starts are
  // multiples of their size: so each address lies in at most 65 blocks that may have a change.
  struct Block {
    std::uint64_t start = 0;
    unsigned level = 0;  // 1 << level bytes
    // NOLINTNEXTLINE(modernize-use-nullptr): as above
    auto operator<=>(const Block&) const = default;
  };
  using Placed = std::pair<Block, When>;
  // The rest of a mapping after the last settled change.
  struct Stretch {
    std::uint64_t end = 0;
    Mapping mapping;
  };
  using Settled = PersistentMap<std::uint64_t, Stretch>;  // by start
  struct Space {
    explicit Space(std::size_t& counter) : all_blocks(counter) {}
    Space(const Space&) = delete;
    Space& operator=(const Space&) = delete;
    ~Space() { all_blocks -= blocks.size(); }

    std::size_t& all_blocks;
    std::map<When, Change> changes;  // not settled yet
    std::map<Placed, const Change*> blocks;
    std::array<std::uint32_t, 65> levels{};  // number of blocks of each level
    Settled settled;
    When settled_until;
    std::shared_ptr<Space> parent;  // until the fork is settled
    std::uint64_t forked_at = 0;
    std::multimap<std::uint64_t, std::weak_ptr<Space>> forks;  // by time, not settled yet
    std::uint64_t announced = 0;
    bool queued = false;
  };
  using Found = std::pair<When, const Change*>;
  using Due = std::pair<std::uint64_t, std::shared_ptr<Space>>;

  const std::shared_ptr<Space>& space(trace::MmId mm);
  [[nodiscard]] const Space* find_space(trace::MmId mm) const;
  void change(trace::MmId mm, const Mapping& mapping, std::uint64_t time, bool gone);
  void limit(Space& space);
  void queue(const std::shared_ptr<Space>& space, std::uint64_t time);
  void resolve(Space& space);
  void settle(Space& space, std::uint64_t time);
  static void apply(Settled& settled, const Change& change);
  static Found latest(const Space& space, std::uint64_t address, std::uint64_t time);

  std::size_t blocks_ = 0;  // declared before the spaces, which subtract theirs
  std::unordered_map<trace::MmId, std::shared_ptr<Space>> spaces_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // by the time of the first change to be settled
  std::uint64_t number_ = 0;
};

}  // namespace uscope::tracer
