// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that changed what descriptors and folders stand for, kept as their records: the trace of a part of the time (an
// interval, a window) gets those that ended before it, as calls that are only followed. So the loader names the objects
// of a part's calls as it does those of a whole recording.
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

#include "live/window/kept_record.h"
#include "live/window/window_trace.h"
#include "support/result.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::live {

// A call, and the records of what its arguments pointed to.
struct DescriptorChange {
  trace::Event event;
  std::vector<KeptRecord> strings;
};

class KeptDescriptors {
 public:
  static constexpr std::size_t kMost = 50'000;  // each costs some µs in every interval

  explicit KeptDescriptors(std::size_t most = kMost) : most_(most) {}

  // Whether a call changes something, and is to be kept.
  [[nodiscard]] static bool is_change(const usc_event& event);

  // What /proc said of descriptors, who uses io_uring, and what was lost: kept. Others are not taken.
  void take(const usc_record& record);

  // Changes that are over.
  void add(std::vector<DescriptorChange>&& changes);
  void add(DescriptorChange&& change);
  // What an argument of such a call pointed to, if that came behind the call. False: there is no such call.
  bool add_string(const usc_string& string);

  Result<void> write(WindowTrace& to) const;

  using ProcessOf = std::function<trace::ProcessId(trace::TaskId)>;
  // When each process had its descriptors copied to another one that is still known; kAlways: another one shares them.
  using Copies = std::multimap<trace::ProcessId, std::uint64_t>;
  static constexpr std::uint64_t kAlways = ~std::uint64_t{0};

  // Forgets what cannot matter any more, and all of processes that are not `needed`.
  void forget(const ProcessOf& process_of, const std::unordered_set<trace::ProcessId>& needed, const Copies& copies);

  // Whose calls are kept.
  [[nodiscard]] std::unordered_set<trace::TaskId> tasks() const;
  [[nodiscard]] std::size_t size() const { return changes_.size() + recent_.size(); }

 private:
  void merge();
  void drop_renames();
  void drop_closed(const ProcessOf& process_of, const Copies& copies);
  void drop(const std::vector<bool>& gone);

  std::size_t most_;
  std::vector<DescriptorChange> changes_;  // by entry
  std::vector<DescriptorChange> recent_;   // that came since merge()
  std::map<trace::ProcessId, std::vector<KeptRecord>> found_;
  std::map<trace::ProcessId, std::vector<KeptRecord>> rings_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KeptRecord> losses_;  // by cause and process: the last one
};

}  // namespace uscope::live
