// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/descriptor_limit.h"

#include <fmt/core.h>
#include <sys/resource.h>

namespace uscope::tracer {
namespace {

constexpr rlim_t kFewestDescriptors = 256;

}  // namespace

Result<void> raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max >= kFewestDescriptors) return {};
  return Error{fmt::format("only {} files may be open at once: too few to trace", limit.rlim_max),
               "raise the limit: ulimit -n 4096 (in a unit of systemd: LimitNOFILE=4096)"};
}

}  // namespace uscope::tracer
