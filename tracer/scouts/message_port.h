// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One end of a socket pair over which whole messages (scout_packets.h) go in both directions. Nothing here waits for
// the process at the other end, which may be stopped: what does not fit into the socket is kept, and goes with a later
// call of next().
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {

class MessagePort {
 public:
  // kLost: the descriptors of the message are missing, since this process has no room for them.
  enum class Came { kMessage, kLost, kNothing, kClosed };

  // A SOCK_SEQPACKET socket; makes it non-blocking.
  explicit MessagePort(UniqueFd socket);

  // At most kMostPassed descriptors, which the caller may close afterwards.
  void send(std::span<const std::byte> bytes, std::span<const int> fds = {});
  // Sends what is left, and takes the next message that has arrived whole.
  Came next(ScoutMessage& message);
  // Waits until next() has something to do, at most this long.
  void wait(int milliseconds) const;
  // What to wait for with poll().
  [[nodiscard]] short events() const;
  // -1 once the other end is closed.
  [[nodiscard]] int fd() const { return socket_ ? socket_.get() : -1; }

 private:
  struct Unsent {
    std::vector<std::byte> bytes;
    std::vector<UniqueFd> fds;
    std::size_t sent = 0;
  };
  bool send_part(Unsent& message);
  void flush();

  UniqueFd socket_;
  std::deque<Unsent> unsent_;
  ScoutMessage partial_;
  bool lost_fds_ = false;  // of the partial message
};

}  // namespace uscope::tracer
