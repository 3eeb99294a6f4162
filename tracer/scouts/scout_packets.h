// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The packets that the tracer and a scout exchange. A request, and each answer, is a message of one or more packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {

// Of the message in one packet.
inline constexpr std::size_t kMostInPacket = std::size_t{48} << 10;

enum class Packet : std::uint32_t { kPart, kEnd, kGoesTo, kDone, kLast };

struct PacketHead {
  Packet kind = Packet::kPart;
  std::uint32_t number = 0;
};

bool send_packet(int socket, PacketHead head, std::span<const std::byte> bytes = {}, std::span<const int> fds = {});
// Sends a message in as many packets as needed; its descriptors go with the first.
bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds);
// Receives a packet: returns its head and appends the rest to `message`; nullopt if none is there (EAGAIN), or the
// other end is closed. `lost_fds` as for receive_with_fds().
std::optional<PacketHead> receive_packet(int socket, ScoutMessage& message, int flags, bool* lost_fds = nullptr);

// Whether something can be received, or the other end is closed, within this time.
[[nodiscard]] bool is_readable(int fd, int milliseconds);

}  // namespace uscope::tracer
