// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that changed what descriptors and folders stand for, kept from interval to interval as their records: each
// interval's trace gets those that ended before it, as calls that are only followed. So the loader names the objects of
// an interval's calls as it does those of a whole recording.
//
// Kept is what can matter still: not what processes without living descendants did, not a descriptor that was opened
// and closed again with nothing but its own calls in between, and of equal renames the last one. If there are too many
// all the same, the older half is forgotten: then objects that were opened before have no name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "live/query/interval_trace.h"
#include "support/result.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::query {

// A call, and the records of what its arguments pointed to.
struct DescriptorChange {
  trace::Event event;
  std::vector<std::vector<char>> strings;
};

// A record as it lies in memory.
[[nodiscard]] std::vector<char> bytes_of_record(const usc_record& record);

class KeptDescriptors {
 public:
  static constexpr std::size_t kMost = 50'000;  // each costs some µs in every interval

  explicit KeptDescriptors(std::size_t most = kMost) : most_(most) {}

  // Whether a call changes something, and is to be kept.
  [[nodiscard]] static bool is_change(const usc_event& event);

  // What /proc said of descriptors, who uses io_uring, and what was lost: kept. Others are not taken.
  void take(const usc_record& record);

  // The changes of an interval that is closed.
  void add(std::vector<DescriptorChange>&& changes);

  Result<void> write(IntervalTrace& to) const;

  using ProcessOf = std::function<trace::ProcessId(trace::TaskId)>;
  // When each process had its descriptors copied to another one that is still known; kAlways: another one shares them.
  using Copies = std::multimap<trace::ProcessId, std::uint64_t>;
  static constexpr std::uint64_t kAlways = ~std::uint64_t{0};

  // Forgets what cannot matter any more, and all of processes that are not `needed`.
  void forget(const ProcessOf& process_of, const std::unordered_set<trace::ProcessId>& needed, const Copies& copies);

  // Whose calls are kept.
  [[nodiscard]] std::unordered_set<trace::TaskId> tasks() const;
  [[nodiscard]] std::size_t size() const { return changes_.size(); }

 private:
  using Bytes = std::vector<char>;

  void drop_renames();
  void drop_closed(const ProcessOf& process_of, const Copies& copies);
  void drop(const std::vector<bool>& gone);

  std::size_t most_;
  std::vector<DescriptorChange> changes_;  // by entry
  std::map<trace::ProcessId, std::vector<Bytes>> found_;
  std::map<trace::ProcessId, std::vector<Bytes>> rings_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes> losses_;  // by cause and process: the last one
};

}  // namespace uscope::query
