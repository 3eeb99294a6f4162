// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Decides which sampling clocks have to be opened anew, and how many ticks are missing. The kernel takes a CPU's clock
// away for good when the CPU goes offline, and says nothing; and a clock that is there may have stopped. A clock ticks
// also while its CPU is idle, except on machines whose clocks rest then. So a clock that is silent counts as stopped
// only if its CPU has run meanwhile. One whose CPU was offline between two looks is known by its enabled time
// (PERF_FORMAT_TOTAL_TIME_ENABLED): that goes on as long as the kernel has the clock, whether it ticks or not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace uscope::tracer {

class ClockWatch {
 public:
  // A clock is silent if it has not ticked for so long, and for four periods.
  static constexpr std::uint64_t kSilentNs = 1'000'000'000;
  // A clock that has not ticked for so long, and for four periods, is asked for its enabled time, twice.
  static constexpr std::uint64_t kQuietNs = 50'000'000;
  static constexpr std::uint64_t kAskAgainNs = 1'000'000;

  struct Gap {
    std::uint32_t cpu = 0;
    std::uint64_t from_ns = 0;
    std::uint64_t ticks = 0;  // that are missing, at most
  };
  // What is known of the CPUs when it is asked for: nanoseconds of CLOCK_MONOTONIC at which each one's clock ticked
  // last (0: never), and for how long each has run so far, by the kernel's account.
  using Ticked = std::function<std::uint64_t(std::uint32_t cpu)>;
  using Ran = std::function<std::vector<std::uint64_t>()>;
  using Enabled = std::function<std::optional<std::uint64_t>(std::uint32_t cpu)>;  // nothing: it cannot be asked

  ClockWatch(std::uint32_t cpus, std::uint64_t period_ns) : period_ns_(period_ns), cpus_(cpus) {}

  // The CPUs that are online now. Returns those whose clocks are to be opened: they were offline before.
  [[nodiscard]] std::vector<Gap> see_online(const std::vector<bool>& online, std::uint64_t now_ns);
  // Returns those whose clocks the kernel has taken away, of CPUs that are online. To be called often.
  [[nodiscard]] std::vector<Gap> see_lost(const Ticked& ticked, const Enabled& enabled, std::uint64_t now_ns);
  // To be called about each second. Returns those whose clocks are to be opened anew.
  [[nodiscard]] std::vector<Gap> see_ticks(const Ticked& ticked, const Ran& ran, std::uint64_t now_ns);
  [[nodiscard]] bool is_online(std::uint32_t cpu) const { return cpus_[cpu].online; }

 private:
  struct Cpu {
    bool online = false;
    bool silent = false;
    std::uint64_t offline_ns = 0;  // when it was seen offline last
    std::uint64_t ticked_ns = 0;
    std::uint64_t heard_ns = 0;               // when the last tick was heard of, or the clock was opened
    std::uint64_t ran_ns = 0;                 // of a silent one: when that was seen first
    std::optional<std::uint64_t> enabled_ns;  // of a quiet one: its enabled time, and when that was asked for
    std::uint64_t asked_ns = 0;
  };
  static bool hears(Cpu& cpu, std::uint64_t ticked_ns, std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t ticks_in(std::uint64_t ns) const { return ns < period_ns_ ? 1 : ns / period_ns_; }

  std::uint64_t period_ns_;
  std::vector<Cpu> cpus_;
  bool begun_ = false;
};

// A list of the kernel's: "0-3,8". Numbers beyond `cpus` are left out.
[[nodiscard]] std::vector<bool> cpus_of(const std::string& list, std::uint32_t cpus);

// For how long each CPU has run, by /proc/stat: neither idle nor waiting for a device, nor taken by a hypervisor.
[[nodiscard]] std::vector<std::uint64_t> running_times(const std::string& stat, std::uint32_t cpus,
                                                       std::uint64_t ticks_per_second);

}  // namespace uscope::tracer
