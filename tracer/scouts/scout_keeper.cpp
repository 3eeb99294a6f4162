// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/scout_keeper.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/process/child_process.h"
#include "support/process/fd_passing.h"
#include "support/process/priority.h"
#include "tracer/scouts/patience.h"
#include "tracer/scouts/scout_packets.h"
#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {
namespace {

constexpr int kNice = -20;        // as the collector, which may wait for scouts
constexpr int kKeeperMs = 5'000;  // as CountedTime counts: the keeper never does anything that may block

struct KeeperAnswer {
  std::int32_t error = 0;
  std::int32_t pid = 0;
};

class Desk final : public ScoutDesk {
 public:
  explicit Desk(int socket) : socket_(socket) {}

  // Returns false if no further request will come.
  bool serve() {
    request_ = {};
    while (true) {
      const auto head = receive_packet(socket_, request_, 0);
      if (!head) return false;
      if (head->kind == Packet::kEnd) break;
    }
    ScoutWork work = nullptr;
    if (request_.bytes.size() < sizeof(work)) return false;
    std::memcpy(&work, request_.bytes.data() + request_.bytes.size() - sizeof(work), sizeof(work));
    request_.bytes.resize(request_.bytes.size() - sizeof(work));
    work(*this);
    const bool sent = send_packet(socket_, {last_ ? Packet::kLast : Packet::kDone});
    return sent && !last_;
  }

  ScoutMessage& request() override { return request_; }
  void goes_to(std::uint32_t number) override { check_sent(send_packet(socket_, {Packet::kGoesTo, number})); }
  void answer(std::span<const std::byte> bytes, std::span<const int> fds) override {
    check_sent(send_message(socket_, bytes, fds));
  }
  void be_last() override { last_ = true; }

 private:
  // Exits if no process waits for the answer any more.
  static void check_sent(bool sent) {
    if (!sent) _exit(0);
  }

  int socket_;
  ScoutMessage request_;
  bool last_ = false;
};

[[noreturn]] void be_scout(int control, int socket, pid_t keeper) {
  close(control);
  if (!die_with(keeper)) _exit(1);
  try {
    Desk desk(socket);
    while (desk.serve()) {
    }
  } catch (const std::exception&) {  // out of memory: the tracer sees the scout exit
  }
  _exit(0);
}

bool answers(int keeper) {
  constexpr int kWaitMs = 10;
  for (CountedTime time; !is_readable(keeper, kWaitMs);)
    if (time.look() >= kKeeperMs * kMillisecondNs) return false;
  return true;
}

}  // namespace

void keep_scouts(int control) {
  const pid_t tracer = getppid();
  control = settle_child(control, "uscope-scout");
  if (!die_with(tracer)) _exit(1);
  raise_priority(kNice);
  while (true) {
    char request = 0;
    std::vector<UniqueFd> fds;
    if (receive_with_fds(control, std::as_writable_bytes(std::span(&request, 1)), fds) != 1 || fds.size() != 1)
      _exit(0);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) be_scout(control, fds.front().get(), self);
    const KeeperAnswer answer{child < 0 ? errno : 0, child};
    const UniqueFd process(child < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    const int fd = process.get();
    if (!send_with_fds(control, std::as_bytes(std::span(&answer, 1)), std::span(&fd, process ? 1 : 0))) _exit(0);
  }
}

std::optional<Scout> fork_scout(UniqueFd& keeper) {
  std::array<int, 2> ends{};
  if (!keeper || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  Scout scout;
  scout.socket.reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  const int fd = theirs.get();
  const char request = 0;
  KeeperAnswer answer;
  std::vector<UniqueFd> fds;
  if (!send_with_fds(keeper.get(), std::as_bytes(std::span(&request, 1)), std::span(&fd, 1)) ||
      !answers(keeper.get()) ||
      receive_with_fds(keeper.get(), std::as_writable_bytes(std::span(&answer, 1)), fds, MSG_DONTWAIT) !=
          sizeof(answer)) {
    keeper.reset();
    return std::nullopt;
  }
  if (answer.error != 0 || fds.empty()) return std::nullopt;
  scout.process = std::move(fds.front());
  scout.pid = answer.pid;
  return scout;
}

}  // namespace uscope::tracer
