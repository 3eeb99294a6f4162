// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/thread_counts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/text.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"

namespace uscope::live {

void ThreadCounts::add(const usc_event& event, const tracer::TaskInfo& task, bool error, std::uint64_t time_ns) {
  const trace::TaskId serial(event.head.task);
  // A task's start or exec may have come in the meantime.
  if (last_counts_ == nullptr || serial != last_ || last_counts_->pid != task.pid || last_counts_->name != task.name) {
    last_counts_ = &counts_of(serial, task);
    last_ = serial;
  }
  last_counts_->calls++;
  last_counts_->errors += error ? 1 : 0;
  last_counts_->time_ns += time_ns;
  add_kind(last_counts_->kinds, event.abi, event.kind);
  last_counts_->last = {event.abi, event.kind, 1};
  last_counts_->stack = trace::StackId(event.stack);
}

ThreadCounts::Counts& ThreadCounts::counts_of(trace::TaskId serial, const tracer::TaskInfo& task) {
  auto found = threads_.find(serial);
  if (found == threads_.end()) {
    if (threads_.size() >= kMostThreads) return others_;
    found = threads_.try_emplace(serial).first;
  }
  std::vector<Counts>& names = found->second;
  // Without a name as long as its start has not come.
  const auto same = std::find_if(names.begin(), names.end(),
                                 [&](const Counts& one) { return one.name == task.name || one.name.empty(); });
  const bool is_new = same == names.end();
  if (is_new && names.size() < kMostNames) names.emplace_back();
  Counts& counts = is_new ? names.back() : *same;
  counts.pid = task.pid;
  counts.tid = task.tid;
  counts.name = task.name;
  return counts;
}

void ThreadCounts::start(const usc_task& task) {
  const auto found = threads_.find(trace::TaskId(task.head.task));
  if (found == threads_.end()) return;
  for (Counts& counts : found->second) {
    counts.pid = task.pid;
    counts.tid = task.tid;
    if (counts.name.empty()) counts.name.assign(task.name, strnlen(task.name, sizeof(task.name)));
  }
}

// Frequent kinds move to the front, where they are found first. In a full list the rarest kind gives way, and the new
// one inherits its number: what is more frequent than one in kMostKinds stays ("space saving").
void ThreadCounts::add_kind(std::vector<Kind>& kinds, std::uint32_t abi, std::uint32_t nr) {
  for (std::size_t i = 0; i < kinds.size(); i++) {
    if (kinds[i].nr != nr || kinds[i].abi != abi) continue;
    kinds[i].calls++;
    if (i > 0 && kinds[i].calls > kinds[i - 1].calls) std::swap(kinds[i], kinds[i - 1]);
    return;
  }
  if (kinds.size() < kMostKinds) {
    kinds.push_back({abi, nr, 1});
    return;
  }
  Kind& rarest =
      *std::min_element(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) { return a.calls < b.calls; });
  rarest = {abi, nr, rarest.calls + 1};
}

ThreadLine ThreadCounts::line(const Counts& counts) {
  ThreadLine line;
  line.pid = counts.pid;
  line.tid = counts.tid;
  line.name = trace_text(counts.name);
  line.calls = counts.calls;
  line.errors = counts.errors;
  line.time_ns = counts.time_ns;
  const auto most = std::max_element(counts.kinds.begin(), counts.kinds.end(),
                                     [](const Kind& a, const Kind& b) { return a.calls < b.calls; });
  if (most == counts.kinds.end()) return line;
  line.call = syscalls::syscall_name(static_cast<usc_abi>(most->abi), most->nr);
  line.abi = trace::abi_name(most->abi);
  line.last_call = syscalls::syscall_name(static_cast<usc_abi>(counts.last.abi), counts.last.nr);
  line.stack = counts.stack;
  return line;
}

std::vector<ThreadLine> ThreadCounts::lines() const {
  std::vector<ThreadLine> lines;
  lines.reserve(threads_.size() + 1);
  for (const auto& [serial, names] : threads_)
    for (const Counts& counts : names) lines.push_back(line(counts));
  if (others_.calls == 0) return lines;
  lines.push_back(line(others_));
  lines.back().others = true;
  return lines;
}

void ThreadCounts::take() {
  threads_.clear();
  others_ = {};
  last_counts_ = nullptr;
}

}  // namespace uscope::live
