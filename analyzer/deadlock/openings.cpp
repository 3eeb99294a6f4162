// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/openings.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kMostSteps = 64;

// The statements that find steps have the same first five columns.

// The last call of process ?1 until ?3 that gave descriptor ?2. ?4: its number as hexadecimal digits of four bytes, as
// pipe and socketpair write it.
constexpr const char* kOpeners =
    "SELECT ts_ns, kind.name, pid, tid, stack_id, a0 FROM event JOIN kind ON kind.id = kind_id "
    "JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id "
    "WHERE process_id = ?1 AND ts_ns <= ?3 AND how = 'returned' AND kind.class = 'syscall' AND ("
    "(result = ?2 AND (kind.name IN ('open', 'openat', 'openat2', 'creat', 'socket', 'accept', 'accept4', 'dup', "
    "'dup2', 'dup3', 'eventfd', 'eventfd2', 'epoll_create', 'epoll_create1', 'signalfd', 'signalfd4', "
    "'timerfd_create', 'inotify_init', 'inotify_init1', 'memfd_create', 'pidfd_open', 'pidfd_getfd', 'mq_open', "
    "'userfaultfd', 'fanotify_init', 'perf_event_open', 'open_by_handle_at') OR "
    "(kind.name = 'fcntl' AND a1 IN (0, 1030)))) OR "
    "(result = 0 AND kind.name IN ('pipe', 'pipe2', 'socketpair') AND EXISTS (SELECT 1 FROM event_content "
    "JOIN content ON content.id = content_id WHERE event_id = event.id AND length(value) = 8 AND "
    "?4 IN (hex(substr(value, 1, 4)), hex(substr(value, 5, 4)))))) ORDER BY ts_ns DESC LIMIT 1";

// Whether process ?1 closed descriptor ?2 between ?3 and ?4, or may have got another one in a message.
constexpr const char* kLosers =
    "SELECT EXISTS (SELECT 1 FROM event JOIN kind ON kind.id = kind_id JOIN thread ON thread.id = thread_id "
    "WHERE process_id = ?1 AND ts_ns > ?3 AND ts_ns <= ?4 AND kind.class = 'syscall' AND ("
    "(kind.name = 'close' AND a0 = ?2) OR kind.name IN ('recvmsg', 'recvmmsg') OR "
    "(kind.name = 'close_range' AND a0 <= ?2 AND (a1 >= ?2 OR a1 < 0))))";

// The call that made process ?1.
constexpr const char* kForks =
    "SELECT ts_ns, kind.name, parent.pid, tid, stack_id, parent.id, child.start_ns FROM process AS child "
    "JOIN process AS parent ON parent.id = child.parent_id JOIN thread ON thread.process_id = parent.id "
    "JOIN event ON event.thread_id = thread.id JOIN kind ON kind.id = kind_id WHERE child.id = ?1 AND "
    "kind.class = 'syscall' AND kind.name IN ('fork', 'vfork', 'clone', 'clone3') AND ts_ns <= child.start_ns AND "
    "(dur_ns IS NULL OR ts_ns + dur_ns >= child.start_ns) AND "
    "(result IS NULL OR result IN (child.pid, child.ns_pid)) ORDER BY ts_ns DESC LIMIT 1";

bool copies(const std::string& call) {
  return call.starts_with("dup") || call == "fcntl";
}

}  // namespace

Result<OpeningSearch> OpeningSearch::open(const store::Database& database) {
  auto stacks = StackLineReader::create(database);
  if (!stacks) return stacks.error();
  auto openers = database.prepare(kOpeners);
  if (!openers) return openers.error();
  auto losers = database.prepare(kLosers);
  if (!losers) return losers.error();
  auto forks = database.prepare(kForks);
  if (!forks) return forks.error();
  return OpeningSearch(std::move(*stacks), std::move(*openers), std::move(*losers), std::move(*forks));
}

Result<std::optional<OpeningStep>> OpeningSearch::read_step(store::Statement& bound,
                                                            const std::function<void(const SqlRow&)>& rest) {
  std::optional<OpeningStep> step;
  std::optional<StackRowId> stack;
  auto done = each(bound, [&](const SqlRow& row) {
    step.emplace();
    step->ts_ns = row.integer(0);
    step->call = text(row, 1);
    step->pid = row.integer(2);
    step->tid = row.integer(3);
    stack = maybe_id<StackRowId>(row, 4);
    rest(row);
  });
  if (!done) return done.error();
  if (!step) return step;
  auto lines = stacks_.lines(stack);
  if (!lines) return lines.error();
  step->stack = std::move(*lines);
  return step;
}

Result<std::optional<OpeningStep>> OpeningSearch::opener(const Place& place, std::optional<std::int64_t>* copied) {
  const std::string digits = fmt::format("{:08X}", __builtin_bswap32(static_cast<std::uint32_t>(place.fd)));
  openers_.bind(1, place.process);
  openers_.bind(2, place.fd);
  openers_.bind(3, place.until_ns);
  openers_.bind(4, std::string_view(digits));
  auto step = read_step(openers_, [&](const SqlRow& row) {
    if (copies(text(row, 1))) *copied = row.integer(5);
  });
  if (step && *step) (*step)->fd = place.fd;
  return step;
}

// `place` becomes that of the parent.
Result<std::optional<OpeningStep>> OpeningSearch::fork(Place& place) {
  forks_.bind(1, place.process);
  return read_step(forks_, [&](const SqlRow& row) {
    place.process = ProcessRowId(row.integer(5));
    place.until_ns = row.integer(6);
  });
}

Result<bool> OpeningSearch::lost_since(const Place& place, std::int64_t from_ns) {
  losers_.bind(1, place.process);
  losers_.bind(2, place.fd);
  losers_.bind(3, from_ns);
  losers_.bind(4, place.until_ns);
  bool lost = false;
  auto done = each(losers_, [&](const SqlRow& row) { lost = row.integer(0) != 0; });
  if (!done) return done.error();
  return lost;
}

Result<std::vector<OpeningStep>> OpeningSearch::steps_of(ProcessRowId process, std::int64_t fd) {
  Place place{process, fd, std::numeric_limits<std::int64_t>::max()};
  std::vector<OpeningStep> steps;
  while (steps.size() < kMostSteps) {
    std::optional<std::int64_t> copied;
    auto opened = opener(place, &copied);
    if (!opened) return opened.error();
    const auto lost = lost_since(place, *opened ? (*opened)->ts_ns : std::numeric_limits<std::int64_t>::min());
    if (!lost) return lost.error();
    if (*lost) return std::vector<OpeningStep>{};
    if (*opened) {
      place.until_ns = (*opened)->ts_ns - 1;  // dup2(3, 3) is found once
      steps.push_back(std::move(**opened));
      if (copied) {
        place.fd = *copied;
        continue;
      }
      std::reverse(steps.begin(), steps.end());
      return steps;
    }
    auto forked = fork(place);
    if (!forked) return forked.error();
    if (!*forked) break;
    steps.push_back(std::move(**forked));
  }
  return std::vector<OpeningStep>{};
}

}  // namespace uscope::analyzer
