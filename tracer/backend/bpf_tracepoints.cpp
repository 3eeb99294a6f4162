// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_tracepoints.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "support/process/close_elsewhere.h"
#include "support/unique_fd.h"
#include "tracer/backend/load_failure.h"

namespace uscope::tracer {
namespace {

// To take a program away takes one wait of the kernel's for what may run it (6.13 and later). These may be waited for
// together.
constexpr std::size_t kMostThreads = 64;

}  // namespace

Result<void> BpfTracepoints::attach(const bpf_program* program, const Probe& probe, std::uint64_t cookie) {
  perf_event_attr event{};
  event.size = sizeof(event);
  event.type = PERF_TYPE_TRACEPOINT;
  event.config = probe.event_id;
  event.disabled = 1;
  // Whatever CPU is named here, the program is run on all of them.
  UniqueFd fd(static_cast<int>(syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd)
    return errno_error(fmt::format("cannot open the tracepoint {} (perf_event_open)", probe.name), errno,
                       errno == EPERM || errno == EACCES ? kProbePrivileges : "leave this target out");
  LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
  LinkHandle link(bpf_program__attach_perf_event_opts(program, fd.get(), &options));
  if (!link)
    return errno_error(fmt::format("cannot attach to the tracepoint {}", probe.name), errno,
                       errno == EEXIST ? "name it once" : "leave this target out");
  events_.push_back(fd.release());  // the link closes it
  links_.push_back(std::move(link));
  return {};
}

void BpfTracepoints::detach() {
  std::vector<UniqueFd> held;
  for (const int event : std::exchange(events_, {})) held.emplace_back(fcntl(event, F_DUPFD_CLOEXEC, 0));
  const std::size_t count = std::min(links_.size(), kMostThreads);
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < count; first++)
    threads.emplace_back([this, first, count] {
      for (std::size_t i = first; i < links_.size(); i += count) links_[i].reset();
    });
  for (std::thread& thread : threads) thread.join();
  links_.clear();
  close_elsewhere(std::move(held));
}

}  // namespace uscope::tracer
