// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/uprobe_single.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace uscope::tracer {
namespace {

constexpr unsigned kSemaphoreShift = 32;  // of config (format/ref_ctr_offset in the folder below)

std::uint32_t uprobe_type() {
  std::uint32_t type = 0;
  std::ifstream("/sys/bus/event_source/devices/uprobe/type") >> type;
  return type;
}

UniqueFd open_event(const std::string& path, std::uint64_t offset, std::uint64_t semaphore) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = uprobe_type();
  if (attributes.type == 0) {
    errno = ENODEV;
    return {};
  }
  attributes.config = semaphore << kSemaphoreShift;
  attributes.uprobe_path = reinterpret_cast<std::uintptr_t>(path.c_str());
  attributes.probe_offset = offset;
  // Of all processes an event belongs to a CPU; its probe is hit on all of them.
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

SingleUprobe attach_single_uprobe(int program, const std::string& path, std::uint64_t offset, std::uint64_t cookie,
                                  std::uint64_t semaphore) {
  SingleUprobe probe;
  probe.event = open_event(path, offset, semaphore);
  if (!probe.event) return {};
  LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event = {.bpf_cookie = cookie});
  probe.link.reset(bpf_link_create(program, probe.event.get(), BPF_PERF_EVENT, &options));
  if (!probe.link || ioctl(probe.event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) return {};
  return probe;
}

}  // namespace uscope::tracer
