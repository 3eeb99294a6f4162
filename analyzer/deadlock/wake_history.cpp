// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/wake_history.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "analyzer/read/query.h"
#include "support/text.h"

namespace uscope::analyzer {
namespace {

// These are operations of futex(2): WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, UNLOCK_PI (which succeeds with 0),
// WAKE_BITSET. futex_wake(2) has no operation.
constexpr const char* kWakes =
    "SELECT thread_id, max(CASE WHEN result > 0 OR result = 0 AND a1 & 127 = 7 THEN ts_ns ELSE 0 END) FROM event CROSS "
    "JOIN thread "
    "ON thread.id = thread_id JOIN kind ON kind.id = kind_id "
    "WHERE kind_id = ?1 AND a0 = ?2 AND thread.process_id = ?3 "
    "AND (kind.name = 'futex_wake' OR (a1 & 127) IN (1, 3, 4, 5, 7, 10)) GROUP BY thread_id";

constexpr const char* kSharedWakes =
    "SELECT futex_wake.key, thread_id, max(CASE WHEN result > 0 THEN ts_ns ELSE 0 END) FROM futex_wake "
    "JOIN event ON event.id = event_id WHERE futex_wake.key IS NOT NULL GROUP BY futex_wake.key, thread_id";

// The key with its address moved: "file:8:12:0x128" and 4 give "file:8:12:0x12c". Empty if the key has no address.
std::string moved(const std::string& key, std::uint64_t by) {
  const std::size_t at = key.rfind(":0x");
  if (at == std::string::npos) return "";
  std::uint64_t offset = 0;
  const char* end = key.data() + key.size();
  const auto [stop, problem] = std::from_chars(key.data() + at + 3, end, offset, 16);
  if (problem != std::errc() || stop != end) return "";
  return key.substr(0, at + 1) + hex_number(offset + by);
}

}  // namespace

Result<WakeHistory> WakeHistory::open(const store::Database& database) {
  auto wakes = database.prepare(kWakes);
  if (!wakes) return wakes.error();
  std::vector<KindRowId> kinds;
  auto done = each_row(database, "SELECT id FROM kind WHERE class = 'syscall' AND name IN ('futex', 'futex_wake')",
                       [&](const SqlRow& row) { kinds.emplace_back(row.integer(0)); });
  if (!done) return done.error();
  WakeHistory history(std::move(*wakes), std::move(kinds));
  done = each_row(database, kSharedWakes, [&](const SqlRow& row) {
    history.shared_[text(row, 0)].push_back({ThreadRowId(row.integer(1)), row.integer(2)});
  });
  if (!done) return done.error();
  return history;
}

Result<WakeHistory::Wakes> WakeHistory::at(const FutexWait& wait, std::uint64_t address, const Processes& processes) {
  if (!wait.of_one_space()) {
    const auto found = shared_.find(moved(wait.key, address - wait.address));
    return found == shared_.end() ? Wakes{} : found->second;
  }
  Wakes all;
  for (const ProcessRowId process : processes) {
    auto wakes = in_process(address, process);
    if (!wakes) return wakes.error();
    all.insert(all.end(), wakes->begin(), wakes->end());
  }
  return all;
}

Result<WakeHistory::Wakes> WakeHistory::in_process(std::uint64_t address, ProcessRowId process) {
  const auto known = known_.find({process, address});
  if (known != known_.end()) return known->second;
  Wakes found;
  for (const KindRowId kind : kinds_) {
    wakes_.bind(1, kind);
    wakes_.bind(2, static_cast<std::int64_t>(address));
    wakes_.bind(3, process);
    auto done = each(wakes_, [&](const SqlRow& row) {
      found.push_back({ThreadRowId(row.integer(0)), row.integer(1)});
    });
    if (!done) return done.error();
  }
  return known_.emplace(std::pair(process, address), std::move(found)).first->second;
}

Result<std::vector<ThreadRowId>> WakeHistory::wakers(const LastCall& waiter, const Processes& processes,
                                                     const Classified& what) {
  constexpr std::uint64_t kPair = 4;  // both are in one aligned word of 64 bits
  std::vector<std::uint64_t> addresses{waiter.wait->address};
  if (what.primitive == Primitive::kConditionVariable || what.primitive == Primitive::kPark)
    addresses.push_back(waiter.wait->address ^ kPair);
  std::vector<ThreadRowId> threads;
  for (const std::uint64_t address : addresses) {
    auto wakes = at(*waiter.wait, address, processes);
    if (!wakes) return wakes.error();
    for (const Wake& wake : *wakes)
      if (wake.thread_id != waiter.thread_id) threads.push_back(wake.thread_id);
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

Result<bool> WakeHistory::woken_since(const LastCall& waiter, const Processes& processes) {
  auto wakes = at(*waiter.wait, waiter.wait->address, processes);
  if (!wakes) return wakes.error();
  return std::any_of(wakes->begin(), wakes->end(), [&](const Wake& wake) { return wake.last_ns >= waiter.since_ns; });
}

}  // namespace uscope::analyzer
