// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/scout_packets.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "support/process/fd_passing.h"

namespace uscope::tracer {

bool send_packet(int socket, PacketHead head, std::span<const std::byte> bytes, std::span<const int> fds) {
  std::vector<std::byte> packet(sizeof(head) + bytes.size());
  std::memcpy(packet.data(), &head, sizeof(head));
  if (!bytes.empty()) std::memcpy(packet.data() + sizeof(head), bytes.data(), bytes.size());
  return send_with_fds(socket, packet, fds);
}

bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  while (true) {
    const auto part = bytes.first(std::min(bytes.size(), kMostInPacket));
    bytes = bytes.subspan(part.size());
    if (!send_packet(socket, {bytes.empty() ? Packet::kEnd : Packet::kPart}, part, fds)) return false;
    if (bytes.empty()) return true;
    fds = {};
  }
}

std::optional<PacketHead> receive_packet(int socket, ScoutMessage& message, int flags, bool* lost_fds) {
  // Not on the stack, which may be small (ulimit -s).
  const auto room = std::make_unique_for_overwrite<std::array<std::byte, sizeof(PacketHead) + kMostInPacket>>();
  std::vector<UniqueFd> fds;
  const long count = receive_with_fds(socket, *room, fds, flags, lost_fds);
  if (count < static_cast<long>(sizeof(PacketHead))) {
    if (count >= 0) errno = EPIPE;
    return std::nullopt;
  }
  PacketHead head;
  std::memcpy(&head, room->data(), sizeof(head));
  message.bytes.insert(message.bytes.end(), room->begin() + sizeof(head), room->begin() + count);
  for (UniqueFd& fd : fds) message.fds.push_back(std::move(fd));
  return head;
}

bool is_readable(int fd, int milliseconds) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace uscope::tracer
