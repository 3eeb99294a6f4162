// From the tid in a lock to the thread of the trace that it means. Locks hold inner tids: those of the innermost pid
// namespace, which mean nothing outside of it. A number that several threads may have is unclear.
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
  std::size_t thread = 0;               // in LastCalls::threads
  std::optional<std::int64_t> old_tid;  // kGone: of the initial namespace, where known
};

class WaitOwners {
 public:
  // `calls` must outlive the object.
  explicit WaitOwners(const LastCalls& calls);

  // The owner of what a thread waits for, by the inner tid that stands there. Who is joined has the same memory.
  [[nodiscard]] FoundOwner find(const LastCall& waiter, std::uint32_t inner_tid, bool joins) const;

  // Whether other processes have the process's memory, too, traced or not. A child of vfork or clone goes on with its
  // parent's thread structure, so what it locks names its parent's thread.
  [[nodiscard]] bool shares_space(const LastCall& waiter) const;

 private:
  void find_sharers();
  [[nodiscard]] FoundOwner within(std::size_t process, std::uint32_t inner_tid) const;
  [[nodiscard]] FoundOwner across(const LastCall& waiter, std::uint32_t inner_tid) const;
  [[nodiscard]] bool same_namespace(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<std::int64_t> inner_ancestors(std::size_t process) const;

  const LastCalls& calls_;
  using Threads = std::map<std::size_t, std::size_t>;                 // process → thread
  std::map<std::pair<std::size_t, std::int64_t>, Threads> by_space_;  // space, inner tid
  std::vector<bool> shares_;  // by process: others have its memory, and were there to the end with it
  std::multimap<std::int64_t, std::size_t> by_tid_;          // inner tid → thread
  std::unordered_map<std::int64_t, std::size_t> processes_;  // id → index
};

}  // namespace uscope::analyzer
