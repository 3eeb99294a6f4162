// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/message_port.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tracer/scouts/scout_packets.h"

namespace uscope::tracer {

MessagePort::MessagePort(UniqueFd socket) : socket_(std::move(socket)) {
  (void)fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

void MessagePort::send(std::span<const std::byte> bytes, std::span<const int> fds) {
  if (!socket_) return;
  Unsent message;
  message.bytes.assign(bytes.begin(), bytes.end());
  for (const int fd : fds) message.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  unsent_.push_back(std::move(message));
  flush();
}

// Returns false if the socket takes no more now.
bool MessagePort::send_part(Unsent& message) {
  const auto rest = std::span<const std::byte>(message.bytes).subspan(message.sent);
  const auto part = rest.first(std::min(rest.size(), kMostInPacket));
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  if (!send_packet(socket_.get(), {part.size() == rest.size() ? Packet::kEnd : Packet::kPart}, part, fds)) return false;
  message.fds.clear();  // they go with the first part
  message.sent += part.size();
  if (part.size() == rest.size()) unsent_.pop_front();
  return true;
}

// An error other than a full socket means that the other end is closed: next() sees that, after what it had sent.
void MessagePort::flush() {
  while (socket_ && !unsent_.empty()) {
    if (send_part(unsent_.front())) continue;
    if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM && errno != ETOOMANYREFS) unsent_.clear();
    return;
  }
}

MessagePort::Came MessagePort::next(ScoutMessage& message) {
  flush();
  while (socket_) {
    bool lost_fds = false;
    const auto head = receive_packet(socket_.get(), partial_, 0, &lost_fds);
    lost_fds_ |= lost_fds;
    if (!head && errno == EAGAIN) return Came::kNothing;
    if (!head) socket_.reset();
    if (!head || head->kind != Packet::kEnd) continue;
    message = std::exchange(partial_, {});
    return std::exchange(lost_fds_, false) ? Came::kLost : Came::kMessage;
  }
  return Came::kClosed;
}

short MessagePort::events() const {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

void MessagePort::wait(int milliseconds) const {
  pollfd wanted{fd(), events(), 0};
  (void)poll(&wanted, 1, milliseconds);
}

}  // namespace uscope::tracer
