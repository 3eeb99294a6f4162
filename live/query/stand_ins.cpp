// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/stand_ins.h"

namespace uscope::query {
namespace {

constexpr std::uint32_t kFirstStandIn = 0x80000000U;  // the kernel side's serials begin at 1

}  // namespace

void StandIns::give(usc_event& event) {
  const trace::TaskId task(event.head.task);
  const trace::ImageId guise(event.image);
  const auto [at, is_new] = serials_.try_emplace({task, guise}, 0U);
  if (is_new) {
    if (auto as_it_was = definitions_.task_as(task, guise)) {
      at->second = kFirstStandIn | static_cast<std::uint32_t>(tasks_.size());
      as_it_was->head.task = at->second;
      tasks_.push_back(*as_it_was);
    } else {
      at->second = event.head.task;
    }
  }
  event.head.task = at->second;
  event.image = definitions_.image_of(guise).value();
}

Result<void> StandIns::write(live::WindowTrace& to) const {
  for (const usc_task& task : tasks_)
    if (auto done = to.append(task.head); !done) return done;
  return {};
}

}  // namespace uscope::query
