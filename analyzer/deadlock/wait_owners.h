// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds the thread of the trace for the tid in a lock. Locks hold inner tids, which mean nothing outside of their
// innermost pid namespace. A number that fits several threads is unclear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/deadlock/last_calls.h"

namespace uscope::analyzer {

struct FoundOwner {
  enum class State { kFound, kGone, kUnclear };
  State state = State::kUnclear;
  std::size_t thread = 0;               // index in LastCalls::threads
  std::optional<std::int64_t> old_tid;  // kGone: tid in the initial namespace, if known
};

class WaitOwners {
 public:
  // `calls` must outlive the object.
  explicit WaitOwners(const LastCalls& calls);

  // The owner of the lock that a thread waits for, given the inner tid in it. A joined thread has the same memory as
  // its waiter.
  [[nodiscard]] FoundOwner find(const LastCall& waiter, std::uint32_t inner_tid, bool joins) const;

  // Whether other processes, traced or not, share the process's memory. A child of vfork or clone keeps its parent's
  // thread structure, so a lock that it takes names the parent's thread.
  [[nodiscard]] bool shares_space(const LastCall& waiter) const;

 private:
  void find_sharers();
  [[nodiscard]] FoundOwner within(std::size_t process, std::uint32_t inner_tid) const;
  [[nodiscard]] FoundOwner across(const LastCall& waiter, std::uint32_t inner_tid) const;
  [[nodiscard]] bool same_namespace(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<ProcessRowId> inner_ancestors(std::size_t process) const;

  const LastCalls& calls_;
  using Threads = std::map<std::size_t, std::size_t>;                 // process → thread
  std::map<std::pair<std::size_t, std::int64_t>, Threads> by_space_;  // space, inner tid
  std::vector<bool> shares_;  // by process: others share its memory, and existed with it to the end
  std::multimap<std::int64_t, std::size_t> by_tid_;          // inner tid → thread
  std::unordered_map<ProcessRowId, std::size_t> processes_;  // id → index
};

}  // namespace uscope::analyzer
