// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/time/time_scope.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "analyzer/read/process_filter.h"
#include "support/glob.h"

namespace uscope::analyzer {
namespace {

template <typename Value>
bool allows(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

}  // namespace

TimeScope::TimeScope(const Catalog& catalog, const EventFilter& filter)
    : catalog_(catalog),
      filter_(filter),
      since_ns_(filter.since_ns ? difference(*filter.since_ns, difference(0, catalog.start_ns))
                                : std::numeric_limits<std::int64_t>::min()),
      until_ns_(filter.until_ns ? difference(*filter.until_ns, difference(0, catalog.start_ns))
                                : std::numeric_limits<std::int64_t>::max()) {}

bool TimeScope::is_all() const {
  return filter_.pids.empty() && filter_.tids.empty() && filter_.threads.empty() && filter_.processes.empty() &&
         !filter_.since_ns && !filter_.until_ns;
}

bool TimeScope::has(const Process& process) const {
  if (!allows(filter_.pids, process.pid)) return false;
  if (filter_.processes.empty()) return true;
  const Image* inherited = catalog_.inherited_image(process);
  if (inherited != nullptr && goes_by(*inherited, filter_.processes)) return true;
  return std::any_of(process.images.begin(), process.images.end(), [&](ImageRowId id) {
    const Image* image = catalog_.images.find(id);
    return image != nullptr && goes_by(*image, filter_.processes);
  });
}

bool TimeScope::has(const Thread& thread) const {
  if (!allows(filter_.tids, thread.tid)) return false;
  if (!filter_.pids.empty() || !filter_.processes.empty()) {
    const Process* process = catalog_.processes.find(thread.process_id);
    if (process == nullptr || !has(*process)) return false;
  }
  if (filter_.threads.empty()) return true;
  const auto fits = [&](const std::string& name) {
    return std::any_of(filter_.threads.begin(), filter_.threads.end(),
                       [&](const std::string& glob) { return glob_matches(glob, name); });
  };
  return fits(thread.name) ||
         std::any_of(thread.names.begin(), thread.names.end(), [&](const auto& named) { return fits(named.second); });
}

}  // namespace uscope::analyzer
