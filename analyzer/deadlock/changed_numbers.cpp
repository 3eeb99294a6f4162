// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Of each process whose threads wait for descriptors, the calls of its other threads since the first of these waits are
// read, by the index of events by thread and time.
#include "analyzer/deadlock/changed_numbers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

// Numbers from `first` to `last` stand for something else from some moment before `end_ns` on.
struct Closing {
  ThreadRowId by;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t end_ns = 0;
};

// A call that began shortly before the wait may have closed the number behind its beginning.
constexpr std::int64_t kSlackNs = 1'000'000'000;

Result<void> read_closings(store::Statement& query, ThreadRowId thread, std::int64_t since_ns,
                           std::vector<Closing>& out) {
  query.bind(1, thread);
  query.bind(2, since_ns - kSlackNs);
  return each(query, [&](const SqlRow& row) {
    const std::string_view name = row.text(0);
    const std::int64_t end_ns = row.integer(3) + row.maybe_integer(4).value_or(0);
    // Numbers are unsigned ints.
    const auto number = [&](int column) {
      return static_cast<std::int64_t>(static_cast<std::uint32_t>(row.integer(column)));
    };
    const bool is_range = name == "close_range";
    const std::int64_t first = number(name == "close" || is_range ? 1 : 2);
    out.push_back({thread, first, is_range ? number(2) : first, end_ns});
  });
}

}  // namespace

Result<void> find_changed_numbers(const store::Database& database, const LastCalls& calls, Look& look) {
  std::map<std::size_t, std::int64_t> since;  // by process: when the first of its waits for descriptors began
  std::map<std::size_t, std::vector<ThreadRowId>> threads;
  for (const LastCall& thread : calls.threads) {
    threads[thread.process].push_back(thread.thread_id);
    const auto seen = look.threads.find(thread.thread_id);
    if (seen == look.threads.end() || seen->second.descriptors.empty() || thread.call.empty() || thread.attached)
      continue;
    const auto [first, is_new] = since.emplace(thread.process, thread.since_ns);
    if (!is_new) first->second = std::min(first->second, thread.since_ns);
  }
  auto query = database.prepare(
      "SELECT kind.name, a0, a1, ts_ns, dur_ns FROM event CROSS JOIN kind ON kind.id = event.kind_id WHERE thread_id = "
      "?1 "
      "AND ts_ns >= ?2 AND kind.class = 'syscall' AND kind.name IN ('close', 'dup2', 'dup3', 'close_range')");
  if (!query) return query.error();
  std::map<std::size_t, std::vector<Closing>> closings;
  for (const auto& [process, since_ns] : since)
    for (const ThreadRowId thread : threads[process])
      if (threads[process].size() > 1)
        if (auto done = read_closings(*query, thread, since_ns, closings[process]); !done) return done;
  for (const LastCall& thread : calls.threads) {
    const auto seen = look.threads.find(thread.thread_id);
    const auto known = closings.find(thread.process);
    if (seen == look.threads.end() || known == closings.end() || thread.attached) continue;
    for (const LookedDescriptor& waited : seen->second.descriptors) {
      const std::int64_t fd = waited.via_fd.value_or(waited.fd);
      const auto changes = [&](const Closing& it) {
        return it.by != thread.thread_id && it.first <= fd && fd <= it.last && it.end_ns > thread.since_ns;
      };
      if (std::any_of(known->second.begin(), known->second.end(), changes))
        look.renumbered.emplace(thread.thread_id, fd);
    }
  }
  return {};
}

}  // namespace uscope::analyzer
