// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/open_events.h"

#include <utility>

namespace uscope::live {

std::optional<trace::Event> OpenEvents::take_call(const trace::Event& record) {
  trace::OpenCall& call = tasks_[trace::TaskId(record.head.task)].call;
  if (!trace::is_unfinished(record.how)) return call.end(record);
  call.add(record);
  return std::nullopt;
}

bool OpenEvents::take_hit(const usc_hit& hit) {
  const std::tuple key(trace::TaskId(hit.head.task), std::uint64_t{hit.entry_ns}, std::uint8_t{hit.source});
  if (hit.how == USC_HOW_OPEN) {
    hits_.insert_or_assign(key, keep(hit.head));
    return false;
  }
  hits_.erase(key);
  return true;
}

void OpenEvents::keep_part(trace::TaskId task, std::uint64_t entry_ns, const usc_record& record) {
  tasks_[task].parts.push_back({entry_ns, keep(record)});
}

std::vector<KeptRecord> OpenEvents::take_parts(trace::TaskId task, std::uint64_t entry_ns) {
  std::vector<KeptRecord> taken;
  const auto at = tasks_.find(task);
  if (at == tasks_.end()) return taken;
  std::erase_if(at->second.parts, [&](Part& part) {
    if (part.entry_ns != entry_ns) return false;
    taken.push_back(std::move(part.record));
    return true;
  });
  return taken;
}

bool OpenEvents::is_over(trace::TaskId task, std::uint64_t entry_ns) const {
  const auto at = tasks_.find(task);
  return at != tasks_.end() && entry_ns <= at->second.call.done_ns();
}

Result<void> OpenEvents::each_call(const EachCall& use) const {
  for (const auto& [serial, task] : tasks_)
    if (task.call.event())
      if (auto done = use(*task.call.event()); !done) return done;
  return {};
}

Result<void> OpenEvents::each_hit(const EachHit& use) const {
  for (const auto& [key, record] : hits_)
    if (auto done = use(as<usc_hit>(record)); !done) return done;
  return {};
}

void OpenEvents::each_event(const std::function<void(const usc_event&)>& use) const {
  for (const auto& [serial, task] : tasks_)
    if (task.call.event()) use(*task.call.event());
  for (const auto& [key, record] : hits_) use(trace::event_of_hit(as<usc_hit>(record)));
}

Result<void> OpenEvents::write(WindowTrace& to) const {
  if (auto done = each_call([&to](const trace::Event& event) { return to.append(event.head); }); !done) return done;
  if (auto done = each_hit([&to](const usc_hit& hit) { return to.append(hit.head); }); !done) return done;
  for (const auto& [serial, task] : tasks_)
    for (const Part& part : task.parts)
      if (auto done = write_kept(to, part.record); !done) return done;
  return {};
}

void OpenEvents::forget_parts(std::uint64_t before_ns) {
  for (auto& [serial, task] : tasks_)
    std::erase_if(task.parts, [before_ns, done = task.call.done_ns()](const Part& part) {
      return part.entry_ns < done && head_of(part.record).time < before_ns;
    });
}

void OpenEvents::forget_tasks(const std::function<bool(trace::TaskId)>& is_known) {
  std::erase_if(tasks_, [&is_known](const auto& entry) {
    const auto& [serial, task] = entry;
    return !task.call.event() && !is_known(serial);
  });
}

void OpenEvents::clear() {
  tasks_.clear();
  hits_.clear();
}

}  // namespace uscope::live
