// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/part.h"

#include <algorithm>
#include <limits>

#include "analyzer/read/process_filter.h"
#include "support/glob.h"

namespace uscope::analyzer {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

template <typename Value>
bool allows(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool fits(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, name); });
}

}  // namespace

bool was_named(const Thread& thread, const std::vector<std::string>& globs) {
  return fits(globs, thread.name) || std::any_of(thread.names.begin(), thread.names.end(),
                                                 [&](const auto& named) { return fits(globs, named.second); });
}

Part::Part(const Catalog& catalog, const EventFilter& filter)
    : catalog_(&catalog),
      filter_(filter),
      chooses_tasks_(!filter.pids.empty() || !filter.tids.empty() || !filter.threads.empty() ||
                     !filter.processes.empty()),
      since_ns_(filter.since_ns ? difference(*filter.since_ns, difference(0, catalog.start_ns)) : kFirst),
      until_ns_(filter.until_ns ? difference(*filter.until_ns, difference(0, catalog.start_ns)) : kLast),
      chosen_(catalog.threads.size()),
      spans_(catalog.threads.size()),
      process_threads_(catalog.processes.size()) {
  for (const Thread& thread : catalog.threads) {
    if (!chooses(thread)) continue;
    chosen_[catalog.threads.index_of(thread)] = true;
    const std::optional<std::int64_t> end = thread.end_ns ? thread.end_ns : thread.left_ns;
    std::vector<Span>& spans = spans_[catalog.threads.index_of(thread)];
    for (const auto& [from, last] : named_spans(thread)) {
      const Span span{std::max(from, since_ns_), std::min(last, until_ns_)};
      // A thread that is not there yet, or no more, has nothing in it.
      const std::int64_t lives = thread.start_ns && *thread.start_ns > catalog.start_ns ? *thread.start_ns : kFirst;
      if (span.first <= span.second && span.second >= lives && span.first <= end.value_or(kLast)) spans.push_back(span);
    }
    const Process* process = catalog.processes.find(thread.process_id);
    if (process != nullptr && !spans.empty()) process_threads_[catalog.processes.index_of(*process)]++;
  }
}

bool Part::has(const Thread& thread, std::int64_t ts_ns) const {
  const std::vector<Span>& spans = spans_of(thread);
  if (spans.empty()) return false;
  const auto after = std::upper_bound(spans.begin(), spans.end(), ts_ns,
                                      [](std::int64_t time, const Span& span) { return time < span.first; });
  return after != spans.begin() && ts_ns <= std::prev(after)->second;
}

bool Part::chooses(const Thread& thread, std::int64_t ts_ns) const {
  return chosen_[catalog_->threads.index_of(thread)] &&
         (filter_.threads.empty() || fits(filter_.threads, thread.name_at(ts_ns)));
}

// One of which no thread is known belongs to all that does not choose among tasks.
bool Part::has(const Process& process) const {
  return threads_of(process) != 0 || (process.threads == 0 && !chooses_tasks_);
}

std::int64_t Part::duration_ns() const {
  return std::max<std::int64_t>(
      0, difference(std::min(until_ns_, catalog_->end_ns), std::max(since_ns_, catalog_->start_ns)));
}

bool Part::chooses(const Process& process) const {
  if (!allows(filter_.pids, process.pid)) return false;
  if (filter_.processes.empty()) return true;
  const Image* inherited = catalog_->inherited_image(process);
  if (inherited != nullptr && goes_by(*inherited, filter_.processes)) return true;
  return std::any_of(process.images.begin(), process.images.end(), [&](ImageRowId id) {
    const Image* image = catalog_->images.find(id);
    return image != nullptr && goes_by(*image, filter_.processes);
  });
}

bool Part::chooses(const Thread& thread) const {
  if (!allows(filter_.tids, thread.tid)) return false;
  if (filter_.pids.empty() && filter_.processes.empty()) return true;
  const Process* process = catalog_->processes.find(thread.process_id);
  return process != nullptr && chooses(*process);
}

// When it had a name that is asked for, whether it lived then or not.
std::vector<Part::Span> Part::named_spans(const Thread& thread) const {
  if (filter_.threads.empty()) return {{kFirst, kLast}};
  std::vector<Span> spans;
  const auto add = [&](const std::string& name, std::int64_t from, std::int64_t last) {
    if (from > last || !fits(filter_.threads, name)) return;
    if (!spans.empty() && spans.back().second == from - 1)
      spans.back().second = last;
    else
      spans.emplace_back(from, last);
  };
  std::int64_t from = kFirst;
  const std::string* name = &thread.name_at(kFirst);
  for (const auto& [since, next] : thread.names) {
    if (since > kFirst) add(*name, from, since - 1);
    from = since;
    name = &next;
  }
  add(*name, from, kLast);
  return spans;
}

}  // namespace uscope::analyzer
