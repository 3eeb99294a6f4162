// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/cpu_times.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRounded = 2;  // ticks by which a difference may be too large: each of two times is rounded

std::uint64_t tick_ns() {
  return kSecond / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
}

std::optional<ProcessCpuTime> cpu_time_of(std::uint32_t pid) {
  std::stringstream text;
  text << std::ifstream(fmt::format("/proc/{}/stat", pid)).rdbuf();
  return parse_cpu_time(text.str());
}

}  // namespace

std::optional<ProcessCpuTime> parse_cpu_time(const std::string& stat) {
  // The name may hold anything.
  const std::size_t name = stat.rfind(')');
  if (name == std::string::npos) return std::nullopt;
  std::istringstream words(stat.substr(name + 1));
  constexpr std::size_t kStarted = 22;  // as proc(5) counts
  constexpr std::size_t kState = 3;
  std::array<std::string, kStarted + 1> fields;
  for (std::size_t i = kState; i <= kStarted; i++)
    if (!(words >> fields[i])) return std::nullopt;
  const auto number = [&](std::size_t field) { return std::strtoull(fields[field].c_str(), nullptr, 10); };
  constexpr std::size_t kUser = 14;
  return ProcessCpuTime{number(kUser) + number(kUser + 1), number(kUser + 2) + number(kUser + 3), number(kStarted)};
}

void CpuTimes::begin(const std::set<std::uint32_t>& pids) {
  for (const std::uint32_t pid : pids)
    if (const auto time = cpu_time_of(pid)) before_[pid] = *time;
}

std::uint64_t CpuTimes::ran_ns() const {
  std::uint64_t ticks = 0;
  for (const auto& [pid, before] : before_) {
    const auto now = cpu_time_of(pid);
    if (now && now->started == before.started) ticks += now->ran - std::min(now->ran, before.ran + kRounded);
  }
  return ticks * tick_ns();
}

std::uint64_t CpuTimes::of_command(std::uint32_t pid) {
  const auto now = cpu_time_of(pid);
  return now ? (now->ran + now->ran_below) * tick_ns() : 0;
}

}  // namespace uscope::tracer
