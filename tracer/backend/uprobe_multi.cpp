// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/uprobe_multi.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tracer/host/kprobe_multi.h"

namespace uscope::tracer {
namespace {

// linux/bpf.h, BPF_LINK_CREATE: the headers of Debian 12 end before this.
struct LinkRequest {
  std::uint32_t program = 0;
  std::uint32_t target = 0;
  std::uint32_t attach_type = kAttachUprobeMulti;
  std::uint32_t flags = 0;
  std::uint64_t path = 0;
  std::uint64_t offsets = 0;
  std::uint64_t semaphores = 0;
  std::uint64_t cookies = 0;
  std::uint32_t count = 0;
  std::uint32_t multi_flags = 0;
  std::uint32_t pid = 0;
  std::uint32_t pad = 0;
};
static_assert(sizeof(LinkRequest) == 64);

template <typename T>
std::uint64_t address_of(const T* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

}  // namespace

UprobePlaces UprobePlaces::part(std::size_t first, std::size_t count) const {
  return {part_of(offsets, first, count), part_of(cookies, first, count), part_of(semaphores, first, count)};
}

UniqueFd attach_uprobe_multi(int program, const std::string& path, const UprobePlaces& places) {
  LinkRequest request;
  request.program = static_cast<std::uint32_t>(program);
  request.path = address_of(path.c_str());
  request.offsets = address_of(places.offsets.data());
  request.semaphores = address_of(places.semaphores.data());
  request.cookies = address_of(places.cookies.data());
  request.count = static_cast<std::uint32_t>(places.size());
  return UniqueFd(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof(request))));
}

// A kernel that has it looks at the path first, and "/" is no regular file.
bool kernel_has_uprobe_multi() {
  const UniqueFd program = load_empty_probe_program(kAttachUprobeMulti);
  if (!program) return false;
  const UniqueFd link = attach_uprobe_multi(program.get(), "/", UprobePlaces{{0}, {0}, {0}});
  return !link && errno == EBADF;
}

}  // namespace uscope::tracer
