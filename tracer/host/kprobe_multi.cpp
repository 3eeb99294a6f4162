// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/host/kprobe_multi.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>

namespace uscope::tracer {
namespace {

// linux/bpf.h, BPF_LINK_CREATE.
struct LinkRequest {
  std::uint32_t program = 0;
  std::uint32_t target = 0;
  std::uint32_t attach_type = 0;
  std::uint32_t flags = 0;
  std::uint32_t multi_flags = 0;
  std::uint32_t count = 0;
  std::uint64_t symbols = 0;
  std::uint64_t addresses = 0;
  std::uint64_t cookies = 0;
};
static_assert(sizeof(LinkRequest) == 48);

// struct bpf_link_info, as of a link of this type. The headers of Debian 12 have none.
struct LinkInfo {
  std::uint32_t type = 0;
  std::uint32_t id = 0;
  std::uint32_t program = 0;
  std::uint32_t pad = 0;
  std::uint64_t addresses = 0;
  std::uint32_t count = 0;
  std::uint32_t flags = 0;
  std::uint64_t missed = 0;
};
static_assert(sizeof(LinkInfo) == 40);

UniqueFd create_link(const LinkRequest& request) {
  LinkRequest sent = request;
  return UniqueFd(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &sent, sizeof(sent))));
}

}  // namespace

std::vector<std::uint64_t> part_of(const std::vector<std::uint64_t>& all, std::size_t first, std::size_t count) {
  const auto begin = std::next(all.begin(), static_cast<std::ptrdiff_t>(first));
  return {begin, std::next(begin, static_cast<std::ptrdiff_t>(count))};
}

KprobePlaces KprobePlaces::part(std::size_t first, std::size_t count) const {
  return {part_of(addresses, first, count), part_of(cookies, first, count)};
}

UniqueFd attach_kprobe_multi(int program, int attach_type, const KprobePlaces& places) {
  LinkRequest request;
  request.program = static_cast<std::uint32_t>(program);
  request.attach_type = static_cast<std::uint32_t>(attach_type);
  request.count = static_cast<std::uint32_t>(places.size());
  request.addresses = reinterpret_cast<std::uintptr_t>(places.addresses.data());
  request.cookies = reinterpret_cast<std::uintptr_t>(places.cookies.data());
  return create_link(request);
}

std::uint64_t missed_at_kprobes(int link) {
  LinkInfo info;
  bpf_attr request{};
  request.info.bpf_fd = static_cast<__u32>(link);
  request.info.info_len = sizeof(info);
  request.info.info = reinterpret_cast<std::uintptr_t>(&info);
  return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &request, sizeof(request)) == 0 ? info.missed : 0;
}

UniqueFd load_empty_probe_program(int attach_type) {
  std::array<bpf_insn, 2> instructions{};
  instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0
  instructions[1].code = BPF_JMP | BPF_EXIT;
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
  return UniqueFd(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "uscope_try", "GPL", instructions.data(), instructions.size(), &options));
}

// A kernel that has it reads the addresses, which are nowhere here.
std::string why_no_kprobe_multi(int attach_type) {
  const UniqueFd program = load_empty_probe_program(attach_type);
  LinkRequest request;
  request.program = static_cast<std::uint32_t>(program.get());
  request.attach_type = static_cast<std::uint32_t>(attach_type);
  request.count = 1;
  request.addresses = sizeof(std::uint64_t);
  if (program && create_link(request)) return "";
  switch (errno) {
    case EFAULT:
      return "";
    case EPERM:
    case EACCES:
      return "this process may not attach BPF programs to functions of the kernel: run as root, or with CAP_BPF and "
             "CAP_PERFMON";
    case EOPNOTSUPP:
      return "this kernel runs no BPF programs at its functions: it is built without CONFIG_FPROBE (kprobe.multi)";
    case EINVAL:
      return attach_type == kAttachKprobeSession
                 ? "BPF programs that see a function's entry and its return take Linux 6.10"
                 : "BPF programs at many functions of the kernel take Linux 5.18";
    default:
      return "BPF programs cannot be attached to functions of this kernel: " + std::generic_category().message(errno);
  }
}

}  // namespace uscope::tracer
