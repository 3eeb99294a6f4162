// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sockets of uscope's own network namespace, as the kernel lists them (NETLINK_SOCK_DIAG).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace uscope::tracer {

struct SocketFacts {
  bool is_unix = false;
  bool listens = false;
  std::uint64_t peer = 0;  // inode; 0: none on this machine, or not known
  std::optional<std::uint64_t> queued;
  std::string address;  // of a unix socket; an abstract one begins with '@'
};

// By inode. Nothing: the kernel does not list them.
[[nodiscard]] std::optional<std::unordered_map<std::uint64_t, SocketFacts>> list_sockets();

// Whether reading and writing of a process's socket end by themselves after a time (SO_RCVTIMEO, SO_SNDTIMEO; both with
// TCP_USER_TIMEOUT). The process's descriptor is copied, asked, and given back.
struct SocketLimits {
  bool reads = false;
  bool writes = false;
};

// Nothing: it cannot be asked, or is no socket.
[[nodiscard]] std::optional<SocketLimits> socket_limits(std::uint32_t pid, int fd);

}  // namespace uscope::tracer
