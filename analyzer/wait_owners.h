// From the tid in a lock to the thread of the trace that it means. Locks hold inner tids: those of the innermost pid
// namespace, which mean nothing outside of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/last_calls.h"

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

  // The owner of what a thread waits for, by the inner tid that stands there. Who is joined is of the same process.
  [[nodiscard]] FoundOwner find(const LastCall& waiter, std::uint32_t inner_tid, bool joins) const;

 private:
  [[nodiscard]] FoundOwner within(const LastProcess& process, std::size_t index, std::uint32_t inner_tid) const;
  [[nodiscard]] FoundOwner across(const LastCall& waiter, std::uint32_t inner_tid) const;
  [[nodiscard]] bool same_namespace(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<std::int64_t> inner_ancestors(std::size_t process) const;

  const LastCalls& calls_;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> by_process_;  // process, inner tid → thread
  std::multimap<std::int64_t, std::size_t> by_tid_;                         // inner tid → thread
  std::unordered_map<std::int64_t, std::size_t> processes_;                 // id → index
};

}  // namespace uscope::analyzer
