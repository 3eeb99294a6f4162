// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/copied_descriptor.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "support/socket_address.h"

namespace uscope::tracer {
namespace {

using AskAddress = int (*)(int, sockaddr*, socklen_t*);

// Empty: there is none.
std::string address_by(AskAddress ask, int socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return {};
  const std::size_t most = sizeof(address);
  std::string text = socket_address_text({reinterpret_cast<const char*>(&address), std::min<std::size_t>(bytes, most)});
  return is_no_address(text) ? std::string() : text;
}

}  // namespace

UniqueFd copy_of(std::uint32_t pid, int fd) {
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return UniqueFd();
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), fd, 0)));
}

std::string socket_address_of(std::uint32_t pid, int fd, const std::string& target) {
  const UniqueFd socket = copy_of(pid, fd);
  struct stat facts {};
  if (!socket || fstat(socket.get(), &facts) != 0 || target != fmt::format("socket:[{}]", facts.st_ino)) return {};
  if (const std::string peer = address_by(getpeername, socket.get()); !peer.empty()) return "with " + peer;
  const std::string own = address_by(getsockname, socket.get());
  return own.empty() ? own : "at " + own;
}

}  // namespace uscope::tracer
