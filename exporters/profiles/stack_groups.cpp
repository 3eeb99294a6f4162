// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events are grouped by image and stack (and thread, and kind) in SQL, so that each distinct stack is read once for
// each image it occurs in. Limit: groups whose levels have equal texts (two images of one name) stay separate; all
// formats' viewers add them.
#include "exporters/profiles/stack_groups.h"

#include <algorithm>

#include "analyzer/read/event_query.h"
#include "analyzer/read/query.h"

namespace uscope::exporters {
namespace {

using analyzer::Kind;
using analyzer::SqlRow;
using analyzer::text;

std::optional<TimeOf> time_of(const Kind& kind) {
  if (kind.is_call()) return TimeOf::kCalls;
  if (kind.is_sample()) return TimeOf::kRunning;
  if (kind.source == "offcpu") return TimeOf::kOffCpu;
  if (kind.source == "ufunction" || kind.source == "kfunction") return TimeOf::kFunctions;
  return std::nullopt;
}

// "e.kind_id IN (1,2)" for the kinds whose time is this one.
std::string is_timed(const analyzer::Catalog& catalog, TimeOf time) {
  std::string ids;
  for (const Kind& kind : catalog.kinds)
    if (time_of(kind) == time) ids += (ids.empty() ? "" : ",") + to_string(kind.id);
  return "e.kind_id IN (" + ids + ")";
}

// What an event's time is: of a sample, what it stands for, as far as that can be.
std::string time_of_event(const analyzer::Catalog& catalog) {
  return "iif(" + is_timed(catalog, TimeOf::kRunning) + ", min(max(e.a1, 0), 10000000000), max(e.dur_ns, 0))";
}

enum Column : int { kImage, kThread, kKind, kName, kStack, kEnded, kFolded, kEvents, kTimed, kTotal, kFirstTime };

// Of the thread when the event began. As analyzer::kThreadNameAt, without a row of thread.
constexpr const char* kNameThen =
    "coalesce((SELECT tn.name FROM thread_name tn WHERE tn.thread_id = e.thread_id AND tn.ts_ns <= e.ts_ns "
    "ORDER BY tn.ts_ns DESC LIMIT 1), (SELECT name FROM thread WHERE id = e.thread_id))";

// The columns of event by which groups differ, and the sums. Threads are of processes, so their pid needs no column of
// its own.
std::string inner_columns(const analyzer::Catalog& catalog, const Levels& levels) {
  const auto column = [](bool wanted, const std::string& name) { return wanted ? "e." + name : "0 AS " + name; };
  const std::string time = time_of_event(catalog);
  std::string columns = column(levels.process, "image_id") + ", " + column(levels.pid || levels.thread, "thread_id") +
                        ", " + column(levels.call, "kind_id") + ", " + (levels.thread ? kNameThen : "NULL") +
                        " AS name, e.stack_id AS stack_id, count(*) AS events, count(" + time +
                        ") AS timed, coalesce(sum(" + time + "), 0) AS total_ns";
  for (std::size_t i = 0; i < kTimes; i++)
    columns += ", coalesce(sum(iif(" + is_timed(catalog, static_cast<TimeOf>(i)) + ", " + time + ", 0)), 0) AS t" +
               std::to_string(i);
  return columns;
}

void read_group(const SqlRow& row, StackGroup& group) {
  group.image = analyzer::ImageRowId(row.integer(kImage));
  group.thread = analyzer::ThreadRowId(row.integer(kThread));
  group.kind = analyzer::KindRowId(row.integer(kKind));
  group.thread_name = text(row, kName);
  group.stack = analyzer::maybe_id<analyzer::StackRowId>(row, kStack);
  group.ended = text(row, kEnded);
  group.folded = text(row, kFolded);
  group.events = static_cast<std::uint64_t>(row.integer(kEvents));
  group.timed = static_cast<std::uint64_t>(row.integer(kTimed));
  group.total_ns = static_cast<std::uint64_t>(row.integer(kTotal));
  for (std::size_t i = 0; i < kTimes; i++)
    group.time_ns.at(i) = static_cast<std::uint64_t>(row.integer(kFirstTime + static_cast<int>(i)));
}

}  // namespace

std::string StackGroup::mark() const {
  if (!stack) return "[no stack]";
  if (ended.starts_with("broken:")) return "[" + ended + "]";
  return folded.empty() ? "[no frames]" : "";
}

void LevelNames::before(const StackGroup& group, const Levels& levels,
                        const std::function<void(const char*, const std::string&)>& use) const {
  constexpr const char* kUnknown = "[unknown]";
  if (levels.process) {
    const analyzer::Image* image = catalog_.images.find(group.image);
    use("process", image && !image->name.empty() ? image->name : kUnknown);
  }
  if (!levels.pid && !levels.thread) return;
  const analyzer::Thread* thread = catalog_.threads.find(group.thread);
  const analyzer::Process* process = thread ? catalog_.processes.find(thread->process_id) : nullptr;
  if (levels.pid) use("pid", process ? "pid " + std::to_string(process->pid) : kUnknown);
  if (levels.thread) use("thread", thread ? group.thread_name + "/" + std::to_string(thread->tid) : kUnknown);
}

std::string LevelNames::behind(const StackGroup& group, const Levels& levels) const {
  const Kind* kind = levels.call ? catalog_.kinds.find(group.kind) : nullptr;
  return kind ? kind->label() : "";
}

std::vector<TimeOf> times_of(const analyzer::Catalog& catalog) {
  std::array<bool, kTimes> found{};
  for (const Kind& kind : catalog.kinds)
    if (const auto time = time_of(kind)) found.at(static_cast<std::size_t>(*time)) = true;
  std::vector<TimeOf> times;
  for (std::size_t i = 0; i < kTimes; i++)
    if (found.at(i)) times.push_back(static_cast<TimeOf>(i));
  return times;
}

Result<void> for_each_group(const store::Database& database, const analyzer::Catalog& catalog,
                            const analyzer::EventFilter& filter, const Levels& levels,
                            const std::function<Result<void>(const StackGroup&)>& use) {
  auto query = analyzer::select_events(database, catalog, filter,
                                       "SELECT g.image_id, g.thread_id, g.kind_id, g.name, s.id, s.ended, s.folded, "
                                       "g.events, g.timed, g.total_ns, g.t0, g.t1, "
                                       "g.t2, g.t3 FROM (SELECT " +
                                           inner_columns(catalog, levels),
                                       "GROUP BY 1, 2, 3, 4, 5) g LEFT JOIN stack s ON s.id = g.stack_id");
  if (!query) return query.error();
  StackGroup group;
  while (true) {
    auto more = query->step();
    if (!more) return more.error();
    if (!*more) return {};
    read_group(*query, group);
    if (auto done = use(group); !done) return done;
  }
}

}  // namespace uscope::exporters
