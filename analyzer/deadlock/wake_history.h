// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which threads woke a futex while the trace ran. The source is the index of events by call and first argument or, for
// a futex that processes share, the table of such wakes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/primitive.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

class WakeHistory {
 public:
  // Row ids of the processes that share the waiter's memory, including its own.
  using Processes = std::vector<ProcessRowId>;

  static Result<WakeHistory> open(const store::Database& database);

  // Row ids of the threads, other than the waiter, that at any time woke the object that it waits for. A glibc
  // condition variable has two futexes, used in turn.
  Result<std::vector<ThreadRowId>> wakers(const LastCall& waiter, const Processes& processes, const Classified& what);

  // Whether a wake that found a waiter came after the wait began.
  Result<bool> woken_since(const LastCall& waiter, const Processes& processes);

 private:
  struct Wake {
    ThreadRowId thread_id;
    std::int64_t last_ns = 0;  // the last wake that found a waiter; 0: none did
  };
  using Wakes = std::vector<Wake>;

  WakeHistory(store::Statement wakes, std::vector<KindRowId> kinds)
      : wakes_(std::move(wakes)), kinds_(std::move(kinds)) {}
  Result<Wakes> at(const FutexWait& wait, std::uint64_t address, const Processes& processes);
  Result<Wakes> in_process(std::uint64_t address, ProcessRowId process);

  store::Statement wakes_;
  std::vector<KindRowId> kinds_;
  std::map<std::string, Wakes> shared_;                            // by key
  std::map<std::pair<ProcessRowId, std::uint64_t>, Wakes> known_;  // by process and address
};

}  // namespace uscope::analyzer
