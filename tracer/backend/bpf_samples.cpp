// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_samples.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "support/unique_fd.h"
#include "tracer/backend/backend.h"

namespace uscope::tracer {

std::uint64_t sample_period_ns(std::uint32_t hz) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  // A little longer than asked for: a clock that keeps step with the scheduler's, whose ticks are some ms apart too,
  // would meet threads that give way at these always, or never, before they do.
  constexpr std::uint64_t kOutOfStep = 73;
  return hz == 0 ? 0 : kSecond / hz + kSecond / hz / kOutOfStep;
}

Result<void> BpfSamples::attach(const bpf_program* program, std::uint32_t hz) {
  perf_event_attr clock{};
  clock.size = sizeof(clock);
  // Not cycles, which many virtual machines have not: the kernel's own clock of each CPU, which interrupts.
  clock.type = PERF_TYPE_SOFTWARE;
  clock.config = PERF_COUNT_SW_CPU_CLOCK;
  clock.sample_period = sample_period_ns(hz);
  for (std::uint32_t cpu = 0; cpu < possible_processors(); cpu++) {
    UniqueFd event(static_cast<int>(syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event && errno == ENODEV) continue;  // offline
    if (!event)
      return errno_error(fmt::format("cannot open a clock of CPU {} (perf_event_open)", cpu), errno,
                         "run as root, or leave the target `sample` out");
    LinkHandle link(bpf_program__attach_perf_event(program, event.get()));
    if (!link) return errno_error(fmt::format("cannot attach to the clock of CPU {}", cpu), errno);
    (void)event.release();  // the link's, now
    links_.push_back(std::move(link));
  }
  if (links_.empty()) return Error{"no CPU has a clock that could be sampled", "leave the target `sample` out"};
  return {};
}

}  // namespace uscope::tracer
