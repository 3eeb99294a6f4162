// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/container.h"

#include <algorithm>
#include <cstddef>

namespace uscope::trace {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::string_view kDigits = "0123456789abcdef";

// Of one component: a run of exactly as many digits as an id has.
std::string_view id_in(std::string_view component) {
  std::size_t begin = 0;
  while ((begin = component.find_first_of(kDigits, begin)) != std::string_view::npos) {
    const std::size_t end = std::min(component.find_first_not_of(kDigits, begin), component.size());
    if (end - begin == kIdDigits) return component.substr(begin, kIdDigits);
    begin = end;
  }
  return {};
}

}  // namespace

std::string_view container_of(std::string_view cgroup_path) {
  while (!cgroup_path.empty()) {
    const std::size_t slash = cgroup_path.rfind('/');
    const std::string_view component = slash == std::string_view::npos ? cgroup_path : cgroup_path.substr(slash + 1);
    const std::string_view id = id_in(component);
    if (!id.empty() && component.find("conmon") == std::string_view::npos) return id;
    cgroup_path = slash == std::string_view::npos ? std::string_view() : cgroup_path.substr(0, slash);
  }
  return {};
}

}  // namespace uscope::trace
