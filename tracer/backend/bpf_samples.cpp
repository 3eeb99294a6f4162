// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_samples.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kTicksEveryNs = 1'000'000'000;  // how often it is asked whether each clock ticks
constexpr std::uint64_t kLostEveryNs = 20'000'000;      // how often, whether the kernel has taken it away
constexpr const char* kOnline = "/sys/devices/system/cpu/online";

// Nothing: it could not be read.
std::vector<bool> read_online(int fd, std::uint32_t cpus) {
  std::array<char, 4096> text{};
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  return got > 0 ? cpus_of(std::string(text.data(), static_cast<std::size_t>(got)), cpus) : std::vector<bool>();
}

std::vector<std::uint64_t> read_running_times(std::uint32_t cpus) {
  std::stringstream text;
  text << std::ifstream("/proc/stat").rdbuf();
  return running_times(text.str(), cpus, static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
}

}  // namespace

std::uint64_t sample_period_ns(std::uint32_t hz) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  // A little longer than asked for: a clock that keeps step with the scheduler's, whose ticks are some ms apart too,
  // would meet threads that give way at these always, or never, before they do.
  constexpr std::uint64_t kOutOfStep = 73;
  return hz == 0 ? 0 : kSecond / hz + kSecond / hz / kOutOfStep;
}

// Leaves the CPU without a clock if it is offline.
Result<void> BpfSamples::open(std::uint32_t cpu) {
  perf_event_attr clock{};
  clock.size = sizeof(clock);
  // Not cycles, which many virtual machines have not: the kernel's own clock of each CPU, which interrupts.
  clock.type = PERF_TYPE_SOFTWARE;
  clock.config = PERF_COUNT_SW_CPU_CLOCK;
  clock.sample_period = sample_period_ns(hz_);
  clock.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
  links_[cpu].reset();
  UniqueFd event(static_cast<int>(syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event && errno == ENODEV) return {};
  if (!event)
    return errno_error(fmt::format("cannot open a clock of CPU {} (perf_event_open)", cpu), errno,
                       "run as root, or leave the target `sample` out");
  LinkHandle link(bpf_program__attach_perf_event(program_, event.get()));
  if (!link) return errno_error(fmt::format("cannot attach to the clock of CPU {}", cpu), errno);
  events_[cpu] = event.release();  // the link's, now
  links_[cpu] = std::move(link);
  return {};
}

Result<void> BpfSamples::attach(const bpf_program* program, std::uint32_t hz) {
  program_ = program;
  hz_ = hz;
  const std::uint32_t cpus = possible_processors();
  links_.resize(cpus);
  events_.resize(cpus, -1);
  online_.reset(::open(kOnline, O_RDONLY | O_CLOEXEC));
  if (!online_) return errno_error(fmt::format("cannot read which CPUs are online ({})", kOnline), errno, "mount /sys");
  for (std::uint32_t cpu = 0; cpu < cpus; cpu++)
    if (auto opened = open(cpu); !opened) return opened;
  std::vector<bool> have(cpus);
  for (std::uint32_t cpu = 0; cpu < cpus; cpu++) have[cpu] = links_[cpu] != nullptr;
  if (std::find(have.begin(), have.end(), true) == have.end())
    return Error{"no CPU has a clock that could be sampled", "leave the target `sample` out"};
  watch_.emplace(cpus, sample_period_ns(hz));
  looked_ns_ = monotonic_ns();
  (void)watch_->see_online(have, looked_ns_);
  return {};
}

Result<void> BpfSamples::open_again(const std::vector<ClockWatch::Gap>& gaps, const char* why,
                                    const Backend::SourceLossHandler& tell) {
  for (const ClockWatch::Gap& gap : gaps) {
    if (auto opened = open(gap.cpu); !opened) return opened;
    const auto silent_ms = (monotonic_ns() - gap.from_ns) / kMillisecondNs;
    tell({USC_LOSS_CLOCK_SILENT, gap.from_ns, gap.ticks,
          fmt::format("CPU {} {}: up to {} ms of what ran there have no samples", gap.cpu, why,
                      std::max<std::uint64_t>(silent_ms, 1)),
          ""});
  }
  return {};
}

// Of the CPU's clock. Without one, it stands still: a CPU that is listed as online may refuse a clock yet.
std::optional<std::uint64_t> BpfSamples::enabled_time(std::uint32_t cpu) const {
  std::array<std::uint64_t, 2> count_and_time{};
  if (!links_[cpu]) return 0;
  if (read(events_[cpu], count_and_time.data(), sizeof(count_and_time)) != sizeof(count_and_time)) return std::nullopt;
  return count_and_time[1];
}

Result<void> BpfSamples::tend(const ClockWatch::Ticked& ticked, std::uint64_t now_ns,
                              const Backend::SourceLossHandler& tell) {
  if (!watch_) return {};
  const auto cpus = static_cast<std::uint32_t>(links_.size());
  if (const std::vector<bool> online = read_online(online_.get(), cpus); !online.empty()) {
    const auto gaps = watch_->see_online(online, now_ns);
    for (std::uint32_t cpu = 0; cpu < cpus; cpu++)
      if (!watch_->is_online(cpu)) links_[cpu].reset();
    if (auto opened = open_again(gaps, "came online", tell); !opened) return opened;
  }
  if (now_ns < asked_ns_ + kLostEveryNs) return {};
  asked_ns_ = now_ns;
  const auto enabled = [this](std::uint32_t cpu) { return enabled_time(cpu); };
  if (auto opened = open_again(watch_->see_lost(ticked, enabled, now_ns), "was offline for a moment", tell); !opened)
    return opened;
  if (now_ns < looked_ns_ + kTicksEveryNs) return {};
  looked_ns_ = now_ns;
  return open_again(watch_->see_ticks(
                        ticked, [cpus] { return read_running_times(cpus); }, now_ns),
                    "ran while its sampling clock had stopped", tell);
}

}  // namespace uscope::tracer
