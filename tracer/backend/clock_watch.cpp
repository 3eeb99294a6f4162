// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/clock_watch.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLateTicks = 4;  // as in include/uscope/core/probes/time.h: a tick may be late

}  // namespace

std::vector<ClockWatch::Gap> ClockWatch::see_online(const std::vector<bool>& online, std::uint64_t now_ns) {
  std::vector<Gap> opened;
  for (std::uint32_t i = 0; i < cpus_.size(); i++) {
    Cpu& cpu = cpus_[i];
    const bool is_online = i < online.size() && online[i];
    if (is_online && !cpu.online) {
      // When it came is not known: no sooner than it was last seen to be away.
      if (begun_) opened.push_back({i, cpu.offline_ns, ticks_in(now_ns - cpu.offline_ns)});
      cpu = Cpu();
      cpu.heard_ns = now_ns;
    }
    if (!is_online) cpu.offline_ns = now_ns;
    cpu.online = is_online;
  }
  begun_ = true;
  return opened;
}

// Whether it has ticked since that was asked last.
bool ClockWatch::hears(Cpu& cpu, std::uint64_t ticked_ns, std::uint64_t now_ns) {
  if (ticked_ns == cpu.ticked_ns) return false;
  cpu.ticked_ns = ticked_ns;
  cpu.heard_ns = now_ns;
  cpu.silent = false;
  cpu.enabled_ns.reset();
  return true;
}

std::vector<ClockWatch::Gap> ClockWatch::see_lost(const Ticked& ticked, const Enabled& enabled, std::uint64_t now_ns) {
  std::vector<Gap> lost;
  for (std::uint32_t i = 0; i < cpus_.size(); i++) {
    Cpu& cpu = cpus_[i];
    if (!cpu.online || hears(cpu, ticked(i), now_ns)) continue;
    if (now_ns < cpu.heard_ns + std::max(kQuietNs, kLateTicks * period_ns_)) continue;
    if (cpu.enabled_ns && now_ns < cpu.asked_ns + kAskAgainNs) continue;
    const auto before = std::exchange(cpu.enabled_ns, enabled(i));
    cpu.asked_ns = now_ns;
    if (!cpu.enabled_ns || cpu.enabled_ns != before) continue;
    lost.push_back({i, cpu.heard_ns, ticks_in(now_ns - cpu.heard_ns)});
    cpu.heard_ns = now_ns;
    cpu.silent = false;
    cpu.enabled_ns.reset();
  }
  return lost;
}

std::vector<ClockWatch::Gap> ClockWatch::see_ticks(const Ticked& ticked, const Ran& ran, std::uint64_t now_ns) {
  std::vector<Gap> opened;
  std::vector<std::uint64_t> ran_ns;
  for (std::uint32_t i = 0; i < cpus_.size(); i++) {
    Cpu& cpu = cpus_[i];
    if (!cpu.online) continue;
    if (hears(cpu, ticked(i), now_ns)) continue;
    if (now_ns - cpu.heard_ns < std::max(kSilentNs, kLateTicks * period_ns_)) continue;
    if (ran_ns.empty()) ran_ns = ran();
    if (i >= ran_ns.size()) continue;
    if (!cpu.silent) {
      cpu.silent = true;
      cpu.ran_ns = ran_ns[i];
      continue;
    }
    const std::uint64_t has_run = ran_ns[i] - std::min(ran_ns[i], cpu.ran_ns);
    if (has_run < kLateTicks * period_ns_) continue;
    // For how long it ran before that was looked at is not known: as if it had run all the time since the last tick.
    opened.push_back({i, cpu.heard_ns, ticks_in(now_ns - cpu.heard_ns)});
    cpu.heard_ns = now_ns;
    cpu.silent = false;
  }
  return opened;
}

std::vector<bool> cpus_of(const std::string& list, std::uint32_t cpus) {
  std::vector<bool> out(cpus);
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    std::uint32_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) break;
    std::uint32_t last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
    for (std::uint32_t cpu = first; cpu <= last && cpu < cpus; cpu++) out[cpu] = true;
    at = parsed.ptr + 1;
  }
  return out;
}

std::vector<std::uint64_t> running_times(const std::string& stat, std::uint32_t cpus, std::uint64_t ticks_per_second) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::vector<std::uint64_t> out(cpus);
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    std::istringstream words(line.substr(3));
    std::uint32_t cpu = 0;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, device = 0, interrupts = 0, soft = 0;
    if (words >> cpu >> user >> nice >> system >> idle >> device >> interrupts >> soft && cpu < cpus)
      out[cpu] = (user + nice + system + interrupts + soft) * (kSecond / ticks_per_second);
  }
  return out;
}

}  // namespace uscope::tracer
