// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/tasks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/summary/signals.h"

namespace uscope::analyzer {
namespace {

class TaskSummary {
 public:
  TaskSummary(const store::Database& database, const Catalog& catalog, const Part& part, const EventTotals& totals,
              const SummaryLimits& limits, Summary& summary)
      : database_(database), catalog_(catalog), part_(part), totals_(totals), limits_(limits), summary_(summary) {
    count_programs();
  }

  Result<void> processes();
  void threads();

 private:
  void count_programs();
  [[nodiscard]] std::map<ImageRowId, ProcessTotals> earlier_programs(const Process& process) const;
  [[nodiscard]] std::vector<std::int64_t> uids_of(const Process& process, ImageRowId program) const;
  [[nodiscard]] ProcessLine process_line(const Process& process) const;
  void add_earlier_lines(const Process& process, const ProcessLine& last, std::vector<ProcessLine>& lines) const;
  ThreadLine thread_before(const Thread& thread, const Process& process, const ProgramTotals& program,
                           ThreadLine& last) const;

  const store::Database& database_;
  const Catalog& catalog_;
  const Part& part_;
  const EventTotals& totals_;
  const SummaryLimits& limits_;
  Summary& summary_;
  std::map<ProcessRowId, std::map<ImageRowId, ProcessTotals>> programs_;
  std::map<ProcessRowId, std::vector<const Thread*>> threads_of_;
};

// The programs of the process in which events were made, but for the last one.
std::map<ImageRowId, ProcessTotals> TaskSummary::earlier_programs(const Process& process) const {
  const auto at = programs_.find(process.id);
  if (at == programs_.end()) return {};
  std::map<ImageRowId, ProcessTotals> earlier = at->second;
  const Image* last = catalog_.image_at(process, part_.until_ns());
  if (last) earlier.erase(last->id);
  earlier.erase(ImageRowId());
  return earlier;
}

void TaskSummary::count_programs() {
  for (const Thread& thread : catalog_.threads) threads_of_[thread.process_id].push_back(&thread);
  for (const ProgramTotals& program : totals_.programs) {
    const Thread* thread = catalog_.threads.find(program.thread);
    if (!thread) continue;
    ProcessTotals& counts = programs_[thread->process_id][program.image];
    counts.events += program.events;
    counts.errors += program.errors;
  }
}

// The users that threads of a process had while this was its program: one of its own, or that with which it began.
std::vector<std::int64_t> TaskSummary::uids_of(const Process& process, ImageRowId program) const {
  constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
  const auto time_of = [&](ImageRowId id) {
    const Image* image = catalog_.images.find(id);
    return image ? image->ts_ns.value_or(0) : 0;
  };
  const auto at = std::find(process.images.begin(), process.images.end(), program);
  const bool is_own = at != process.images.end();
  const auto next = is_own ? std::next(at) : process.images.begin();
  const std::int64_t from = is_own ? time_of(program) : 0;
  const std::int64_t until = next == process.images.end() ? kEver : time_of(*next);
  const auto threads = threads_of_.find(process.id);
  if (threads == threads_of_.end()) return {};
  std::map<std::int64_t, std::int64_t> since;  // by user
  for (const Thread* thread : threads->second)
    for (auto user = thread->users.begin(); user != thread->users.end(); ++user) {
      const auto after = std::next(user);
      const std::int64_t begin = std::max({user->first, from, thread->start_ns.value_or(0)});
      const std::int64_t end =
          std::min({after == thread->users.end() ? kEver : after->first, until, thread->end_ns.value_or(kEver)});
      if (begin >= end) continue;
      const auto known = since.try_emplace(user->second, begin).first;
      known->second = std::min(known->second, begin);
    }
  std::vector<std::int64_t> uids;
  uids.reserve(since.size());
  for (const auto& [uid, time] : since) uids.push_back(uid);
  std::stable_sort(uids.begin(), uids.end(), [&](auto a, auto b) { return since[a] < since[b]; });
  return uids;
}

ProcessLine TaskSummary::process_line(const Process& process) const {
  ProcessLine line;
  line.id = process.id;
  line.pid = process.pid;
  line.ns_pid = process.ns_pid;
  if (const Process* parent = catalog_.processes.find(process.parent_id)) line.parent_pid = parent->pid;
  if (const Image* image = catalog_.image_at(process, part_.until_ns())) {
    line.name = image->name;
    line.path = image->path;
    line.argv = image->argv;
  }
  line.start_ns = catalog_.since_start(process.start_ns);
  if (process.start_ns && process.end_ns) line.lifetime_ns = difference(*process.end_ns, *process.start_ns);
  line.exit_code = process.exit_code;
  line.exit_signal = process.exit_signal;
  line.stopped = process.stopped;
  line.threads = part_.threads_of(process);
  line.uses_io_uring = process.uses_io_uring;
  const ProcessTotals& totals = totals_.processes[catalog_.processes.index_of(process)];
  line.uids = uids_of(process, process.images.empty() ? ImageRowId() : process.images.back());
  line.events = totals.events;
  line.errors = totals.errors;
  for (const auto& [image, counts] : earlier_programs(process)) {
    line.events -= std::min(line.events, counts.events);
    line.errors -= std::min(line.errors, counts.errors);
  }
  return line;
}

// What a process did before it executed its last program counts for the programs that it was then.
void TaskSummary::add_earlier_lines(const Process& process, const ProcessLine& last,
                                    std::vector<ProcessLine>& lines) const {
  for (const auto& [id, counts] : earlier_programs(process)) {
    ProcessLine& line = lines.emplace_back(last);
    const Image* image = catalog_.images.find(id);
    line.name = image ? image->name : "";
    line.path = image ? image->path : "";
    line.argv = image ? image->argv : "";
    line.executed = last.name;
    line.uids = uids_of(process, id);
    line.events = counts.events;
    line.errors = counts.errors;
  }
}

Result<void> TaskSummary::processes() {
  auto senders = last_senders(database_);
  if (!senders) return senders.error();
  std::map<std::int64_t, std::size_t> of_pid;  // a pid that two processes had says nothing
  for (const Process& process : catalog_.processes) of_pid[process.pid]++;
  std::vector<ProcessLine> lines;
  for (const Process& process : catalog_.processes) {
    if (!part_.has(process)) continue;
    lines.push_back(process_line(process));
    const auto sender = senders->find({process.pid, process.exit_signal.value_or(0)});
    if (sender != senders->end() && sender->second.pid && of_pid[process.pid] == 1)
      lines.back().ended_by = sender->second;
    if (process.uses_io_uring) summary_.io_uring.push_back(lines.back());
    add_earlier_lines(process, ProcessLine(lines.back()), lines);
  }
  summary_.processes = top(std::move(lines), limits_.lines, [](const ProcessLine& a, const ProcessLine& b) {
    return std::tuple(b.events, a.id, a.executed.has_value()) < std::tuple(a.events, b.id, b.executed.has_value());
  });
  return {};
}

// The line of what a thread did in a program before the last one of its process; the last one's is reduced by it.
ThreadLine TaskSummary::thread_before(const Thread& thread, const Process& process, const ProgramTotals& program,
                                      ThreadLine& last) const {
  ThreadLine line = last;
  const Image* image = catalog_.images.find(program.image);
  line.process = image ? image->name : "";
  // Of the last moment before the next program: the first one that it executed, if this one was its parent's.
  const auto at = std::find(process.images.begin(), process.images.end(), program.image);
  const auto next = at == process.images.end() ? process.images.begin() : std::next(at);
  const Image* after = next == process.images.end() ? nullptr : catalog_.images.find(*next);
  if (after && after->ts_ns) line.thread = thread.name_at(*after->ts_ns - 1);
  line.events = program.events;
  line.errors = program.errors;
  line.total_ns = program.total_ns;
  line.wait_ns = program.wait_ns;
  line.between_ns = 0;
  const auto reduce = [](std::uint64_t& sum, std::uint64_t part) { sum -= std::min(sum, part); };
  reduce(last.events, program.events);
  reduce(last.errors, program.errors);
  reduce(last.total_ns, program.total_ns);
  reduce(last.wait_ns, program.wait_ns);
  return line;
}

void TaskSummary::threads() {
  std::vector<ThreadLine> lines;
  std::unordered_map<ThreadRowId, std::vector<const ProgramTotals*>> programs;
  for (const ProgramTotals& program : totals_.programs) programs[program.thread].push_back(&program);
  for (const Thread& thread : catalog_.threads) {
    if (!part_.has(thread)) continue;
    const ThreadTotals& totals = totals_.threads[catalog_.threads.index_of(thread)];
    ThreadLine line{.pid = 0,
                    .tid = thread.tid,
                    .process = "",
                    .thread = thread.name_at(part_.spans_of(thread).back().second),
                    .events = totals.events,
                    .errors = totals.errors,
                    .total_ns = totals.total_ns,
                    .wait_ns = totals.wait_ns,
                    .between_ns = totals.gap_ns};
    if (const Process* process = catalog_.processes.find(thread.process_id)) {
      line.pid = process->pid;
      const Image* last = catalog_.image_at(*process, part_.until_ns());
      if (last) line.process = last->name;
      for (const ProgramTotals* program : programs[thread.id])
        if (program->image && (!last || program->image != last->id))
          lines.push_back(thread_before(thread, *process, *program, line));
    }
    lines.push_back(std::move(line));
  }
  summary_.threads = top(std::move(lines), limits_.lines, [](const ThreadLine& a, const ThreadLine& b) {
    return std::tie(b.events, b.total_ns, a.tid) < std::tie(a.events, a.total_ns, b.tid);
  });
}

}  // namespace

Result<void> add_processes_and_threads(const store::Database& database, const Catalog& catalog, const Part& part,
                                       const EventTotals& totals, const SummaryLimits& limits, Summary& summary) {
  TaskSummary tasks(database, catalog, part, totals, limits, summary);
  tasks.threads();
  return tasks.processes();
}

}  // namespace uscope::analyzer
