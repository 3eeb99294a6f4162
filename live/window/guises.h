// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names and users that threads had, where a question reads USC_QUERY_GUISE: events then have the serial of a guise
// (struct usc_guise) in the place of their image's once their thread has got another name or user.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::live {

// So many names, and users, that a thread had before an interval are kept: a call that lasts began under one of them.
constexpr std::size_t kFormerNames = 16;

// With more guises than this, those that a question's rows do not need are forgotten within an interval, too.
constexpr std::size_t kMostGuises = 16'384;

// The rows of all intervals tell so many names and users of threads apart. Each thread has the same share of them;
// those beyond it have the name kNoName.
constexpr std::size_t kMostGuiseNames = 65'536;
constexpr std::string_view kNoName = "?";

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
  // Forgets guises that are not `in_use` and were replaced before this time, and all others of tasks that are not
  // known(TaskId) any more.
  void forget(std::uint64_t before_ns, const std::set<trace::ImageId>& in_use,
              const std::function<bool(trace::TaskId)>& known);
  // By serial, for each guise of a task that had this name and user in this image before: the first such one.
  [[nodiscard]] std::unordered_map<trace::ImageId, trace::ImageId> firsts() const;
  // Gives those beyond a task's share of kMostGuiseNames the name kNoName; by serial, for each of them the first such
  // one of this task, image and user.
  std::unordered_map<trace::ImageId, trace::ImageId> merge_beyond_shares();
  [[nodiscard]] std::size_t size() const { return guises_.size(); }
  // Whether there are more than kMostGuises, and twice as many as could not be forgotten the last time.
  [[nodiscard]] bool are_many() const { return guises_.size() > allowed_; }
  void allow_more() { allowed_ = std::max(kMostGuises, 2 * guises_.size()); }

 private:
  std::map<trace::ImageId, Guise> guises_;
  std::size_t allowed_ = kMostGuises;
};

}  // namespace uscope::live
