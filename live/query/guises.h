// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names and users that threads had, where a question reads USC_QUERY_GUISE: events then have the serial of a guise
// (struct usc_guise) in the place of their image's once their thread has got another name or user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/query/interval_trace.h"
#include "support/result.h"
#include "trace/hit.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::query {

// So many names, and users, that a thread had before an interval are kept: a call that lasts began under one of them.
constexpr std::size_t kFormerNames = 16;

class Guises {
 public:
  struct Guise {
    trace::TaskId task;
    trace::ImageId image;
    std::uint64_t time = 0;
    std::uint32_t uid = 0;
    std::string name;
  };

  void take(const usc_guise& record);
  // Null if the serial is an image's own.
  [[nodiscard]] const Guise* find(trace::ImageId serial) const;
  // The image that a task with this guise has; an image's own serial is that.
  [[nodiscard]] trace::ImageId image_of(trace::ImageId serial) const;
  // Forgets guises that are not `inherited` and were replaced before this time, and all others of tasks that are not
  // known(TaskId) any more.
  void forget(std::uint64_t before_ns, const std::set<trace::ImageId>& inherited,
              const std::function<bool(trace::TaskId)>& known);
  [[nodiscard]] std::size_t size() const { return guises_.size(); }

 private:
  std::map<trace::ImageId, Guise> guises_;
};

class KeptDefinitions;

// Tasks in a trace that stand for tasks under the name and user that they had once: one for each task and guise among
// its events.
class StandIns {
 public:
  // `definitions` must outlive this object.
  explicit StandIns(const KeptDefinitions& definitions) : definitions_(definitions) {}

  // Gives the event its image, and a task that has the name and user which its own had.
  void give(usc_event& event);
  // Defines the tasks that events were given.
  Result<void> write(IntervalTrace& to) const;

 private:
  const KeptDefinitions& definitions_;
  std::map<std::pair<trace::TaskId, trace::ImageId>, std::uint32_t> serials_;
  std::vector<usc_task> tasks_;
};

}  // namespace uscope::query
