// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/time_offset.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/clock.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

// PROC_TIME_INIT_INO of linux/proc_ns.h: the host's own.
constexpr const char* kInitial = "time:[4026531834]";

}  // namespace

std::optional<std::int64_t> time_offset_of(std::uint32_t tid) {
  const std::string folder = fmt::format("/proc/{}", tid);
  if (access((folder + "/ns").c_str(), F_OK) == 0 && access("/proc/self/ns/time", F_OK) != 0) return 0;  // unsupported
  const std::string own = link_target(folder + "/ns/time");
  if (own == kInitial) return 0;
  if (own.empty() || own != link_target(folder + "/ns/time_for_children")) return std::nullopt;
  std::ifstream file(folder + "/timens_offsets");
  std::string clock;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  while (file >> clock >> seconds >> nanoseconds)
    if (clock == "monotonic" || clock == "1") return seconds * kSecondNs + nanoseconds;
  return std::nullopt;
}

}  // namespace uscope::tracer
