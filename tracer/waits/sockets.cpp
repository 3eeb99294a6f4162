// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/sockets.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "support/unique_fd.h"
#include "tracer/process/copied_descriptor.h"
#include "tracer/waits/descriptors.h"

namespace uscope::tracer {
namespace {

constexpr int kListens = 10;  // TCP_LISTEN
constexpr std::size_t kMessageBytes = std::size_t{1} << 16;

using Sockets = std::unordered_map<std::uint64_t, SocketFacts>;

// Sends a request for a list and gives each message of the answer to `take`.
template <typename Request>
bool dump(const Request& body, const std::function<void(const nlmsghdr&)>& take) {
  const UniqueFd link(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (link.get() < 0) return false;
  const timeval patience{1, 0};
  (void)setsockopt(link.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  struct {
    nlmsghdr head;
    Request body;
  } request{};
  request.head.nlmsg_len = sizeof(request);
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body = body;
  if (send(link.get(), &request, sizeof(request), 0) != static_cast<ssize_t>(sizeof(request))) return false;
  std::vector<std::uint64_t> answer(kMessageBytes / sizeof(std::uint64_t));
  for (;;) {
    const ssize_t got = recv(link.get(), answer.data(), kMessageBytes, 0);
    if (got <= 0) return false;
    auto left = static_cast<unsigned>(got);
    for (auto* at = reinterpret_cast<nlmsghdr*>(answer.data()); NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
      if (at->nlmsg_type == NLMSG_DONE) return true;
      if (at->nlmsg_type == NLMSG_ERROR) return false;
      take(*at);
    }
  }
}

void take_unix(const nlmsghdr& message, Sockets& sockets) {
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg))) return;
  const auto* const found = static_cast<const unix_diag_msg*>(NLMSG_DATA(&message));
  SocketFacts& facts = sockets[found->udiag_ino];
  facts.is_unix = true;
  facts.listens = found->udiag_state == kListens;
  auto left = static_cast<int>(message.nlmsg_len - NLMSG_LENGTH(sizeof(unix_diag_msg)));
  const auto* at = reinterpret_cast<const rtattr*>(found + 1);
  for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    const std::size_t bytes = RTA_PAYLOAD(at);
    if (at->rta_type == UNIX_DIAG_PEER && bytes >= sizeof(std::uint32_t)) {
      std::uint32_t peer = 0;
      std::memcpy(&peer, RTA_DATA(at), sizeof(peer));
      facts.peer = peer;
    } else if (at->rta_type == UNIX_DIAG_RQLEN && bytes >= sizeof(unix_diag_rqlen)) {
      unix_diag_rqlen lengths{};
      std::memcpy(&lengths, RTA_DATA(at), sizeof(lengths));
      facts.queued = lengths.udiag_rqueue;
    } else if (at->rta_type == UNIX_DIAG_NAME && bytes != 0) {
      facts.address.assign(static_cast<const char*>(RTA_DATA(at)), bytes);
      if (facts.address.front() == '\0') facts.address.front() = '@';
      while (!facts.address.empty() && facts.address.back() == '\0') facts.address.pop_back();
    }
  }
}

// An address and a port; of IPv4 as IPv6 maps it.
using End = std::array<std::uint8_t, 18>;

End end_of(std::uint8_t family, const __be32* address, __be16 port) {
  End end{};
  if (family == AF_INET) {
    end[10] = end[11] = 0xff;
    std::memcpy(&end[12], address, 4);
  } else {
    std::memcpy(end.data(), address, 16);
  }
  std::memcpy(&end[16], &port, sizeof(port));
  return end;
}

using Ends = std::map<std::pair<End, End>, std::uint64_t>;  // the socket's own, the other; its inode

void take_inet(const nlmsghdr& message, Sockets& sockets, Ends& ends) {
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return;
  const auto* const found = static_cast<const inet_diag_msg*>(NLMSG_DATA(&message));
  if (found->idiag_inode == 0) return;
  SocketFacts& facts = sockets[found->idiag_inode];
  facts.listens = found->idiag_state == kListens;
  facts.queued = found->idiag_rqueue;
  if (facts.listens) return;
  const inet_diag_sockid& id = found->id;
  ends[{end_of(found->idiag_family, id.idiag_src, id.idiag_sport),
        end_of(found->idiag_family, id.idiag_dst, id.idiag_dport)}] = found->idiag_inode;
}

// Whether this option is set to a time.
std::optional<bool> has_limit(int socket, int option) {
  timeval limit{};
  socklen_t bytes = sizeof(limit);
  if (getsockopt(socket, SOL_SOCKET, option, &limit, &bytes) != 0) return std::nullopt;
  return limit.tv_sec != 0 || limit.tv_usec != 0;
}

// Whether TCP ends the connection if the other end takes nothing for a time (TCP_USER_TIMEOUT). Others do not have
// that.
bool has_user_timeout(int socket) {
  unsigned limit_ms = 0;
  socklen_t bytes = sizeof(limit_ms);
  return getsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, &bytes) == 0 && limit_ms != 0;
}

}  // namespace

std::optional<SocketLimits> socket_limits(std::uint32_t pid, int fd) {
  const UniqueFd socket = copy_of(pid, fd);
  if (!socket) return std::nullopt;
  const auto reads = has_limit(socket.get(), SO_RCVTIMEO);
  const auto writes = has_limit(socket.get(), SO_SNDTIMEO);
  if (!reads || !writes) return std::nullopt;
  const bool ends = has_user_timeout(socket.get());
  return SocketLimits{*reads || ends, *writes || ends};
}

std::optional<Sockets> list_sockets() {
  Sockets sockets;
  unix_diag_req unix_request{};
  unix_request.sdiag_family = AF_UNIX;
  unix_request.udiag_states = ~0U;
  unix_request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
  if (!dump(unix_request, [&](const nlmsghdr& message) { take_unix(message, sockets); })) return std::nullopt;
  Ends ends;
  for (const int family : {AF_INET, AF_INET6}) {
    inet_diag_req_v2 request{};
    request.sdiag_family = static_cast<std::uint8_t>(family);
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_states = ~0U;
    // Without it, or without IPv6, such a socket has no peer that is known.
    (void)dump(request, [&](const nlmsghdr& message) { take_inet(message, sockets, ends); });
  }
  for (const auto& [pair, inode] : ends) {
    const auto other = ends.find({pair.second, pair.first});
    if (other != ends.end() && other->second != inode) sockets[inode].peer = other->second;
  }
  return sockets;
}

}  // namespace uscope::tracer
