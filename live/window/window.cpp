// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/window.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/record_type.h"

namespace uscope::live {

void Window::take(const usc_record& record) {
  switch (record.type) {
    case USC_RECORD_EVENT:
      if (const auto event = open_.take_call(trace::Event(trace::record_as<usc_event>(record)))) end_call(*event);
      break;
    case USC_RECORD_HIT: {
      const auto& hit = trace::record_as<usc_hit>(record);
      if (open_.take_hit(hit)) open_.take_parts(trace::TaskId(hit.head.task), hit.entry_ns);
      break;
    }
    case USC_RECORD_STRING:
      take_part(trace::record_as<usc_string>(record).entry_ns, record);
      break;
    case USC_RECORD_FUTEX:
      take_part(trace::record_as<usc_futex>(record).entry_ns, record);
      break;
    case USC_RECORD_VERIFY:
      take_part(trace::record_as<usc_verify>(record).entry_ns, record);
      break;
    default:
      define(record);
  }
}

void Window::end_call(const trace::Event& event) {
  std::vector<KeptRecord> parts = open_.take_parts(trace::TaskId(event.head.task), event.entry_ns);
  if (!keeps_.descriptors || !KeptDescriptors::is_change(event)) return;
  std::erase_if(parts, [](const KeptRecord& part) { return head_of(part).type != USC_RECORD_STRING; });
  descriptors_.add({event, std::move(parts)});
}

// Of a call that is over already, it may say what became of a descriptor; else it may be of a function that lasts.
void Window::take_part(std::uint64_t entry_ns, const usc_record& record) {
  const trace::TaskId task(record.task);
  const bool is_late = keeps_.descriptors && record.type == USC_RECORD_STRING && open_.is_over(task, entry_ns);
  if (is_late && descriptors_.add_string(trace::record_as<usc_string>(record))) return;
  open_.keep_part(task, entry_ns, record);
}

void Window::define(const usc_record& record) {
  if (definitions_.take(record)) return;
  if (keeps_.looks && looks_.take(record)) return;
  if (keeps_.descriptors) descriptors_.take(record);
}

Result<void> Window::write(WindowTrace& to) const {
  if (auto done = definitions_.write(to); !done) return done;
  if (auto done = descriptors_.write(to); !done) return done;
  if (auto done = looks_.write(to); !done) return done;
  return open_.write(to);
}

void Window::forget(std::uint64_t before_ns, const std::set<trace::ImageId>& guises_in_use) {
  if (!keeps_.descriptors) {
    definitions_.forget_ended(before_ns, guises_in_use);
  } else {
    const auto process_of = [this](trace::TaskId task) { return definitions_.process_of(task); };
    std::unordered_set<trace::ProcessId> needed;
    for (const trace::TaskId task : definitions_.living(before_ns)) needed.insert(process_of(task));
    descriptors_.forget(process_of, needed, definitions_.descriptor_copies(KeptDescriptors::kAlways));
    definitions_.forget_ended(before_ns, guises_in_use, definitions_.living(before_ns, descriptors_.tasks()));
  }
  open_.forget_parts(before_ns);
  open_.forget_tasks([this](trace::TaskId task) { return definitions_.knows(task); });
}

}  // namespace uscope::live
