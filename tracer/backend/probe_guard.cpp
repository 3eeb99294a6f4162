// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/probe_guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "support/clock.h"
#include "support/process/child_process.h"
#include "tracer/scouts/scout_packets.h"
#include "tracer/scouts/scout_work.h"

namespace uscope::tracer {
namespace {

constexpr int kEndMs = 5'000;  // it may have been stopped by somebody

// To the guard, with the descriptors of the program and the file: kAttach; alone: kRemove, kEnd. From it: kAnswer, to
// kAttach and kEnd, and kRemoved.
enum class Message : std::uint32_t { kAttach, kRemove, kEnd, kAnswer, kRemoved };

template <typename T>
void put_all(ScoutWriter& out, const std::vector<T>& values) {
  out.put_bytes(std::as_bytes(std::span(values)));
}

std::vector<std::uint64_t> get_all(ScoutReader& in) {
  const auto bytes = in.get_bytes();
  std::vector<std::uint64_t> values(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::uint64_t));
  return values;
}

// A whole message; nullopt: none is there (EAGAIN), or the other end is closed.
std::optional<ScoutMessage> receive_message(int socket, int flags) {
  ScoutMessage message;
  while (true) {
    const auto head = receive_packet(socket, message, flags);
    if (!head && errno == EINTR) continue;
    if (!head) return std::nullopt;
    if (head->kind == Packet::kEnd) return message;
    flags = 0;  // the rest of it is on its way
  }
}

// The guard's side.
class Guard {
 public:
  explicit Guard(int socket) : socket_(socket) {}

  int run() {
    constexpr int kCompareEveryMs = static_cast<int>(FileGuard::kCompareEveryNs / kMillisecondNs);
    while (true) {
      std::array<pollfd, 2> wanted{{{socket_, POLLIN, 0}, {holder_.fd(), POLLIN, 0}}};
      (void)poll(wanted.data(), wanted.size(), kCompareEveryMs);
      if (!tell_removed()) return 0;
      if (wanted[0].revents != 0 && !serve()) return 0;
    }
  }

 private:
  bool tell_removed() {
    const std::uint64_t now = monotonic_ns();
    for (const auto& [number, news] : holder_.tend(now))
      if (!send(ScoutWriter().put(Message::kRemoved).put(std::uint64_t{number}).put(news).put(now))) return false;
    return true;
  }

  bool serve() {
    auto message = receive_message(socket_, 0);
    if (!message) return false;
    ScoutReader in(message->bytes);
    const auto kind = in.get<Message>();
    const auto number = in.get<std::uint64_t>();
    if (kind == Message::kRemove) {
      holder_.remove(number);
      return true;
    }
    if (kind == Message::kEnd) {
      holder_ = {};
      (void)send(ScoutWriter().put(Message::kAnswer).put(true));
      return false;
    }
    Result<void> attached = Error{"too many files are open", ""};
    const bool has_multi = in.get<bool>();
    PlacesInFile what;
    what.path = in.get_text();
    what.first = in.get_text();
    what.places = {get_all(in), get_all(in), get_all(in)};
    if (message->fds.size() == 2)
      attached = holder_.attach(number, message->fds[1].get(), message->fds[0].get(), has_multi, what);
    const Error error = attached ? Error{} : attached.error();
    return send(ScoutWriter()
                    .put(Message::kAnswer)
                    .put(static_cast<bool>(attached))
                    .put_text(error.what)
                    .put_text(error.remedy));
  }

  [[nodiscard]] bool send(const ScoutWriter& message) const { return send_message(socket_, message.bytes(), {}); }

  int socket_;
  ProbeHolder holder_;
};

int be_guard(int inherited) {
  const int socket = settle_child(inherited, "uscope-guard");
  sigset_t all;
  sigfillset(&all);
  (void)sigprocmask(SIG_BLOCK, &all, nullptr);  // those that stop a job, too
  return Guard(socket).run();
}

}  // namespace

Result<std::unique_ptr<ProbeGuard>> ProbeGuard::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error("cannot make sockets for the process that holds probes", errno);
  UniqueFd own(ends[0]);
  const UniqueFd its(ends[1]);
  auto process = ChildWork::start([&] { return be_guard(its.get()); });
  if (!process) return process.error();
  return std::unique_ptr<ProbeGuard>(new ProbeGuard(std::move(*process), std::move(own)));
}

// Takes the next message. Returns false if there is none.
bool ProbeGuard::receive(bool wait) {
  if (ended_ || !socket_) return false;
  errno = 0;
  const auto message = receive_message(socket_.get(), wait ? 0 : MSG_DONTWAIT);
  if (!message) {
    ended_ = errno != EAGAIN;
    return false;
  }
  ScoutReader in(message->bytes);
  if (in.get<Message>() == Message::kRemoved) {
    Removed& removed = removed_.emplace_back();
    removed.number = in.get<std::uint64_t>();
    removed.news = in.get<FileGuard::News>();
    removed.time_ns = in.get<std::uint64_t>();
    return true;
  }
  answered_ = true;
  const bool is_good = in.get<bool>();
  std::string what = in.get_text();
  answer_ = is_good ? Result<void>() : Error{std::move(what), in.get_text()};
  return true;
}

Result<void> ProbeGuard::attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what) {
  ScoutWriter out;
  out.put(Message::kAttach).put(std::uint64_t{number}).put(has_multi).put_text(what.path).put_text(what.first);
  put_all(out, what.places.offsets);
  put_all(out, what.places.cookies);
  put_all(out, what.places.semaphores);
  answered_ = false;
  if (!ended_) ended_ = !send_message(socket_.get(), out.bytes(), std::array{program, file});
  while (!answered_ && receive(true)) {
  }
  if (!answered_) return Error{"the process that holds probes in files (uscope-guard) has ended", "try again"};
  return answer_;
}

void ProbeGuard::remove(std::size_t number) {
  if (!ended_)
    ended_ = !send_message(socket_.get(), ScoutWriter().put(Message::kRemove).put(std::uint64_t{number}).bytes(), {});
}

// Whoever was killed before cannot answer.
void ProbeGuard::end() {
  if (!socket_) return;
  answered_ = false;
  if (!ended_)
    ended_ = !send_message(socket_.get(), ScoutWriter().put(Message::kEnd).put(std::uint64_t{0}).bytes(), {});
  while (!answered_ && !ended_ && is_readable(socket_.get(), kEndMs)) receive(true);
  process_.reset();
  socket_.reset();
}

std::vector<ProbeGuard::Removed> ProbeGuard::take_removed() {
  while (receive(false)) {
  }
  return std::exchange(removed_, {});
}

}  // namespace uscope::tracer
