// Who woke a futex while the trace ran, by the index of events by call and first argument, or, where processes share
// the futex, by the table of such wakes.
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
  // Row ids of those that have the waiter's memory, itself among them.
  using Processes = std::vector<std::int64_t>;

  static Result<WakeHistory> open(const store::Database& database);

  // Row ids of the threads, without the waiter itself, that woke what it waits for: at any time. A condition variable
  // of glibc has two futexes that threads wait at in turn.
  Result<std::vector<std::int64_t>> wakers(const LastCall& waiter, const Processes& processes, const Classified& what);

  // Whether a wake that found somebody came after the wait began.
  Result<bool> woken_since(const LastCall& waiter, const Processes& processes);

 private:
  struct Wake {
    std::int64_t thread_id = 0;
    std::int64_t last_ns = 0;  // of those that found somebody; 0: none did
  };
  using Wakes = std::vector<Wake>;

  WakeHistory(store::Statement wakes, std::vector<std::int64_t> kinds)
      : wakes_(std::move(wakes)), kinds_(std::move(kinds)) {}
  Result<Wakes> at(const FutexWait& wait, std::uint64_t address, const Processes& processes);
  Result<Wakes> in_process(std::uint64_t address, std::int64_t process);

  store::Statement wakes_;
  std::vector<std::int64_t> kinds_;
  std::map<std::string, Wakes> shared_;                            // by key
  std::map<std::pair<std::int64_t, std::uint64_t>, Wakes> known_;  // by process and address
};

}  // namespace uscope::analyzer
