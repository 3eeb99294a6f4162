// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/call_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace uscope::analyzer {
namespace {

std::string named(const Resource* found, std::int64_t fd) {
  if (fd == -1) return "a file without a number";  // LookedDescriptor::is_stale()
  if (!found || found->name.empty()) return fmt::format("{}", fd);
  const std::string object = found->object_name();
  return fmt::format("{}<{}{}>", fd, found->name, object == found->name ? "" : " of " + object);
}

std::string count_text(std::optional<std::int64_t> count, const char* one) {
  return count ? fmt::format(", {} {}{}", *count, one, *count == 1 ? "" : "s") : "";
}

// ", 2 parts, 65536 bytes"
std::string asked_text(const LookedDescriptor& waited) {
  return count_text(waited.parts, "part") + count_text(waited.bytes, "byte");
}

std::string opening_text(const std::string& call, const LookedDescriptor& opened, const Resource* found) {
  if (found && found->type == "file") return fmt::format("{}({})", call, found->name);
  const char* const how = opened.wants == "read" ? "O_RDONLY" : opened.wants == "write" ? "O_WRONLY" : "O_RDWR";
  return fmt::format("{}({}, {})", call, found ? found->name : std::string("?"), how);
}

std::string list_text(const LookedThread& looked, const FindDescriptor& descriptor) {
  constexpr std::size_t kShown = 4;
  const auto& waits = looked.descriptors;
  std::string list;
  if (!waits.empty() && waits[0].via_fd) list = named(descriptor(*waits[0].via_fd), *waits[0].via_fd) + ": ";
  for (std::size_t i = 0; i < waits.size(); i++) {
    if (i > 0) list += ", ";
    if (i == kShown && waits.size() > kShown + 1) return list + fmt::format("and {} more", waits.size() - i);
    list += named(descriptor(waits[i].fd), waits[i].fd);
    if (asks_many(looked.call)) list += " " + waits[i].wants;
  }
  return list;
}

}  // namespace

bool asks_many(std::string_view call) {
  constexpr std::array<std::string_view, 7> kCalls{"poll",       "ppoll",       "select",      "pselect6",
                                                   "epoll_wait", "epoll_pwait", "epoll_pwait2"};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

std::string call_text(const LastCall& thread, const LookedThread& looked, const FindDescriptor& descriptor) {
  const std::string& call = looked.call;
  const auto& waits = looked.descriptors;
  if (!waits.empty() && waits[0].is_opening()) return opening_text(call, waits[0], descriptor(waits[0].fd));
  const std::string first = waits.empty() ? "" : named(descriptor(waits[0].fd), waits[0].fd);
  if (call == "flock" && !waits.empty())
    return fmt::format("flock({}, {})", first, (looked.args[1] & 1) != 0 ? "LOCK_SH" : "LOCK_EX");
  if (call == "fcntl" && !waits.empty()) {
    constexpr std::uint64_t kOfd = 38;  // F_OFD_SETLKW
    return fmt::format("fcntl({}, {})", first, looked.args[1] == kOfd ? "F_OFD_SETLKW" : "F_SETLKW");
  }
  if (call == "wait4") return fmt::format("wait4({})", static_cast<std::int32_t>(looked.args[0]));
  if (call == "waitid") {
    static constexpr std::array<const char*, 4> kTypes{"P_ALL", "P_PID", "P_PGID", "P_PIDFD"};
    const std::uint64_t type = looked.args[0];
    return fmt::format("waitid({}, {})", type < kTypes.size() ? kTypes.at(type) : "?",
                       static_cast<std::int32_t>(looked.args[1]));
  }
  if (system_v_class(call)) return fmt::format("{}({})", call, static_cast<std::int32_t>(looked.args[0]));
  if (waits.empty() && !thread.object.name.empty()) return fmt::format("{}({})", call, thread.object.name);
  return fmt::format("{}({}{})", call, list_text(looked, descriptor), waits.empty() ? "" : asked_text(waits[0]));
}

}  // namespace uscope::analyzer
