// What was executable where, when: the executable mappings of every traced address space, as the kernel side told of
// them, so that a walk can be finished in user space as of the time of its call, also when the process has moved on or
// is gone.
//
// A forked address space is not copied: it begins with its parent's mappings as of the time of the fork. Records of
// several processors arrive in any order; only look-ups need all records up to their time.
//
// Every operation costs the logarithm of what the address space has, and memory is bounded by what is mapped and by
// what changed since the oldest time that a look-up may still ask for (settle()).
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
#include <utility>
#include <vector>

#include "support/persistent_map.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // file offset of start
  std::uint32_t file = 0;
};

class MappingTimeline {
 public:
  // Changes are kept for so long beyond what settle() is told: a record may be sent a little after its time.
  static constexpr std::uint64_t kGraceNs = 1'000'000'000;
  // Blocks (below) of changes that are kept. An address space with more, or with more than kFewBlocks while all of them
  // together have more than kMostBlocks, forgets its oldest ones early: then nothing is said of those times.
  static constexpr std::size_t kBlocksOfOne = std::size_t{1} << 17;
  static constexpr std::size_t kMostBlocks = std::size_t{1} << 20;
  static constexpr std::size_t kFewBlocks = 1024;
  // Forks one in the other within the time that is kept, up to which inherited mappings are looked for.
  static constexpr int kMostForebears = 128;

  MappingTimeline() = default;
  MappingTimeline(const MappingTimeline&) = delete;
  MappingTimeline& operator=(const MappingTimeline&) = delete;
  ~MappingTimeline();

  void add(const usc_map& record);
  void remove(const usc_unmap& record);
  // An address space begins as a copy of `parent`'s (0: empty) at `time`.
  void fork(std::uint32_t mm, std::uint32_t parent, std::uint64_t time);
  // No task uses the address space any more: forgotten as soon as no forked one refers to it.
  void forget(std::uint32_t mm);
  // No look-up asks for a time before this one any more.
  void settle(std::uint64_t time);

  // The mapping that held `address` at `time`.
  [[nodiscard]] std::optional<Mapping> find(std::uint32_t mm, std::uint64_t address, std::uint64_t time) const;
  // Where none is known for that time: the first one told of later. A mapping made while others were locked is told of
  // late.
  [[nodiscard]] std::optional<Mapping> find_told_later(std::uint32_t mm, std::uint64_t address,
                                                       std::uint64_t time) const;
  // All mappings at `time`, by address.
  [[nodiscard]] std::vector<Mapping> all(std::uint32_t mm, std::uint64_t time) const;
  // A number for the mappings at `time`: another one before and after each change of the address space's mappings, or
  // of those it was forked from, and another one once more has been told of them.
  [[nodiscard]] std::uint64_t version(std::uint32_t mm, std::uint64_t time) const;

  [[nodiscard]] std::size_t spaces() const { return spaces_.size(); }
  // Blocks of changes that are kept, and stretches of what was mapped before them: what memory grows with.
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  [[nodiscard]] static std::size_t stretches() { return Settled::nodes(); }

 private:
  struct When {
    std::uint64_t time = 0;
    std::uint64_t number = 0;  // in the order of arrival
    // NOLINTNEXTLINE(modernize-use-nullptr): it takes the 0 of the generated comparison for a pointer
    auto operator<=>(const When&) const = default;
  };
  // From its time on, its addresses have this mapping, or (gone) none.
  struct Change {
    Mapping mapping;
    bool gone = false;
  };
  // A change's addresses fall into blocks whose size is a power of two and which begin at multiples of their size, as
  // few as possible: so each address lies in 65 blocks at most that may have a change.
  struct Block {
    std::uint64_t start = 0;
    unsigned level = 0;  // 1 << level bytes
    // NOLINTNEXTLINE(modernize-use-nullptr): as above
    auto operator<=>(const Block&) const = default;
  };
  using Placed = std::pair<Block, When>;
  // What is left of a mapping after the last settled change.
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
    std::array<std::uint32_t, 65> levels{};  // blocks of each
    Settled settled;
    When settled_until;
    std::shared_ptr<Space> parent;  // until the fork is settled
    std::uint64_t forked_at = 0;
    std::multimap<std::uint64_t, std::weak_ptr<Space>> forks;  // by time, not settled yet
    std::uint64_t told = 0;
    bool queued = false;
  };
  using Found = std::pair<When, const Change*>;
  using Due = std::pair<std::uint64_t, std::shared_ptr<Space>>;

  const std::shared_ptr<Space>& space(std::uint32_t mm);
  [[nodiscard]] const Space* find_space(std::uint32_t mm) const;
  void change(std::uint32_t mm, const Mapping& mapping, std::uint64_t time, bool gone);
  void limit(Space& space);
  void queue(const std::shared_ptr<Space>& space, std::uint64_t time);
  void resolve(Space& space);
  void settle(Space& space, std::uint64_t time);
  static void apply(Settled& settled, const Change& change);
  static Found latest(const Space& space, std::uint64_t address, std::uint64_t time);

  std::size_t blocks_ = 0;  // before the spaces, which count theirs off
  std::unordered_map<std::uint32_t, std::shared_ptr<Space>> spaces_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;  // by the time of what is to be settled first
  std::uint64_t number_ = 0;
};

}  // namespace uscope::tracer
